// A guard page: the program runs into it, its handler opens it, the program goes on.   mprotect_guard [--checkpoints N]
#include "calls.h"
#include <signal.h>

#define PAGE 4096
#define PAGES 8
#define GUARDS 3

static struct {
    void *address;
    int code;
    int64_t at; // ns
} hits[GUARDS];
static volatile sig_atomic_t hit_count;

// Only notes what it sees: lines are written later, outside the handler.
static void open_guard(int number, siginfo_t *info, void *context) {
    (void)context;
    if (hit_count == GUARDS) _exit(128 + number);
    hits[hit_count].address = info->si_addr;
    hits[hit_count].code = info->si_code;
    hits[hit_count].at = truth_now();
    hit_count++;
    void *page = (void *)((uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1));
    if (mprotect(page, PAGE, PROT_READ | PROT_WRITE) != 0) _exit(9);
}

static void run_into(char *guard, size_t offset) {
    call_mprotect(guard, PAGE, PROT_NONE);
    int before = hit_count;
    call_store(guard + offset, 0xabcd);
    for (int i = before; i < hit_count; i++)
        truth_line("\"what\":\"signal\",\"number\":%d,\"code\":%d,\"addr\":\"%p\",\"tid\":%d,\"t\":%" PRId64, SIGSEGV,
                   hits[i].code, hits[i].address, gettid(), hits[i].at);
}

int main(int argc, char **argv) {
    truth_args(argc, argv);
    truth_begin();
    struct sigaction action = {.sa_sigaction = open_guard, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    char *start = call_anonymous(PAGES * PAGE);
    for (size_t i = 0; i < PAGES; i++) call_store(start + i * PAGE, i);
    truth_checkpoint("open");
    call_mprotect(start + 2 * PAGE, PAGE, PROT_READ);
    truth_checkpoint("one page read-only");
    for (size_t i = 0; i < GUARDS; i++) run_into(start + (3 + i) * PAGE, 8 * i);
    truth_checkpoint("guards opened");
    for (size_t i = 0; i < GUARDS; i++) truth_value("behind the guard", start + (3 + i) * PAGE + 8 * i, 8);
    call_mprotect(start + 1, PAGE, PROT_READ);
    call_munmap(start + 6 * PAGE, PAGE);
    call_mprotect(start + 5 * PAGE, 3 * PAGE, PROT_READ); // stops at the hole, with the first page changed
    truth_checkpoint("stopped at a hole");
    call_mprotect(start, 6 * PAGE, PROT_READ | PROT_EXEC);
    truth_checkpoint("all executable");
    return truth_end();
}
