#include "explain_text.h"

#include "bytes.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void explain_set(struct explain_values *values, const char *name, const char *format, ...) {
    size_t at = 0;
    while (at < values->count && strcmp(values->items[at].name, name) != 0) at++;
    if (at == EXPLAIN_VALUES) return;
    if (at == values->count) values->count++;
    values->items[at].name = name;
    va_list args;
    va_start(args, format);
    vsnprintf(values->items[at].text, EXPLAIN_VALUE_LONGEST, format, args);
    va_end(args);
}

void explain_set_size(struct explain_values *values, const char *name, uint64_t bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double amount = (double)bytes;
    size_t unit = 0;
    while (amount >= 1024 && unit + 1 < sizeof units / sizeof *units) amount /= 1024, unit++;
    explain_set(values, name, amount < 10 && unit && amount != (double)(int)amount ? "%.2f %s" : "%.0f %s", amount,
                units[unit]);
}

void explain_set_time(struct explain_values *values, const char *name, uint64_t ns) {
    unsigned micro = (unsigned)(ns / 1000 % 1000000);
    explain_set(values, name, "%llu.%03u %03u s", (unsigned long long)(ns / 1000000000), micro / 1000, micro % 1000);
}

static const char *value_of(const struct explain_values *values, const char *name, size_t length) {
    for (size_t i = 0; i < values->count; i++)
        if (strlen(values->items[i].name) == length && memcmp(values->items[i].name, name, length) == 0)
            return values->items[i].text;
    return NULL;
}

// Writes up to "]]" or the end; moves *at behind it. False: a value of this part, not of parts within, is not known.
static bool fill_part(const char **at, const struct explain_values *values, struct vmv_out *out) {
    bool whole = true;
    while (**at && strncmp(*at, "]]", 2) != 0) {
        const char *text = *at, *end = *text == '{' ? strchr(text, '}') : NULL;
        if (strncmp(text, "[[", 2) == 0) {
            size_t before = out->length;
            *at += 2;
            if (!fill_part(at, values, out)) out->length = before;
        } else if (end) {
            const char *value = value_of(values, text + 1, (size_t)(end - text - 1));
            whole &= value != NULL;
            if (!value) value = "unknown";
            vmv_out_bytes(out, value, strlen(value));
            *at = end + 1;
        } else {
            vmv_out_u8(out, (uint8_t)*text);
            ++*at;
        }
    }
    if (**at) *at += 2;
    return whole;
}

const char *explain_fill(struct vmv_arena *arena, const char *text, const struct explain_values *values) {
    struct vmv_out out = {0};
    fill_part(&text, values, &out);
    size_t length = 0; // two blanks where a sentence went
    for (size_t i = 0; i < out.length; i++) {
        bool again = out.data[i] == ' ' && (length == 0 || out.data[length - 1] == ' ');
        if (!again) out.data[length++] = out.data[i];
    }
    while (length && out.data[length - 1] == ' ') length--;
    const char *kept = vmv_arena_strdup(arena, out.data ? (const char *)out.data : "", length);
    vmv_out_free(&out);
    return kept;
}
