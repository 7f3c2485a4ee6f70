// Registers by name, from the blobs of REGS and STACKS: the general registers as the architecture's kernel interface
// lays them out (x86-64: user_regs_struct; aarch64: user_pt_regs) and the extended state as the kernel gives it
// (x86-64: the XSAVE image, standard form; aarch64: user_fpsimd_state).
#ifndef INSPECT_REGISTERS_H
#define INSPECT_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// False: the architecture is not known or the blob is too short.
bool registers_pc(const char *arch, const uint8_t *general, size_t length, uint64_t *pc);

// Calls `each` for every register that the blobs hold, in the architecture's order: its name and its `size` bytes,
// least significant first. False: the architecture is not known.
enum register_group { REGISTER_GENERAL, REGISTER_FLOAT, REGISTER_VECTOR };
typedef void register_each(void *user, const char *name, enum register_group group, const uint8_t *bytes, size_t size);
bool registers_walk(const char *arch, const uint8_t *general, size_t general_length, const uint8_t *extended,
                    size_t extended_length, register_each *each, void *user);

#endif
