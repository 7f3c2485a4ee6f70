#include "bytes.h"

#include <stdlib.h>
#include <string.h>

void vmv_out_free(struct vmv_out *out) {
    free(out->data);
    *out = (struct vmv_out){0};
}

static void out_grow(struct vmv_out *out, size_t length) {
    if (length > SIZE_MAX / 2 - out->length) abort();
    size_t room = out->room ? out->room : 256;
    while (room < out->length + length) room *= 2;
    out->data = realloc(out->data, room);
    if (!out->data) abort();
    out->room = room;
}

uint8_t *vmv_out_reserve(struct vmv_out *out, size_t length) {
    if (out->room - out->length < length || !out->data) out_grow(out, length);
    return out->data + out->length;
}

void vmv_out_bytes(struct vmv_out *out, const void *data, size_t length) {
    if (!length) return;
    memcpy(vmv_out_reserve(out, length), data, length);
    out->length += length;
}

void vmv_out_u8(struct vmv_out *out, uint8_t value) {
    *vmv_out_reserve(out, 1) = value;
    out->length++;
}

static void out_little(struct vmv_out *out, uint64_t value, size_t length) {
    uint8_t *at = vmv_out_reserve(out, length);
    for (size_t i = 0; i < length; i++) at[i] = (uint8_t)(value >> (8 * i));
    out->length += length;
}

void vmv_out_u16(struct vmv_out *out, uint16_t value) { out_little(out, value, 2); }
void vmv_out_u32(struct vmv_out *out, uint32_t value) { out_little(out, value, 4); }
void vmv_out_u64(struct vmv_out *out, uint64_t value) { out_little(out, value, 8); }

void vmv_out_varint(struct vmv_out *out, uint64_t value) {
    uint8_t *start = vmv_out_reserve(out, 10), *at = start;
    for (; value >= 0x80; value >>= 7) *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    out->length += (size_t)(at - start);
}

void vmv_out_zigzag(struct vmv_out *out, int64_t value) {
    vmv_out_varint(out, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

void vmv_out_string(struct vmv_out *out, const char *text) {
    size_t length = text ? strlen(text) : 0;
    vmv_out_varint(out, length);
    vmv_out_bytes(out, text, length);
}

const uint8_t *vmv_in_bytes(struct vmv_in *in, size_t length) {
    if (in->bad || in->length - in->at < length) {
        in->bad = true;
        return NULL;
    }
    const uint8_t *bytes = in->data + in->at;
    in->at += length;
    return bytes;
}

uint8_t vmv_in_u8(struct vmv_in *in) {
    if (!in->bad && in->at < in->length) return in->data[in->at++];
    in->bad = true;
    return 0;
}

static uint64_t in_little(struct vmv_in *in, size_t length) {
    const uint8_t *at = vmv_in_bytes(in, length);
    uint64_t value = 0;
    for (size_t i = 0; at && i < length; i++) value |= (uint64_t)at[i] << (8 * i);
    return value;
}

uint16_t vmv_in_u16(struct vmv_in *in) { return (uint16_t)in_little(in, 2); }
uint32_t vmv_in_u32(struct vmv_in *in) { return (uint32_t)in_little(in, 4); }
uint64_t vmv_in_u64(struct vmv_in *in) { return in_little(in, 8); }

static uint64_t in_malformed(struct vmv_in *in) {
    in->bad = true;
    return 0;
}

static uint64_t in_long_varint(struct vmv_in *in) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (in->at == in->length) return in_malformed(in);
        uint8_t byte = in->data[in->at++];
        if (shift == 63 && byte > 1) return in_malformed(in); // more than 64 bits
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return value;
    }
    return in_malformed(in);
}

uint64_t vmv_in_varint(struct vmv_in *in) {
    if (in->bad) return 0;
    if (in->at < in->length && in->data[in->at] < 0x80) return in->data[in->at++]; // most of them
    return in_long_varint(in);
}

int64_t vmv_in_zigzag(struct vmv_in *in) {
    uint64_t value = vmv_in_varint(in);
    return (int64_t)((value >> 1) ^ (0 - (value & 1)));
}

const char *vmv_in_string(struct vmv_in *in, size_t *length) {
    uint64_t bytes = vmv_in_varint(in);
    *length = 0;
    if (in->bad || bytes > in->length - in->at) {
        in->bad = true;
        return NULL;
    }
    *length = (size_t)bytes;
    return (const char *)vmv_in_bytes(in, *length);
}
