// Threads with stacks of their own work in rounds on stack and heap memory.   threads [--threads N] [--rounds N]
// [--checkpoints N]
#include "calls.h"
#include <pthread.h>

#define MAX_THREADS 64
#define STACK_WORDS 512
#define HEAP_WORDS 20000

static struct worker {
    pthread_t thread;
    size_t index;
    pid_t tid;
    uint64_t *stack_words;
    uint64_t sum;
} workers[MAX_THREADS];
static pthread_barrier_t start_round, end_round;
static size_t rounds;

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint64_t work(uint64_t *stack_words, uint64_t seed) {
    uint64_t sum = 0;
    uint64_t *heap_words = malloc(HEAP_WORDS * sizeof *heap_words);
    if (heap_words == NULL) truth_fail("malloc");
    for (size_t i = 0; i < HEAP_WORDS; i++) heap_words[i] = next_random(&seed);
    for (size_t i = 0; i < HEAP_WORDS; i++) stack_words[i % STACK_WORDS] += heap_words[i];
    for (size_t i = 0; i < STACK_WORDS; i++) sum ^= stack_words[i] * (i + 1);
    free(heap_words);
    return sum;
}

static void *be_worker(void *argument) {
    struct worker *worker = argument;
    uint64_t stack_words[STACK_WORDS] = {0};
    char name[16];
    snprintf(name, sizeof name, "worker-%zu", worker->index);
    pthread_setname_np(pthread_self(), name);
    worker->tid = gettid();
    worker->stack_words = stack_words;
    truth_line("\"what\":\"thread\",\"index\":%zu,\"tid\":%d,\"name\":\"%s\",\"stack\":\"%p\",\"t\":%" PRId64,
               worker->index, worker->tid, name, (void *)stack_words, truth_now());
    for (size_t round = 0; round < rounds; round++) {
        pthread_barrier_wait(&start_round);
        worker->sum += work(stack_words, 88172645463325252u + worker->index * 1000 + round);
        pthread_barrier_wait(&end_round);
    }
    truth_line("\"what\":\"thread_end\",\"index\":%zu,\"tid\":%d,\"t\":%" PRId64, worker->index, worker->tid,
               truth_now());
    return NULL;
}

static void start(size_t count) {
    pthread_barrier_init(&start_round, NULL, (unsigned)count + 1);
    pthread_barrier_init(&end_round, NULL, (unsigned)count + 1);
    for (size_t i = 0; i < count; i++) {
        workers[i].index = i;
        if (pthread_create(&workers[i].thread, NULL, be_worker, &workers[i]) != 0) truth_fail("pthread_create");
    }
}

static void run(size_t count) {
    for (size_t round = 0; round < rounds; round++) {
        pthread_barrier_wait(&start_round);
        pthread_barrier_wait(&end_round);
        if (!truth_part_done(round, rounds, 4)) continue;
        truth_checkpoint("between rounds"); // every worker sleeps at the barrier
        for (size_t i = 0; i < count; i++) truth_value("stack", workers[i].stack_words, 32);
    }
}

int main(int argc, char **argv) {
    truth_args(argc, argv);
    size_t count = (size_t)truth_number("--threads", 4);
    rounds = (size_t)truth_number("--rounds", 24);
    if (count > MAX_THREADS) count = MAX_THREADS;
    truth_begin();
    start(count);
    run(count);
    for (size_t i = 0; i < count; i++) pthread_join(workers[i].thread, NULL);
    truth_checkpoint("joined");
    for (size_t i = 0; i < count; i++)
        truth_line("\"what\":\"result\",\"index\":%zu,\"sum\":\"0x%" PRIx64 "\"", i, workers[i].sum);
    return truth_end();
}
