#include "string_store.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "arena.h"

struct vmv_string_store {
    unsigned references;
    struct vmv_arena arena;
    const char **slots; // open addressing; NULL: free
    size_t room, count; // room is a power of two
};

struct vmv_string_store *vmv_strings_create(void) {
    struct vmv_string_store *store = calloc(1, sizeof *store);
    if (!store) abort();
    store->references = 1;
    return store;
}

struct vmv_string_store *vmv_strings_hold(struct vmv_string_store *store) {
    store->references++;
    return store;
}

void vmv_strings_release(struct vmv_string_store *store) {
    if (!store || --store->references) return;
    vmv_arena_free(&store->arena);
    free(store->slots);
    free(store);
}

static size_t slot_of(const struct vmv_string_store *store, const char *text, size_t length) {
    size_t slot = (size_t)XXH3_64bits(text, length) & (store->room - 1);
    for (; store->slots[slot]; slot = (slot + 1) & (store->room - 1)) {
        const char *known = store->slots[slot];
        if (!strncmp(known, text, length) && !known[length]) break;
    }
    return slot;
}

static void grow(struct vmv_string_store *store) {
    const char **old = store->slots;
    size_t old_room = store->room;
    store->room = old_room ? old_room * 2 : 32;
    store->slots = calloc(store->room, sizeof *store->slots);
    if (!store->slots) abort();
    for (size_t i = 0; i < old_room; i++)
        if (old[i]) store->slots[slot_of(store, old[i], strlen(old[i]))] = old[i];
    free(old);
}

const char *vmv_strings_intern_bytes(struct vmv_string_store *store, const char *text, size_t length) {
    length = strnlen(text ? text : "", length); // a text ends at its first NUL, whoever wrote it
    if (!length) return "";
    if (store->count * 2 >= store->room) grow(store);
    size_t slot = slot_of(store, text, length);
    if (!store->slots[slot]) {
        store->slots[slot] = vmv_arena_strdup(&store->arena, text, length);
        store->count++;
    }
    return store->slots[slot];
}

const char *vmv_strings_intern(struct vmv_string_store *store, const char *text) {
    return vmv_strings_intern_bytes(store, text, text ? strlen(text) : 0);
}

size_t vmv_strings_memory(const struct vmv_string_store *store) {
    return sizeof *store + store->arena.total + store->room * sizeof *store->slots;
}
