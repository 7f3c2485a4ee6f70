// The bytes of an ELF file: its call frame information; and the bytes alone as a DWARF expression.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cfi.h"
#include "dwarf_expression.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink; // what is found is used

static bool read_any(void *user, uint64_t addr, void *out, size_t length) {
    memset(out, (int)addr, length);
    return addr % 7 != 0;
}

static bool any_register(void *user, uint64_t number, uint64_t *value) {
    *value = number * 0x1000;
    return number < CFI_REGISTERS;
}

static void ask(struct elf_file *file) {
    struct cfi *cfi = cfi_create(file);
    struct cfi_row row;
    for (size_t i = 0; i < file->symbol_count && i < 64; i++)
        for (uint64_t at = 0; at < 24; at += 5)
            if (cfi_find(cfi, file->symbols[i].addr + at, &row)) sink += (uint64_t)row.cfa.offset;
    for (size_t i = 0; i < file->section_count && i < 64; i++)
        for (uint64_t at = 0; at < file->sections[i].size && at < 4096; at += 61)
            if (cfi_find(cfi, file->sections[i].addr + at, &row)) sink += row.return_register;
    cfi_destroy(cfi);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct dwarf_machine machine = {.read = read_any, .reg = any_register, .has_cfa = true, .cfa = 64};
    uint64_t first = 1, result;
    char error[128];
    if (dwarf_evaluate(&machine, data, size, &first, &result)) sink += result;
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) return 0;
    memcpy(copy, data, size);
    struct elf_file *file = elf_file_open(copy, size, error, sizeof error);
    if (file) ask(file);
    elf_file_close(file);
    return 0;
}
