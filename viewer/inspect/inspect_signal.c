#include "inspect_signal.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

struct shown inspect_signal(int32_t number) {
    struct shown shown;
    const char *name = sigabbrev_np(number);
    if (name != NULL) {
        snprintf(shown.text, sizeof shown.text, "SIG%s", name);
    } else if (number >= SIGRTMIN && number <= SIGRTMAX) {
        snprintf(shown.text, sizeof shown.text, "SIGRTMIN+%" PRId32, number - SIGRTMIN);
    } else {
        snprintf(shown.text, sizeof shown.text, "signal %" PRId32, number);
    }
    return shown;
}

// Codes from 1 on mean something else with each signal; the index is the code.
static const char *code_of_signal(int32_t number, int32_t code) {
    static const char *const ill[] = {NULL,         "ILL_ILLOPC", "ILL_ILLOPN", "ILL_ILLADR", "ILL_ILLTRP",
                                      "ILL_PRVOPC", "ILL_PRVREG", "ILL_COPROC", "ILL_BADSTK", "ILL_BADIADDR"};
    static const char *const fpe[] = {NULL,         "FPE_INTDIV", "FPE_INTOVF", "FPE_FLTDIV", "FPE_FLTOVF",
                                      "FPE_FLTUND", "FPE_FLTRES", "FPE_FLTINV", "FPE_FLTSUB"};
    static const char *const segv[] = {NULL,           "SEGV_MAPERR",  "SEGV_ACCERR",  "SEGV_BNDERR",
                                       "SEGV_PKUERR",  "SEGV_ACCADI",  "SEGV_ADIDERR", "SEGV_ADIPERR",
                                       "SEGV_MTEAERR", "SEGV_MTESERR", "SEGV_CPERR"};
    static const char *const bus[] = {NULL, "BUS_ADRALN", "BUS_ADRERR", "BUS_OBJERR", "BUS_MCEERR_AR", "BUS_MCEERR_AO"};
    static const char *const trap[] = {NULL,          "TRAP_BRKPT", "TRAP_TRACE", "TRAP_BRANCH",
                                       "TRAP_HWBKPT", "TRAP_UNK",   "TRAP_PERF"};
    static const char *const child[] = {NULL,          "CLD_EXITED",  "CLD_KILLED",   "CLD_DUMPED",
                                        "CLD_TRAPPED", "CLD_STOPPED", "CLD_CONTINUED"};
    static const char *const poll[] = {NULL, "POLL_IN", "POLL_OUT", "POLL_MSG", "POLL_ERR", "POLL_PRI", "POLL_HUP"};
    static const char *const sys[] = {NULL, "SYS_SECCOMP", "SYS_USER_DISPATCH"};
#define CODES(number, names)                                                                                           \
    { number, names, sizeof(names) / sizeof(names)[0] }
    static const struct {
        int32_t number;
        const char *const *names;
        size_t count;
    } table[] = {CODES(SIGILL, ill),   CODES(SIGFPE, fpe),    CODES(SIGSEGV, segv), CODES(SIGBUS, bus),
                 CODES(SIGTRAP, trap), CODES(SIGCHLD, child), CODES(SIGPOLL, poll), CODES(SIGSYS, sys)};
#undef CODES
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].number == number && code > 0 && (size_t)code < table[i].count) return table[i].names[code];
    }
    return NULL;
}

// Codes that mean the same with every signal: who sent it.
static const char *code_of_sender(int32_t code) {
    static const char *const senders[] = {"SI_USER",    "SI_QUEUE", "SI_TIMER", "SI_MESGQ",
                                          "SI_ASYNCIO", "SI_SIGIO", "SI_TKILL", "SI_DETHREAD"};
    if (code == 0x80) return "SI_KERNEL";
    if (code == -60) return "SI_ASYNCNL";
    return code <= 0 && code > -(int32_t)(sizeof senders / sizeof senders[0]) ? senders[-code] : NULL;
}

struct shown inspect_signal_code(int32_t number, int32_t code) {
    struct shown shown;
    const char *name = code_of_signal(number, code);
    if (name == NULL) name = code_of_sender(code);
    if (name != NULL) {
        snprintf(shown.text, sizeof shown.text, "%s", name);
    } else {
        snprintf(shown.text, sizeof shown.text, "code %" PRId32, code);
    }
    return shown;
}
