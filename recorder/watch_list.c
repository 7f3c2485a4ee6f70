#include "watch_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_number(const char **at, uint64_t *value) {
    char *end;
    errno = 0;
    *value = strtoull(*at, &end, 0);
    if (end == *at || errno || **at == '-') return false;
    *at = end;
    return true;
}

const char *watch_parse(struct watch_list *list, const char *text) {
    if (list->count == WATCH_MAX) return "at most four can be watched";
    struct watch_item *item = &list->items[list->count];
    const char *at = strncmp(text, "sym:", 4) == 0 ? text + 4 : text;
    *item = (struct watch_item){.text = text};
    if (at == text && strncmp(at, "0x", 2) == 0) {
        if (!parse_number(&at, &item->offset)) return "no such address";
    } else {
        size_t length = strcspn(at, "+,");
        if (length == 0 || length >= sizeof item->symbol) return "no name";
        memcpy(item->symbol, at, length);
        at += length;
        if (*at == '+' && (at++, !parse_number(&at, &item->offset))) return "a number belongs after the +";
    }
    if (*at == ',' && (at++, !parse_number(&at, &item->length))) return "a length belongs after the comma";
    if (*at) return "no such form";
    if (item->length > WATCH_BYTES) return "a debug register watches at most 8 bytes";
    if (!item->symbol[0] && !item->length) item->length = WATCH_BYTES;
    list->count++;
    return NULL;
}

void watch_text(const struct watch_list *list, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (unsigned i = 0; i < list->count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "", list->items[i].text);
}
