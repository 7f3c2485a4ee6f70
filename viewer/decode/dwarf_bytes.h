// Reading DWARF's encodings from bytes that are not trusted: beyond the end everything is 0 and `bad` is set.
#ifndef DWARF_BYTES_H
#define DWARF_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct dwarf_bytes {
    const uint8_t *at, *end;
    bool bad;
};

static inline uint64_t dwarf_unsigned(struct dwarf_bytes *in, size_t size) { // little-endian; of more than 8: bad
    uint64_t value = 0;
    if (in->bad || size > 8 || (size_t)(in->end - in->at) < size) {
        in->bad = true;
        return 0;
    }
    memcpy(&value, in->at, size);
    in->at += size;
    return value;
}

static inline int64_t dwarf_signed(struct dwarf_bytes *in, size_t size) {
    uint64_t value = dwarf_unsigned(in, size);
    unsigned shift = 64 - 8 * (unsigned)size;
    return (int64_t)(value << shift) >> shift;
}

static inline uint64_t dwarf_uleb(struct dwarf_bytes *in) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        uint64_t byte = dwarf_unsigned(in, 1);
        if (shift < 64) value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80)) return value;
    }
    in->bad = true;
    return 0;
}

static inline int64_t dwarf_sleb(struct dwarf_bytes *in) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        uint64_t byte = dwarf_unsigned(in, 1);
        if (shift < 64) value |= (byte & 0x7f) << shift;
        if (byte & 0x80) continue;
        if (shift + 7 < 64 && byte & 0x40) value |= ~0ull << (shift + 7);
        return (int64_t)value;
    }
    in->bad = true;
    return 0;
}

static inline const uint8_t *dwarf_block(struct dwarf_bytes *in, uint64_t length) { // NULL: it is cut short
    if (in->bad || length > (uint64_t)(in->end - in->at)) {
        in->bad = true;
        return NULL;
    }
    const uint8_t *block = in->at;
    in->at += length;
    return block;
}

#endif
