// The slots through which an object reaches functions and data of others (.got, .got.plt): their names, what they hold
// at the moment, and since when; and the small pieces of code (.plt) that jump through them.
#ifndef GOT_H
#define GOT_H

#include "decode.h"

struct got_slot {
    uint64_t addr;      // 8 bytes
    const char *symbol; // by the relocation; "" where it has no name (IRELATIVE)
    bool lazy;          // bound at the first call, if the program was linked so
    bool known;         // its bytes are known at the moment
    uint64_t target;    // what it holds
    bool bound;         // it holds the place of its symbol: no longer its own PLT, nor 0
    uint64_t bound_at;  // ns: the capture in which it was first seen so, and ever since; 0: not known
};

// The slots of a module by address. free(). NULL and 0: it has none.
struct got_slot *decode_got(struct decode *d, uint32_t space, const struct decode_module *module, size_t *count);
// Fills bound_at, from all captures of the pages up to the moment.
void decode_got_history(struct decode *d, uint32_t space, struct got_slot *slots, size_t count);
// The slot at an address: its symbol, NULL if none of the module's lies there.
const char *decode_got_name(struct decode *d, const struct decode_module *module, uint64_t addr);
// The symbol whose slot the PLT code at `addr` jumps through, NULL if there is no such code.
const char *decode_plt_name(struct decode *d, uint32_t space, uint64_t addr);

#endif
