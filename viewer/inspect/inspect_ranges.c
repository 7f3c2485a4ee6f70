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
    if (place[0] != '0' || place[1] != 'x') return false;
    size_t digits = strspn(place + 2, "0123456789abcdefABCDEF");
    return digits == 0 || (place[2 + digits] != '\0' && place[2 + digits] != '+');
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
                          "not an address; write 0x and hexadecimal digits, +N for an offset and ,LEN for a length");
    }
    if (!decode_place(in->decode, space, place, &range->addr, &size)) {
        return range_fail(
            in, status, INSPECT_ABSENT, text,
            "no such place at this moment; write 0xADDR, NAME, map:NAME, sym:NAME or one of them with +N, "
            "and ,LEN for a length; vmvis-inspect maps lists mappings, sections and symbol what is in them");
    }
    range->whole = wanted == 0 && size != 0;
    range->length = wanted != 0 ? wanted : size != 0 ? size : 8;
    if (range->length - 1 > UINT64_MAX - range->addr - 1) range->length = UINT64_MAX - range->addr;
    if (range->length == 0) range->length = 1;
    range->text = vmv_arena_strdup(arena, text, strlen(text));
    return true;
}

static struct inspect_range *range_room(struct inspect_ranges *ranges) {
    if (ranges->count == ranges->room) {
        ranges->room = ranges->room == 0 ? 16 : ranges->room * 2;
        ranges->items = realloc(ranges->items, ranges->room * sizeof *ranges->items);
        if (ranges->items == NULL) abort();
    }
    return &ranges->items[ranges->count];
}

static bool range_add(struct inspect *in, uint32_t space, const char *text, struct inspect_ranges *ranges,
                      int *status) {
    if (!range_parse(in, space, text, range_room(ranges), &ranges->arena, status)) return false;
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

// The next mapping of the name from index *i on.
static const struct vmv_mapping *next_of_name(const struct vmv_space *space, size_t *i, const char *name) {
    while (*i < space->map_count) {
        const struct vmv_mapping *mapping = &space->maps[(*i)++];
        if (mapping->name == name || strcmp(mapping->name, name) == 0) return mapping;
    }
    return NULL;
}

// The mapping that a range without a length named.
static const struct vmv_mapping *range_named(const struct vmv_space *space, const struct inspect_range *range) {
    const struct vmv_mapping *mapping = range->whole && space != NULL ? vmv_space_find(space, range->addr) : NULL;
    return mapping != NULL && mapping->name != NULL && mapping->name[0] != '\0' ? mapping : NULL;
}

size_t inspect_range_mappings(const struct vmv_space *space, const struct inspect_range *range) {
    const struct vmv_mapping *mapping = range_named(space, range);
    size_t count = 0, i = 0;
    if (mapping == NULL) return 1;
    while (next_of_name(space, &i, mapping->name) != NULL) count++;
    return count;
}

void inspect_ranges_widen(const struct vmv_space *space, struct inspect_ranges *ranges) {
    size_t given = ranges->count;
    for (size_t r = 0; r < given; r++) {
        const struct vmv_mapping *first = range_named(space, &ranges->items[r]), *mapping;
        size_t at = r, i = first == NULL ? 0 : (size_t)(first - space->maps) + 1;
        while (first != NULL && (mapping = next_of_name(space, &i, first->name)) != NULL) {
            struct inspect_range *last = &ranges->items[at];
            if (mapping->start == last->addr + last->length) {
                last->length += mapping->end - mapping->start;
                continue;
            }
            struct inspect_range *more = range_room(ranges);
            *more = ranges->items[r];
            more->addr = mapping->start;
            more->length = mapping->end - mapping->start;
            at = ranges->count++;
        }
    }
}

void inspect_ranges_free(struct inspect_ranges *ranges) {
    free(ranges->items);
    vmv_arena_free(&ranges->arena);
    *ranges = (struct inspect_ranges){0};
}
