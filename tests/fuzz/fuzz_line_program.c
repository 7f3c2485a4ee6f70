// The bytes of .debug_line: a line number program.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "line_program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink; // what is found is used

static void see(void *user, const struct line_state *state) { sink += state->addr + state->line; }

static void run(const struct line_sections *sections, uint64_t offset) {
    struct line_program program;
    if (line_program_read(&program, sections, offset, "/folder")) line_program_run(&program, see, NULL);
    for (size_t i = 0; i < program.file_count; i++)
        if (program.files[i]) sink += strlen(program.files[i]);
    line_program_free(&program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t half = size / 2;
    struct line_sections whole = {.line = data, .line_length = size};
    struct line_sections parts = {.line = data,
                                  .line_length = half,
                                  .line_str = data + half,
                                  .line_str_length = size - half,
                                  .str = data + half,
                                  .str_length = size - half};
    run(&whole, 0);
    run(&parts, 0);
    return 0;
}
