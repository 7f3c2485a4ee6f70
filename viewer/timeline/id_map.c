// Numbers (spaces, threads) to places in an array.
#include "timeline_internal.h"

#include <stdlib.h>

static size_t slot_of(const struct id_map *map, uint32_t id) {
    size_t at = (size_t)(id * UINT32_C(2654435761)) & (map->room - 1);
    while (map->slots[at].place && map->slots[at].id != id) at = (at + 1) & (map->room - 1);
    return at;
}

static void grow(struct id_map *map) {
    struct id_map old = *map;
    map->room = old.room ? old.room * 2 : 16;
    map->slots = calloc(map->room, sizeof *map->slots);
    if (!map->slots) abort();
    for (size_t i = 0; i < old.room; i++)
        if (old.slots[i].place) map->slots[slot_of(map, old.slots[i].id)] = old.slots[i];
    free(old.slots);
}

size_t id_map_get(const struct id_map *map, uint32_t id) {
    size_t place = map->room ? map->slots[slot_of(map, id)].place : 0;
    return place ? place - 1 : SIZE_MAX;
}

void id_map_put(struct id_map *map, uint32_t id, size_t place) {
    if ((map->count + 1) * 2 > map->room) grow(map);
    size_t at = slot_of(map, id);
    map->count += !map->slots[at].place;
    map->slots[at].id = id;
    map->slots[at].place = place + 1;
}

void id_map_free(struct id_map *map) {
    free(map->slots);
    *map = (struct id_map){0};
}
