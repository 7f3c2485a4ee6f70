// Buffered standard output that remembers why it failed, so that commands can stop early when nobody reads on.
#ifndef INSPECT_OUT_H
#define INSPECT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inspect_out {
    int fd;
    int error; // errno of the first failed write, 0: none. From then on everything is dropped
    size_t length;
    char buffer[1 << 15];
};

void inspect_out_bytes(struct inspect_out *out, const void *data, size_t length);
void inspect_out_text(struct inspect_out *out, const char *text);
void inspect_out_fill(struct inspect_out *out, char c, size_t count);
__attribute__((format(printf, 2, 3))) void inspect_out_format(struct inspect_out *out, const char *format, ...);
void inspect_out_flush(struct inspect_out *out);

#endif
