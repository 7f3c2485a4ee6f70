// Fills the pages of an area in random order with pseudo-random words, which nothing can compress.
// random_fill [--mb N] [--passes N] [--seconds N] [--seed N] [--checkpoints N]
//
// Every pass writes every page once. --seconds spreads the work evenly over so much time.
#include "calls.h"

#define PAGE 4096L
#define WORDS (PAGE / 8)
#define BATCH 64 // pages between two looks at the clock

static uint64_t state;

static uint64_t next_random(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void shuffle(uint32_t *order, size_t count) {
    for (size_t i = 0; i < count; i++) order[i] = (uint32_t)i;
    for (size_t i = count; i-- > 1;) {
        size_t other = next_random() % (i + 1);
        uint32_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

static void fill(char *page) {
    for (size_t i = 0; i < WORDS; i++) ((uint64_t *)(void *)page)[i] = next_random();
}

static void wait_until(int64_t due) {
    int64_t now = truth_now();
    if (due > now) truth_sleep(due - now);
}

int main(int argc, char **argv) {
    truth_args(argc, argv);
    size_t pages = (size_t)truth_number("--mb", 16) * (1 << 20) / PAGE;
    size_t passes = (size_t)truth_number("--passes", 1);
    int64_t duration = truth_number("--seconds", 0) * 1000000000;
    state = (uint64_t)truth_number("--seed", 1) * 0x9e3779b97f4a7c15u + 1;
    truth_begin();
    char *area = call_anonymous(pages * PAGE);
    uint32_t *order = call_anonymous(pages * sizeof *order);
    shuffle(order, pages);
    int64_t start = truth_now();
    size_t total = pages * passes;
    for (size_t done = 0; done < total; done++) {
        char *page = area + order[done % pages] * PAGE;
        fill(page);
        if (done % BATCH == 0) wait_until(start + (int64_t)((double)duration * (double)done / (double)total));
        if (!truth_part_done(done, total, 5)) continue;
        truth_checkpoint("filling");
        truth_value("page", page, 32);
    }
    truth_line("\"what\":\"filled\",\"addr\":\"%p\",\"pages\":%zu,\"passes\":%zu,\"t\":%" PRId64, (void *)area, pages,
               passes, truth_now());
    return truth_end();
}
