// Sends its parent, the recorder, real-time signals with values, and prints what comes back of them: number, code,
// value.
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { APART = 4, AT_ONCE = 5 };

static void take(const sigset_t *set) {
    siginfo_t info;
    struct timespec patience = {10, 0};
    int number = sigtimedwait(set, &info, &patience);
    printf("%d/%d/%d\n", number, info.si_code, info.si_code == SI_QUEUE ? info.si_value.sival_int : 0);
}

int main(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 1);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    for (int i = 0; i < APART; i++) {
        sigqueue(getppid(), i == 3 ? SIGUSR2 : SIGRTMIN + 1, (union sigval){.sival_int = 42 + i});
        take(&set);
    }
    for (int i = 0; i < AT_ONCE; i++) sigqueue(getppid(), SIGRTMIN + 1, (union sigval){.sival_int = 7});
    for (int i = 0; i < AT_ONCE; i++) take(&set);
    return 0;
}
