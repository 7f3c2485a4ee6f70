// A mapping grows, moves, moves to a chosen place, shrinks; its contents go along.   mremap_move [--checkpoints N]
#include "calls.h"

#define PAGE 4096
#define PAGES 8

static void fill(char *start, size_t pages) {
    for (size_t i = 0; i < pages; i++) call_store(start + i * PAGE, 0x1000 + i);
}

static void say(const char *name, char *start, size_t pages) {
    truth_checkpoint(name);
    for (size_t i = 0; i < pages; i += 3) truth_value(name, start + i * PAGE, 8);
}

int main(int argc, char **argv) {
    truth_args(argc, argv);
    truth_begin();
    // The fence makes sure that growing in place is impossible.
    char *room = call_anonymous(64 * PAGE);
    char *start = room;
    call_mprotect(room + PAGES * PAGE, PAGE, PROT_NONE);
    fill(start, PAGES);
    say("before", start, PAGES);

    char *moved = call_mremap(start, PAGES * PAGE, 2 * PAGES * PAGE, MREMAP_MAYMOVE, NULL);
    if (moved == MAP_FAILED || moved == start) truth_fail("mremap");
    say("moved", moved, PAGES);

    char *target = room + 32 * PAGE;
    char *placed = call_mremap(moved, 2 * PAGES * PAGE, 2 * PAGES * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, target);
    if (placed != target) truth_fail("mremap to a chosen place");
    call_store(placed + 9 * PAGE, 0x77);
    say("placed", placed, PAGES + 2);

    call_mremap(placed, 2 * PAGES * PAGE, PAGES / 2 * PAGE, 0, NULL);
    call_mremap(room + PAGE * PAGES / 2, PAGE, 2 * PAGE, 0, NULL);
    say("shrunk", placed, PAGES / 2);

    char *copy = call_mremap(placed, PAGES / 2 * PAGE, PAGES / 2 * PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
    if (copy == MAP_FAILED) copy = placed;
    say("left mapped but empty", copy, PAGES / 2);
    return truth_end();
}
