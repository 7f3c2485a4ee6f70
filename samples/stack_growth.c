// The main stack grows page by page under a recursion.   stack_growth [--depth N] [--checkpoints N]
#include "calls.h"

#define PAGE 4096
#define MAX_DEPTH 1500

static struct level {
    char *address;
    int64_t before, after; // ns
    uint64_t value;
} levels[MAX_DEPTH];
static size_t depth;

// Lines are written on the way out: formatting one needs stack below the frame, which would touch the next level's
// page.
static __attribute__((noinline)) uint64_t descend(size_t level) {
    volatile char frame[PAGE];
    struct level *mine = &levels[level];
    mine->address = (char *)(uintptr_t)frame;
    mine->before = truth_now();
    frame[0] = (char)level;
    mine->after = truth_now();
    mine->value = (unsigned char)level;
    if (truth_part_done(level, depth, 5)) {
        truth_checkpoint("deeper");
        truth_value("frame", frame, 1);
    }
    uint64_t below = level + 1 < depth ? descend(level + 1) : 0;
    return below + (unsigned char)frame[0];
}

int main(int argc, char **argv) {
    truth_args(argc, argv);
    depth = (size_t)truth_number("--depth", 300);
    if (depth < 5 || depth > MAX_DEPTH) depth = MAX_DEPTH;
    truth_begin();
    memset(levels, 0, sizeof levels);
    uint64_t sum = descend(0);
    for (size_t i = 0; i < depth; i++)
        truth_line("\"what\":\"stack_touch\",\"level\":%zu,\"addr\":\"%p\",\"tid\":%d,\"value\":%" PRIu64
                   ",\"before\":%" PRId64 ",\"after\":%" PRId64,
                   i, (void *)levels[i].address, gettid(), levels[i].value, levels[i].before, levels[i].after);
    truth_line("\"what\":\"result\",\"sum\":%" PRIu64, sum);
    return truth_end();
}
