// The bytes of an ELF file: sections, symbols and slots, and what is asked of them.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "elf_dynamic.h"
#include "elf_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t sink; // what is read is used

static void ask_sections(struct elf_file *file) {
    for (size_t i = 0; i < file->section_count && i < 64; i++) {
        size_t length;
        const uint8_t *bytes = elf_file_section_bytes(file, &file->sections[i], &length);
        if (bytes && length) sink += bytes[0] + bytes[length - 1];
        sink += strlen(file->sections[i].name);
    }
}

static void ask_symbols(const struct elf_file *file) {
    for (size_t i = 0; i < file->symbol_count && i < 256; i++) {
        const struct elf_symbol *symbol = elf_file_symbol(file, file->symbols[i].addr);
        if (symbol && symbol->addr > file->symbols[i].addr) abort();
        symbol = elf_file_symbol_named(file, file->symbols[i].name);
        if (!symbol && !strchr(file->symbols[i].name, '@')) abort();
        uint64_t offset;
        sink += elf_file_offset(file, file->symbols[i].addr, &offset);
    }
}

static void ask_slots(const struct elf_file *file) {
    size_t count;
    struct elf_slot *slots = elf_dynamic_slots(file, &count);
    for (size_t i = 0; i < count; i++) sink += strlen(slots[i].symbol);
    free(slots);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char error[128];
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) return 0;
    memcpy(copy, data, size);
    struct elf_file *file = elf_file_open(copy, size, error, sizeof error);
    if (!file) return 0;
    ask_sections(file);
    ask_symbols(file);
    ask_slots(file);
    elf_file_close(file);
    return 0;
}
