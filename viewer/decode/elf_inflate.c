// Compressed sections. Whoever made the file says how much they inflate to: taken is only what a compressor can reach.
#include "elf_private.h"

#include <gelf.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { COMPRESS_ZSTD = 2 }; // ELFCOMPRESS_ZSTD (gABI); Debian 12's elf.h knows zlib only
static const uint64_t INFLATED_MAX = 2ull << 30, RATIO_MAX = 1100, LZMA_MEMORY = 256ull << 20;

static bool is_honest(uint64_t raw, uint64_t stored) {
    return raw > 0 && raw <= INFLATED_MAX && raw / RATIO_MAX <= stored + 64;
}

static bool inflate_zlib(const uint8_t *from, size_t length, uint8_t *to, size_t raw) {
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)from, .next_out = to};
    if (length > UINT32_MAX || raw > UINT32_MAX || inflateInit(&stream) != Z_OK) return false;
    stream.avail_in = (uInt)length;
    stream.avail_out = (uInt)raw;
    bool whole = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.total_out == raw;
    inflateEnd(&stream);
    return whole;
}

// ".zdebug_info": "ZLIB", the size as big-endian u64, then zlib's stream (binutils, before SHF_COMPRESSED).
static uint64_t old_header(const uint8_t *stored, size_t length) {
    uint64_t raw = 0;
    if (length < 12 || memcmp(stored, "ZLIB", 4) != 0) return 0;
    for (int i = 4; i < 12; i++) raw = raw << 8 | stored[i];
    return raw;
}

// The header's size in bytes, 0 if there is none that makes sense.
static size_t read_header(const struct elf_file *file, const struct elf_section *section, const uint8_t *stored,
                          uint32_t *kind, uint64_t *raw) {
    *kind = ELFCOMPRESS_ZLIB;
    if (!(section->flags & SHF_COMPRESSED)) {
        *raw = old_header(stored, section->size);
        return 12;
    }
    size_t size = file->is_64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
    uint32_t raw_32 = 0;
    if (section->size < size || !file->is_little) return 0;
    memcpy(kind, stored, sizeof *kind);
    memcpy(&raw_32, stored + offsetof(Elf32_Chdr, ch_size), sizeof raw_32);
    *raw = raw_32;
    if (file->is_64) memcpy(raw, stored + offsetof(Elf64_Chdr, ch_size), sizeof *raw);
    return size;
}

bool elf_inflate(const struct elf_file *file, const struct elf_section *section, const uint8_t *stored,
                 struct elf_inflated *out) {
    uint64_t raw = 0;
    uint32_t kind;
    size_t header = read_header(file, section, stored, &kind, &raw);
    if (!header || !is_honest(raw, section->size)) return false;
    uint8_t *bytes = malloc(raw);
    size_t length = section->size - header;
    bool good = bytes && ((kind == ELFCOMPRESS_ZLIB && inflate_zlib(stored + header, length, bytes, raw)) ||
                          (kind == COMPRESS_ZSTD && ZSTD_decompress(bytes, raw, stored + header, length) == raw));
    if (!good) {
        free(bytes);
        return false;
    }
    out->bytes = bytes;
    out->length = raw;
    return true;
}

bool elf_inflate_xz(const uint8_t *stored, size_t length, uint8_t **out, size_t *out_length) {
    lzma_stream stream = LZMA_STREAM_INIT;
    if (length > INFLATED_MAX / RATIO_MAX || lzma_stream_decoder(&stream, LZMA_MEMORY, 0) != LZMA_OK) return false;
    size_t room = length * 4 + 4096, most = (length + 64) * RATIO_MAX;
    uint8_t *bytes = malloc(room);
    lzma_ret result = bytes ? LZMA_OK : LZMA_MEM_ERROR;
    stream.next_in = stored;
    stream.avail_in = length;
    stream.next_out = bytes;
    stream.avail_out = room;
    while (result == LZMA_OK) {
        result = lzma_code(&stream, LZMA_FINISH);
        if (result != LZMA_OK || stream.avail_out) continue;
        uint8_t *bigger = room < most ? realloc(bytes, room * 2) : NULL;
        if (!bigger) break;
        bytes = bigger;
        stream.next_out = bytes + room;
        stream.avail_out = room;
        room *= 2;
    }
    *out_length = stream.total_out;
    lzma_end(&stream);
    *out = bytes;
    if (result == LZMA_STREAM_END) return true;
    free(bytes);
    return false;
}
