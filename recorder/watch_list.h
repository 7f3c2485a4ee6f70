// What --watch names. Pure.
#ifndef REC_WATCH_LIST_H
#define REC_WATCH_LIST_H

#include <stddef.h>
#include <stdint.h>

enum { WATCH_MAX = 4, WATCH_BYTES = 8 }; // debug registers of x86-64; bytes that one watches at most

struct watch_list {
    struct watch_item {
        const char *text; // as given
        char symbol[256]; // "" : an address
        uint64_t offset;  // from the symbol; or the address
        uint64_t length;  // 0: the symbol's own size
    } items[WATCH_MAX];
    unsigned count;
};
// "0xADDR[,LEN]", "[sym:]NAME[+N][,LEN]"; keeps the text. NULL, or what is wrong with it.
const char *watch_parse(struct watch_list *list, const char *text);

void watch_text(const struct watch_list *list, char *text, size_t size); // as given; "" if there are none

#endif
