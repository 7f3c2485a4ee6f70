// The bytes of an EVENTS chunk: decoding, what the events do to a world, and what is made of that world.
#include <stdlib.h>

#include "codec.h"
#include "summary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
    if (!holds) abort();
}

// Whatever was decoded can be written, and what that decodes to is written the same.
static void write_again(const struct vmv_event *event, struct vmv_arena *arena) {
    struct vmv_codec first = {0}, second = {0}, reading = {0};
    struct vmv_out once = {0}, twice = {0};
    struct vmv_event copy;
    vmv_event_encode(&first, &once, event);
    struct vmv_in in = {.data = once.data, .length = once.length};
    must(event->type == VMV_EV_NONE || vmv_event_decode(&reading, &in, arena, &copy));
    if (event->type != VMV_EV_NONE) vmv_event_encode(&second, &twice, &copy);
    must(once.length == twice.length);
    vmv_out_free(&once);
    vmv_out_free(&twice);
}

static void check_space(const struct vmv_space *space) {
    uint64_t bytes = 0, resident = 0, addr = 0;
    for (size_t i = 0; i < space->map_count; i++) {
        must(space->maps[i].start < space->maps[i].end);
        must(!i || space->maps[i - 1].end <= space->maps[i].start);
        must(!i || !vmv_mapping_continues(&space->maps[i - 1], &space->maps[i]));
        must(vmv_mapping_kind(space, &space->maps[i]) < VMV_KIND_COUNT);
        bytes += space->maps[i].end - space->maps[i].start;
    }
    must(bytes == space->virtual_bytes);
    if (vmv_space_count(space, 0, UINT64_MAX).known > 1 << 16) return; // too many to walk each time
    for (const struct vmv_page *page; (page = vmv_space_page_next(space, &addr, UINT64_MAX)); addr += space->page_size)
        resident += page->state == VMV_PAGE_RESIDENT;
    must(resident == space->resident_pages);
}

static void write_state(const struct vmv_world *world) {
    struct vmv_out out = {0};
    vmv_world_encode(&out, world);
    struct vmv_in in = {.data = out.data, .length = out.length};
    struct vmv_world *again = vmv_world_decode(&in, (size_t)1 << 30);
    must(again && again->space_count == world->space_count && vmv_in_left(&in) == 0);
    vmv_world_destroy(again);
    vmv_out_free(&out);
}

static void write_summary(struct vmv_summary_builder *builder) {
    struct vmv_out out = {0};
    struct vmv_arena arena = {0};
    struct vmv_summary summary;
    vmv_summary_builder_flush(builder, &out);
    struct vmv_in in = {.data = out.data, .length = out.length};
    must(vmv_summary_decode(&in, &arena, &summary));
    vmv_arena_free(&arena);
    vmv_out_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct vmv_in in = {.data = data, .length = size};
    struct vmv_codec codec = {0};
    struct vmv_arena arena = {0};
    struct vmv_event event;
    struct vmv_world *world = vmv_world_create(4096);
    struct vmv_summary_builder *builder = vmv_summary_builder_create();
    vmv_world_limit_pages(world, 4 << 20);
    while (vmv_event_decode(&codec, &in, &arena, &event)) {
        write_again(&event, &arena);
        if (event.t < world->t) event.t = world->t; // as the writer sees to it
        vmv_summary_builder_before(builder, world, &event);
        vmv_world_apply(world, &event);
        vmv_summary_builder_add(builder, world, &event);
    }
    for (size_t i = 0; i < world->space_count; i++) check_space(world->spaces[i]);
    write_state(world);
    write_summary(builder);
    vmv_summary_builder_destroy(builder);
    vmv_world_destroy(world);
    vmv_arena_free(&arena);
    return 0;
}
