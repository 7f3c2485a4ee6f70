#include "world_private.h"

#include <stdlib.h>
#include <string.h>

static struct vmv_place *slot_of(const struct vmv_places *places, uint64_t number) {
    size_t at = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (places->room - 1);
    while (places->slots[at].number && places->slots[at].number != number) at = (at + 1) & (places->room - 1);
    return &places->slots[at];
}

static void grow(struct vmv_places *places) {
    struct vmv_places old = *places;
    places->room = old.room ? old.room * 2 : 32;
    places->slots = calloc(places->room, sizeof *places->slots);
    if (!places->slots) abort();
    for (size_t i = 0; i < old.room; i++)
        if (old.slots[i].number) *slot_of(places, old.slots[i].number) = old.slots[i];
    free(old.slots);
}

// Numbers are kept one higher: 0 marks a free slot.
void vmv_places_put(struct vmv_places *places, uint32_t number, size_t place) {
    if (places->count * 2 >= places->room) grow(places);
    struct vmv_place *slot = slot_of(places, (uint64_t)number + 1);
    if (!slot->number) places->count++;
    *slot = (struct vmv_place){(uint64_t)number + 1, place};
}

size_t vmv_places_get(const struct vmv_places *places, uint32_t number) {
    if (!places->room) return SIZE_MAX;
    const struct vmv_place *slot = slot_of(places, (uint64_t)number + 1);
    return slot->number ? slot->place : SIZE_MAX;
}

void vmv_places_clear(struct vmv_places *places) {
    if (places->count) memset(places->slots, 0, places->room * sizeof *places->slots);
    places->count = 0;
}

void vmv_places_copy(struct vmv_places *to, const struct vmv_places *from) {
    for (size_t i = 0; i < from->room; i++)
        if (from->slots[i].number) vmv_places_put(to, (uint32_t)(from->slots[i].number - 1), from->slots[i].place);
}

void vmv_places_free(struct vmv_places *places) {
    free(places->slots);
    *places = (struct vmv_places){0};
}
