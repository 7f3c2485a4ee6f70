// Mappings come and go: whole, in pieces, over each other, and calls that fail.   mmap_churn [--rounds N]
// [--checkpoints N]
#include "calls.h"

#define PAGE 4096
#define KEPT 8

static char *kept[KEPT]; // mappings that live for eight rounds
static size_t kept_size[KEPT];

static void fill(char *start, size_t size, uint64_t value) {
    for (size_t offset = 0; offset < size; offset += PAGE) *(volatile uint64_t *)(start + offset) = value + offset;
}

// Punches the middle page out, then maps a read-only one into the hole.
static void split(char *start) {
    call_munmap(start + PAGE, PAGE);
    call_mmap(start + PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

// Every one of these must leave the address space as it was.
static void fail(char *used) {
    call_mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    call_mmap(used, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    call_mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, -1, 0);
    call_munmap(used + 1, PAGE);
    call_munmap(used, 0);
}

static void churn(size_t round) {
    size_t slot = round % KEPT;
    if (kept[slot] != NULL) call_munmap(kept[slot], kept_size[slot]);
    kept_size[slot] = (3 + round % 13) * PAGE;
    kept[slot] = call_anonymous(kept_size[slot]);
    fill(kept[slot], kept_size[slot], round << 32);
    if (round % 3 == 0) split(kept[slot]);
}

int main(int argc, char **argv) {
    truth_args(argc, argv);
    size_t rounds = (size_t)truth_number("--rounds", 60);
    truth_begin();
    for (size_t round = 0; round < rounds; round++) {
        churn(round);
        if (!truth_part_done(round, rounds, 5)) continue;
        truth_checkpoint("between rounds");
        truth_value("kept", kept[round % KEPT], 8);
        fail(kept[round % KEPT]);
    }
    for (size_t slot = 0; slot < KEPT; slot++)
        if (kept[slot] != NULL) call_munmap(kept[slot], kept_size[slot]);
    return truth_end();
}
