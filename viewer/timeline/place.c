// Places by name: addresses and mappings of the world of the moment, each with an offset if wanted.
#include "timeline_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool parse_address(const char *text, uint64_t *addr) {
    if (text[0] != '0' || (text[1] != 'x' && text[1] != 'X') || !text[2]) return false;
    uint64_t value = 0;
    for (const char *at = text + 2; *at; at++) {
        int digit = *at >= '0' && *at <= '9'   ? *at - '0'
                    : *at >= 'a' && *at <= 'f' ? *at - 'a' + 10
                    : *at >= 'A' && *at <= 'F' ? *at - 'A' + 10
                                               : -1;
        if (digit < 0 || value >> 60) return false;
        value = value << 4 | (uint64_t)digit;
    }
    *addr = value;
    return true;
}

// "name" also means "name (deleted)".
static bool same_name(const char *name, const char *wanted) {
    size_t length = strlen(wanted);
    return !strncmp(name, wanted, length) && (!name[length] || !strcmp(name + length, " (deleted)"));
}

static const char *last_part(const char *name) {
    const char *slash = name[0] == '/' ? strrchr(name, '/') : NULL;
    return slash ? slash + 1 : name;
}

static bool is_named(const struct vmv_mapping *map, const char *name, bool whole) {
    return same_name(whole ? map->name : last_part(map->name), name);
}

// The first mapping of that name. NULL if there is none, or if mappings of different files bear it.
static const struct vmv_mapping *find_named(const struct vmv_space *space, const char *name, bool whole) {
    const struct vmv_mapping *found = NULL;
    for (size_t i = 0; i < space->map_count; i++) {
        const struct vmv_mapping *map = &space->maps[i];
        if (!map->name || !map->name[0] || !is_named(map, name, whole)) continue;
        if (found && strcmp(found->name, map->name) != 0) return NULL;
        if (!found) found = map;
    }
    return found;
}

// "+N" at the end of `text`, decimal or 0x…: where it begins. NULL if there is none.
static const char *find_offset(const char *text, uint64_t *offset) {
    const char *plus = strrchr(text, '+');
    if (!plus || plus == text || plus[1] < '0' || plus[1] > '9') return NULL;
    if (parse_address(plus + 1, offset)) return plus;
    char *end;
    errno = 0;
    *offset = strtoull(plus + 1, &end, 10);
    return errno || *end ? NULL : plus;
}

static bool find_place(const struct vmv_space *space, const char *text, uint64_t *addr, uint64_t *length) {
    *length = 0;
    if (parse_address(text, addr)) return true;
    if (!strncmp(text, "sym:", 4)) return false; // symbols are read from objects by the layer above
    const char *name = !strncmp(text, "map:", 4) ? text + 4 : text;
    if (!space || !*name) return false;
    const struct vmv_mapping *map = find_named(space, name, true);
    if (!map) map = find_named(space, name, false);
    if (!map) return false;
    *addr = map->start;
    *length = map->end - map->start;
    return true;
}

bool timeline_place(struct timeline *tl, uint32_t space_id, const char *text, uint64_t *addr, uint64_t *length) {
    const struct vmv_space *space = tl->at.world ? vmv_world_space(tl->at.world, space_id) : NULL;
    if (find_place(space, text, addr, length)) return true; // a name may hold a plus itself
    uint64_t offset;
    const char *plus = find_offset(text, &offset);
    char *base = plus ? strndup(text, (size_t)(plus - text)) : NULL;
    bool found = base && find_place(space, base, addr, length) && offset <= UINT64_MAX - *addr;
    free(base);
    *length = 0; // a place inside of a thing has no size of its own
    if (found) *addr += offset;
    return found;
}
