// vmvis-dwarf: reads the DWARF of the ELF file on standard input and writes an index of it to standard output. It is a
// program of its own because what it reads may be hostile or huge: whatever happens to it, the viewer goes on.
#include "dwarf_object.h"
#include "dwarf_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECONDS_MOST = 120 };
static const rlim_t MEMORY_MOST = 6ull << 30;

static void limit(int resource, rlim_t value) {
    struct rlimit limits;
    if (getrlimit(resource, &limits) != 0) return;
    if (limits.rlim_max < value) value = limits.rlim_max;
    limits.rlim_cur = value;
    setrlimit(resource, &limits);
}

static uint8_t *read_input(size_t *length) {
    struct stat status;
    if (fstat(STDIN_FILENO, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0) return NULL;
    uint8_t *bytes = malloc((size_t)status.st_size);
    *length = 0;
    while (bytes && *length < (size_t)status.st_size) {
        ssize_t got = pread(STDIN_FILENO, bytes + *length, (size_t)status.st_size - *length, (off_t)*length);
        if (got <= 0) break;
        *length += (size_t)got;
    }
    return bytes;
}

static int write_output(const struct vmv_out *out) {
    for (size_t done = 0; done < out->length;) {
        ssize_t put = write(STDOUT_FILENO, out->data + done, out->length - done);
        if (put <= 0) return 1;
        done += (size_t)put;
    }
    return 0;
}

static const uint8_t *section(struct elf_file *file, const char *name, const char *old_name, size_t *length) {
    const struct elf_section *found = elf_file_section(file, name);
    if (!found && old_name) found = elf_file_section(file, old_name);
    return found ? elf_file_section_bytes(file, found, length) : NULL;
}

int main(void) {
    char error[200] = "";
    size_t length;
    limit(RLIMIT_AS, MEMORY_MOST);
    limit(RLIMIT_CPU, SECONDS_MOST);
    limit(RLIMIT_CORE, 0);
    uint8_t *bytes = read_input(&length);
    struct elf_file *file = bytes ? elf_file_open(bytes, length, error, sizeof error) : NULL;
    if (!file) {
        fprintf(stderr, "vmvis-dwarf: %s\n", bytes ? error : "standard input is no file");
        return 2;
    }
    Dwarf_Debug debug = dwarf_object_open(file, error, sizeof error);
    if (!debug) {
        fprintf(stderr, "vmvis-dwarf: %s\n", error);
        return 1;
    }
    struct dwarf_builder builder = {0};
    struct vmv_out out = {0};
    struct line_sections sections = {0};
    sections.line = section(file, ".debug_line", ".zdebug_line", &sections.line_length);
    sections.line_str = section(file, ".debug_line_str", NULL, &sections.line_str_length);
    sections.str = section(file, ".debug_str", ".zdebug_str", &sections.str_length);
    dwarf_read_all(debug, &sections, &builder);
    dwarf_builder_encode(&builder, file->build_id, file->build_id_length, &out);
    return write_output(&out); // the process ends: nothing is freed
}
