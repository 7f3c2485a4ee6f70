// Anonymous memory is given names, as allocators do.   named_regions [--checkpoints N]
#include "calls.h"

#define PAGE 4096
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

static void name(char *start, size_t length, const char *text) {
    struct call call = call_enter();
    call_leave(&call, prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, (unsigned long)start, length, (unsigned long)text));
    truth_line("\"what\":\"setname\",\"addr\":\"%p\",\"len\":%zu,\"name\":\"%s\"," CALL_FORMAT, (void *)start, length,
               text == NULL ? "" : text, CALL_ARGS(call));
}

int main(int argc, char **argv) {
    truth_args(argc, argv);
    truth_begin();
    char *start = call_anonymous(16 * PAGE);
    truth_checkpoint("without a name");
    name(start, 16 * PAGE, "arena");
    truth_checkpoint("named");
    name(start + 4 * PAGE, 4 * PAGE, "arena: second half");
    truth_checkpoint("part of it renamed");
    name(start + 8 * PAGE, PAGE, "no [brackets]");
    name(start + 12 * PAGE, 4 * PAGE, NULL);
    truth_checkpoint("part of it without a name again");
    call_mprotect(start + 2 * PAGE, 4 * PAGE, PROT_READ);
    call_munmap(start + 5 * PAGE, PAGE);
    truth_checkpoint("cut");
    return truth_end();
}
