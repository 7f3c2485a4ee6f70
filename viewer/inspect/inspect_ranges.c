// RANGE arguments: PLACE or PLACE,LEN; "-" reads them from standard input, one a line.
#include "inspect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool range_number(const char *text, uint64_t *number) {
    if (text[0] < '0' || text[0] > '9') return false;
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 0);
    unsigned shift = *end == 'K' || *end == 'k' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : *end == 'T' ? 40 : 0;
    if (shift != 0) end++;
    if (errno != 0 || *end != '\0' || *number > UINT64_MAX >> shift) return false;
    *number <<= shift;
    return true;
}

static bool range_malformed_address(const char *place) {
    return place[0] == '0' && place[1] == 'x' &&
           (place[2] == '\0' || place[2 + strspn(place + 2, "0123456789abcdefABCDEF")] != '\0');
}

static bool range_fail(struct inspect *in, int *status, int value, const char *text, const char *why) {
    *status = inspect_fail(in, value, "%s: %.200s: %s", in->options.trace, text, why);
    return false;
}

static bool range_parse(struct inspect *in, uint32_t space, const char *text, struct inspect_range *range,
                        struct vmv_arena *arena, int *status) {
    const char *comma = strrchr(text, ',');
    uint64_t wanted = 0, size = 0;
    size_t length = strlen(text);
    if (comma != NULL && range_number(comma + 1, &wanted)) length = (size_t)(comma - text);
    if (text[length] == ',' && wanted == 0)
        return range_fail(in, status, INSPECT_USAGE, text, "a length of 0 holds nothing");
    const char *place = vmv_arena_strdup(arena, text, length);
    if (range_malformed_address(place)) {
        return range_fail(in, status, INSPECT_USAGE, text,
                          "not an address; write 0x and hexadecimal digits, and ,LEN for a length");
    }
    if (strncmp(place, "sym:", 4) == 0) {
        return range_fail(in, status, INSPECT_ABSENT, text, "this version knows no symbols; write 0xADDR or map:NAME");
    }
    if (!timeline_place(in->tl, space, place, &range->addr, &size)) {
        return range_fail(in, status, INSPECT_ABSENT, text,
                          "no such place at this moment; vmvis-inspect maps lists the mappings");
    }
    range->length = wanted != 0 ? wanted : size != 0 ? size : 8;
    if (range->length - 1 > UINT64_MAX - range->addr - 1) range->length = UINT64_MAX - range->addr;
    if (range->length == 0) range->length = 1;
    range->text = vmv_arena_strdup(arena, text, strlen(text));
    return true;
}

static bool range_add(struct inspect *in, uint32_t space, const char *text, struct inspect_ranges *ranges,
                      int *status) {
    if (ranges->count == ranges->room) {
        ranges->room = ranges->room == 0 ? 16 : ranges->room * 2;
        ranges->items = realloc(ranges->items, ranges->room * sizeof *ranges->items);
        if (ranges->items == NULL) abort();
    }
    if (!range_parse(in, space, text, &ranges->items[ranges->count], &ranges->arena, status)) return false;
    ranges->count++;
    return true;
}

static bool range_add_input(struct inspect *in, uint32_t space, struct inspect_ranges *ranges, int *status) {
    if (strcmp(in->options.trace, "-") == 0) {
        return range_fail(in, status, INSPECT_USAGE, "-",
                          "standard input is the trace already; write the ranges as arguments");
    }
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    bool good = true;
    while (good && (length = getline(&line, &room, stdin)) >= 0) {
        while (length > 0 && strchr(" \t\r\n", line[length - 1]) != NULL) line[--length] = '\0';
        const char *text = line + strspn(line, " \t");
        if (*text != '\0') good = range_add(in, space, text, ranges, status);
    }
    free(line);
    return good;
}

bool inspect_ranges_parse(struct inspect *in, uint32_t space, struct inspect_ranges *ranges, int *status) {
    *ranges = (struct inspect_ranges){0};
    for (size_t i = 0; i < in->options.place_count; i++) {
        const char *text = in->options.places[i];
        bool good = strcmp(text, "-") == 0 ? range_add_input(in, space, ranges, status)
                                           : range_add(in, space, text, ranges, status);
        if (!good) {
            inspect_ranges_free(ranges);
            return false;
        }
    }
    return true;
}

void inspect_ranges_free(struct inspect_ranges *ranges) {
    free(ranges->items);
    vmv_arena_free(&ranges->arena);
    *ranges = (struct inspect_ranges){0};
}

bool inspect_ranges_meet(const struct inspect_ranges *ranges, uint64_t start, uint64_t end) {
    for (size_t i = 0; i < ranges->count; i++) {
        const struct inspect_range *range = &ranges->items[i];
        if (range->addr < end && start < range->addr + range->length) return true;
    }
    return ranges->count == 0;
}
