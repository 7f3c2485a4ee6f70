#include "exclude.h"

#include "space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_range(const char *text, struct exclude_item *item) {
    char *end;
    item->start = strtoull(text, &end, 16);
    if (*end == '-') {
        item->end = strtoull(end + 1, &end, 16);
    } else if (*end == ',') {
        item->end = item->start + strtoull(end + 1, &end, 0);
    } else {
        return false;
    }
    return *end == 0 && item->end > item->start;
}

bool exclude_parse(struct exclude *exclude, const char *text) {
    if (exclude->count == EXCLUDE_MAX || !*text) return false;
    struct exclude_item item = {0};
    bool number = strncmp(text, "0x", 2) == 0;
    if (number && !parse_range(text, &item)) return false;
    if (!number) item.name = text;
    exclude->items[exclude->count++] = item;
    return true;
}

bool exclude_names(const struct exclude *exclude, const struct vmv_mapping *mapping) {
    if (!mapping || !mapping->name || !*mapping->name) return false;
    const char *last = strrchr(mapping->name, '/');
    for (unsigned i = 0; i < exclude->count; i++) {
        const char *name = exclude->items[i].name;
        if (name && (strcmp(name, mapping->name) == 0 || (last && strcmp(name, last + 1) == 0))) return true;
    }
    return false;
}

bool exclude_covers(const struct exclude *exclude, uint64_t addr, uint64_t page, uint64_t *end) {
    for (unsigned i = 0; i < exclude->count; i++) {
        const struct exclude_item *item = &exclude->items[i];
        if (item->name) continue;
        uint64_t first = item->start & ~(page - 1), behind = (item->end + page - 1) & ~(page - 1);
        if (addr >= first && addr < behind) {
            if (behind < *end) *end = behind;
            return true;
        }
        if (addr < first && first < *end) *end = first;
    }
    return false;
}

bool exclude_touches_stacks(const struct exclude *exclude) {
    for (unsigned i = 0; i < exclude->count; i++)
        if (!exclude->items[i].name || strcmp(exclude->items[i].name, "[stack]") == 0) return true;
    return false;
}

void exclude_text(const struct exclude *exclude, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (unsigned i = 0; i < exclude->count && used < size; i++) {
        const struct exclude_item *item = &exclude->items[i];
        const char *between = i ? ", " : "";
        int length = item->name ? snprintf(text + used, size - used, "%s%s", between, item->name)
                                : snprintf(text + used, size - used, "%s0x%lx-0x%lx", between, item->start, item->end);
        used += (size_t)length;
    }
}
