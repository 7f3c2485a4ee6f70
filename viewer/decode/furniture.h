// What the kernel puts at the top of the main stack when a program begins: arguments, environment, auxiliary vector.
#ifndef FURNITURE_H
#define FURNITURE_H

#include "decode.h"

struct furniture {
    uint64_t argc_at, argv, envp, auxv, auxv_end; // addresses of the arrays; each ends with a 0
    uint64_t argc, env_count, aux_count;
};

// Found by the bytes of the stack at the moment, and checked. False: they are not known, or changed by the program.
bool decode_furniture(struct decode *d, uint32_t space, struct furniture *out);

enum furniture_kind { FURNITURE_NONE, FURNITURE_ARGUMENT, FURNITURE_ENVIRONMENT, FURNITURE_AUXILIARY };
struct furniture_item {
    uint8_t kind;    // enum furniture_kind
    uint64_t number; // argv[number], envp[number], or which entry of the auxiliary vector
    bool pointer;    // the address lies in the array, not in the text
    uint64_t value;  // of the pointer; auxiliary: of the entry
    uint64_t type;   // auxiliary: AT_*
    char text[256];  // argument, "NAME=value"; auxiliary: what the value means, "" if it is a number
};
// What an address among them is. FURNITURE_NONE: nothing of it.
struct furniture_item furniture_at(struct decode *d, uint32_t space, const struct furniture *furniture, uint64_t addr);
struct furniture_item furniture_argument(struct decode *d, uint32_t space, const struct furniture *furniture,
                                         uint64_t number);
struct furniture_item furniture_environment(struct decode *d, uint32_t space, const struct furniture *furniture,
                                            uint64_t number);
struct furniture_item furniture_auxiliary(struct decode *d, uint32_t space, const struct furniture *furniture,
                                          uint64_t number);
const char *furniture_aux_name(uint64_t type); // "AT_PHDR"; NULL: not known

#endif
