/* General registers by name, in the order they are read: PC, SP and FP first. */
#ifndef REGISTERS_H
#define REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct register_value {
    char name[12];
    uint64_t value;
    bool pointer; /* may hold an address */
};
#define REGISTERS_MOST 40

/* From the blob of a REGS entry; how many were found: 0 for an architecture that is not known. */
int registers_list(const char *arch, const uint8_t *general, size_t length, struct register_value *out, int room);

#endif
