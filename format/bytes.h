// Growing output and bounds-checked input of little-endian numbers, varints (LEB128) and strings.
#ifndef VMV_BYTES_H
#define VMV_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vmv_out {
    uint8_t *data;
    size_t length, room;
};
void vmv_out_free(struct vmv_out *out);
void vmv_out_bytes(struct vmv_out *out, const void *data, size_t length);
uint8_t *vmv_out_reserve(struct vmv_out *out, size_t length); // room for length bytes at the end; not yet counted
void vmv_out_u8(struct vmv_out *out, uint8_t value);
void vmv_out_u16(struct vmv_out *out, uint16_t value);
void vmv_out_u32(struct vmv_out *out, uint32_t value);
void vmv_out_u64(struct vmv_out *out, uint64_t value);
void vmv_out_varint(struct vmv_out *out, uint64_t value);
void vmv_out_zigzag(struct vmv_out *out, int64_t value);
void vmv_out_string(struct vmv_out *out, const char *text); // varint length, bytes; NULL as ""

// Reading past the end, or a malformed number, sets `bad` and yields 0 from then on.
struct vmv_in {
    const uint8_t *data;
    size_t length, at;
    bool bad;
};
uint8_t vmv_in_u8(struct vmv_in *in);
uint16_t vmv_in_u16(struct vmv_in *in);
uint32_t vmv_in_u32(struct vmv_in *in);
uint64_t vmv_in_u64(struct vmv_in *in);
uint64_t vmv_in_varint(struct vmv_in *in);
int64_t vmv_in_zigzag(struct vmv_in *in);
const uint8_t *vmv_in_bytes(struct vmv_in *in, size_t length); // NULL and bad if fewer remain
const char *vmv_in_string(struct vmv_in *in, size_t *length); // not terminated; NULL and bad if malformed
static inline size_t vmv_in_left(const struct vmv_in *in) { return in->bad ? 0 : in->length - in->at; }

#endif
