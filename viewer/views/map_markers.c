/* Where threads are: their program counter, stack pointer and frame pointer, as far as they were captured. */
#include "map.h"

#include <stdlib.h>

static int by_address(const void *left, const void *right) {
    const struct map_marker *a = left, *b = right;
    if (a->addr != b->addr) return a->addr < b->addr ? -1 : 1;
    return a->what - b->what;
}

static void add(struct map_frame *frame, uint64_t addr, int what, const struct vmv_thread *thread) {
    frame->marker[frame->marker_count++] = (struct map_marker){.addr = addr, .what = what, .thread = thread};
}

void map_markers_find(struct map_frame *frame) {
    const struct vmv_world *world = frame->app->world;
    frame->marker = ui_draw_alloc(frame->draw, (3 * world->thread_count + 1) * sizeof *frame->marker);
    for (size_t i = 0; frame->marker && i < world->thread_count; i++) {
        const struct vmv_thread *thread = &world->threads[i];
        if (thread->space != frame->app->space_id || thread->state == VMV_THREAD_GONE || !thread->captured) continue;
        add(frame, thread->pc, MAP_MARKER_PC, thread);
        if (thread->sp) add(frame, thread->sp, MAP_MARKER_SP, thread);
        /* Compilers use the frame pointer for other values too: it is one only where it lies in the stack above SP. */
        const struct app_mapping *stack = thread->sp ? app_mapping_at(frame->app, thread->sp) : NULL;
        if (stack && thread->fp > thread->sp && thread->fp < stack->map->end)
            add(frame, thread->fp, MAP_MARKER_FP, thread);
    }
    if (frame->marker_count) qsort(frame->marker, frame->marker_count, sizeof *frame->marker, by_address);
}

size_t map_markers_lower(const struct map_frame *frame, uint64_t addr) {
    size_t low = 0, high = frame->marker_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (frame->marker[middle].addr < addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const char *map_marker_word(const struct map_marker *marker) {
    return marker->what == MAP_MARKER_PC ? "pc" : marker->what == MAP_MARKER_SP ? "sp" : "fp";
}

/* On pages of any colour the sign needs a dark ground: `over` draws one. */
void map_marker_sign(struct ui_draw *draw, int x, int y, const struct map_marker *marker) {
    struct ui_rect sign = ui_rect(x, y, 6, 9);
    if (marker->what == MAP_MARKER_FP) {
        ui_draw_frame(draw, ui_rect(x, y + 1, 6, 6), UI_WHITE);
    } else if (marker->what == MAP_MARKER_SP) {
        ui_draw_triangle(draw, ui_rect(x, y, 6, 9), UI_RIGHT, UI_GROUND);
        ui_draw_triangle_hollow(draw, sign, UI_RIGHT, UI_WHITE);
    } else {
        ui_draw_triangle(draw, sign, UI_RIGHT, UI_WHITE);
    }
}
