// The bytes of a STATE chunk; and the same taken for a SUMMARY, a META and an END.
#include <stdlib.h>

#include "codec.h"
#include "meta.h"
#include "summary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
    if (!holds) abort();
}

static void try_state(const uint8_t *data, size_t size) {
    const size_t limit = 16 << 20;
    struct vmv_in in = {.data = data, .length = size};
    struct vmv_world *world = vmv_world_decode(&in, limit);
    if (!world) return;
    must(vmv_world_memory(world) <= limit);
    struct vmv_out once = {0}, twice = {0};
    vmv_world_encode(&once, world);
    in = (struct vmv_in){.data = once.data, .length = once.length};
    struct vmv_world *again = vmv_world_decode(&in, limit * 4);
    must(again != NULL);
    vmv_world_encode(&twice, again);
    must(once.length == twice.length && !__builtin_memcmp(once.data, twice.data, once.length));
    vmv_out_free(&once);
    vmv_out_free(&twice);
    vmv_world_destroy(again);
    vmv_world_destroy(world);
}

static void try_others(const uint8_t *data, size_t size) {
    struct vmv_arena arena = {0};
    struct vmv_summary summary;
    struct vmv_meta meta;
    struct vmv_end end;
    struct vmv_in in = {.data = data, .length = size};
    vmv_summary_decode(&in, &arena, &summary);
    in = (struct vmv_in){.data = data, .length = size};
    vmv_meta_decode(&in, &arena, &meta);
    in = (struct vmv_in){.data = data, .length = size};
    vmv_end_decode(&in, &end);
    must(arena.total < 400 * size + (1 << 20));
    vmv_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    try_state(data, size);
    try_others(data, size);
    return 0;
}
