#include "ui_text.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

static const struct cell { int width, height, font; } cells[3] = {{6, 12, 10}, {7, 16, 12}, {9, 20, 15}};

static const struct cell *cell_of(int style) {
    int size = style & 3;
    return &cells[size > UI_L ? UI_S : size];
}

int ui_cell_width(int style) { return cell_of(style)->width; }
int ui_cell_height(int style) { return cell_of(style)->height; }
int ui_font_size(int style) { return cell_of(style)->font; }

/* Bytes of the sequence that a lead byte announces; 0 for a byte that cannot lead. */
static size_t sequence_length(unsigned char lead) {
    if (lead < 0x80) return 1;
    if (lead >= 0xc2 && lead < 0xe0) return 2;
    if (lead >= 0xe0 && lead < 0xf0) return 3;
    if (lead >= 0xf0 && lead < 0xf5) return 4;
    return 0;
}

static bool is_scalar(uint32_t code, size_t length) {
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    return code >= smallest[length] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

size_t ui_utf8_decode(const char *text, size_t bytes, uint32_t *code_point) {
    *code_point = 0xfffd;
    if (bytes == 0) return 0;
    unsigned char lead = (unsigned char)text[0];
    size_t length = sequence_length(lead);
    if (length == 1) *code_point = lead;
    if (length < 2 || length > bytes) return 1;
    uint32_t code = lead & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        unsigned char next = (unsigned char)text[i];
        if ((next & 0xc0) != 0x80) return 1;
        code = code << 6 | (next & 0x3f);
    }
    if (!is_scalar(code, length)) return 1;
    *code_point = code;
    return length;
}

size_t ui_utf8_encode(uint32_t code, char *out) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (!is_scalar(code, 2)) return 0;
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; code >>= 6) out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)((0xf00u >> length & 0xf0u) | code);
    return length;
}

size_t ui_utf8_next(const char *text, size_t bytes, size_t at) {
    uint32_t code;
    return at >= bytes ? bytes : at + ui_utf8_decode(text + at, bytes - at, &code);
}

size_t ui_utf8_previous(const char *text, size_t at) {
    for (size_t back = 2; back <= 4 && back <= at; back++) {
        uint32_t code;
        if (ui_utf8_decode(text + at - back, back, &code) == back) return at - back;
    }
    return at > 0 ? at - 1 : 0;
}

int ui_code_point_cells(uint32_t code) {
    bool joins = (code >= 0x300 && code <= 0x36f) || (code >= 0x200b && code <= 0x200f) ||
                 (code >= 0x20d0 && code <= 0x20ff) || (code >= 0xfe00 && code <= 0xfe0f);
    return joins ? 0 : 1;
}

size_t ui_text_cells_n(const char *text, size_t bytes) {
    size_t count = 0;
    for (size_t at = 0; at < bytes;) {
        uint32_t code;
        at += ui_utf8_decode(text + at, bytes - at, &code);
        count += (size_t)ui_code_point_cells(code);
    }
    return count;
}

size_t ui_text_cells(const char *text) { return ui_text_cells_n(text, strlen(text)); }

int ui_text_width_n(int style, const char *text, size_t bytes) {
    size_t count = ui_text_cells_n(text, bytes);
    size_t most = (size_t)(INT_MAX / ui_cell_width(style));
    return (int)(count < most ? count : most) * ui_cell_width(style);
}

int ui_text_width(int style, const char *text) { return ui_text_width_n(style, text, strlen(text)); }

size_t ui_text_fit(int style, const char *text, size_t bytes, int width) {
    int room = width < 0 ? 0 : width / ui_cell_width(style);
    size_t at = 0;
    while (at < bytes) {
        uint32_t code;
        size_t length = ui_utf8_decode(text + at, bytes - at, &code);
        room -= ui_code_point_cells(code);
        if (room < 0) break;
        at += length;
    }
    return at;
}

/* The last space within text[0 .. bytes], or `bytes` when there is none. */
static size_t last_space(const char *text, size_t bytes) {
    for (size_t at = bytes + 1; at-- > 1;)
        if (text[at] == ' ') return at;
    return bytes;
}

size_t ui_text_wrap(int style, const char *text, size_t bytes, int width, size_t *next) {
    const char *newline = memchr(text, '\n', bytes);
    size_t line = newline ? (size_t)(newline - text) : bytes;
    size_t fits = ui_text_fit(style, text, line, width);
    if (fits == line) {
        *next = newline ? line + 1 : line;
        return line;
    }
    if (fits == 0) fits = ui_utf8_next(text, line, 0);
    size_t end = fits < line ? last_space(text, fits) : fits;
    *next = end;
    while (*next < line && text[*next] == ' ') ++*next;
    if (*next == line && newline) ++*next;
    while (end > 0 && text[end - 1] == ' ') end--;
    return end;
}
