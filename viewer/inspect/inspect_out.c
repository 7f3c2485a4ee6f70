#include "inspect_out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void out_write(struct inspect_out *out, const char *data, size_t length) {
    while (length > 0 && out->error == 0) {
        ssize_t n = write(out->fd, data, length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            out->error = errno;
            return;
        }
        data += n;
        length -= (size_t)n;
    }
}

void inspect_out_flush(struct inspect_out *out) {
    out_write(out, out->buffer, out->length);
    out->length = 0;
}

void inspect_out_bytes(struct inspect_out *out, const void *data, size_t length) {
    if (length > sizeof out->buffer - out->length) inspect_out_flush(out);
    if (length > sizeof out->buffer) {
        out_write(out, data, length);
        return;
    }
    memcpy(out->buffer + out->length, data, length);
    out->length += length;
}

void inspect_out_text(struct inspect_out *out, const char *text) { inspect_out_bytes(out, text, strlen(text)); }

void inspect_out_fill(struct inspect_out *out, char c, size_t count) {
    while (count-- > 0) inspect_out_bytes(out, &c, 1);
}

void inspect_out_format(struct inspect_out *out, const char *format, ...) {
    for (int attempt = 0; attempt < 2; attempt++) {
        size_t room = sizeof out->buffer - out->length;
        va_list args;
        va_start(args, format);
        int n = vsnprintf(out->buffer + out->length, room, format, args);
        va_end(args);
        if (n >= 0 && (size_t)n < room) {
            out->length += (size_t)n;
            return;
        }
        inspect_out_flush(out); // longer than the whole buffer: only texts of ours come here, which are short
    }
}
