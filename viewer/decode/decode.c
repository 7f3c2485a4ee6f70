#include "decode_private.h"

#include <stdlib.h>
#include <string.h>

struct decode *decode_create(struct timeline *tl) {
    struct decode *d = calloc(1, sizeof *d);
    if (d) d->tl = tl;
    return d;
}

void decode_destroy(struct decode *d) {
    if (!d) return;
    decode_objects_free(d);
    free(d->modules.items);
    vmv_arena_free(&d->arena);
    free(d);
}

void decode_allow_debug(struct decode *d, bool allow) { d->no_debug = !allow; }

struct timeline *decode_timeline(const struct decode *d) {
    return d->tl;
}

bool decode_read(struct decode *d, uint32_t space, uint64_t addr, void *out, size_t length, size_t *known) {
    enum { RUNS = 64 };
    struct timeline_run runs[RUNS];
    size_t got = 0, done = 0;
    bool whole = true;
    while (whole && done < length) {
        size_t count = timeline_read(d->tl, space, addr + done, (uint8_t *)out + done, length - done, runs, RUNS),
               before = done;
        for (size_t i = 0; i < count && whole; i++) {
            whole = runs[i].known;
            if (whole) got = done = (size_t)(runs[i].addr + runs[i].length - addr);
        }
        if (done == before) whole = false;
    }
    if (known) *known = got < length ? got : length;
    return whole && got >= length;
}

bool decode_read_u64(struct decode *d, uint32_t space, uint64_t addr, uint64_t *value) {
    return decode_read(d, space, addr, value, sizeof *value, NULL);
}

bool decode_read_text(struct decode *d, uint32_t space, uint64_t addr, char *out, size_t size) {
    size_t known = 0;
    if (size == 0) return false;
    decode_read(d, space, addr, out, size - 1, &known);
    out[known] = 0;
    return strnlen(out, known) < known;
}
