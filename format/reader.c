#include "reader_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CACHE_BYTES = 64 << 20, COPY_BYTES = 256 << 10 };

bool vmv_reader_corrupt(struct vmv_reader *reader, uint64_t offset, const char *chunk, const char *what) {
    snprintf(reader->error, sizeof reader->error, "%s: %s at byte %llu: %s", reader->path, chunk ? chunk : "chunk",
             (unsigned long long)offset, what);
    return false;
}

bool vmv_reader_corrupt_chunk(struct vmv_reader *reader, const struct vmv_chunk *chunk, const char *what) {
    return vmv_reader_corrupt(reader, chunk->offset, vmv_chunk_name(chunk->header.type), what);
}

bool vmv_reader_pread(const struct vmv_reader *reader, uint64_t offset, void *out, size_t length) {
    uint8_t *to = out;
    while (length > 0) {
        ssize_t got = pread(reader->fd, to, length, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to += got;
        offset += (uint64_t)got;
        length -= (size_t)got;
    }
    return true;
}

// --- opening

static bool refuse(char *error, size_t error_size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool refuse(char *error, size_t error_size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error, error_size, format, arguments);
    va_end(arguments);
    return false;
}

// A descriptor of an unlinked file that holds all of `from`; -1 and errno.
static int copy_to_temporary(int from) {
    const char *folder = getenv("TMPDIR");
    char name[4096];
    snprintf(name, sizeof name, "%s/vmvis-XXXXXX", folder && *folder ? folder : "/tmp");
    int to = mkostemp(name, O_CLOEXEC);
    uint8_t *buffer = malloc(COPY_BYTES);
    ssize_t got = -1;
    if (to >= 0) unlink(name);
    while (to >= 0 && buffer && ((got = read(from, buffer, COPY_BYTES)) > 0 || (got < 0 && errno == EINTR))) {
        ssize_t done = 0;
        while (done < got) {
            ssize_t put = write(to, buffer + done, (size_t)(got - done));
            if (put < 0 && errno != EINTR) break;
            if (put > 0) done += put;
        }
        if (done < got && got > 0) break;
    }
    int why = errno;
    free(buffer);
    if (to >= 0 && got != 0) {
        close(to);
        to = -1;
    }
    errno = why;
    return to;
}

static bool open_file(struct vmv_reader *reader, const char *path, char *error, size_t error_size) {
    bool standard = strcmp(path, "-") == 0;
    struct stat status;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0) return refuse(error, error_size, "%s: %s", reader->path, strerror(errno));
    if (S_ISDIR(status.st_mode)) {
        if (!standard) close(fd);
        return refuse(error, error_size, "%s: is a directory; name the trace file in it", reader->path);
    }
    reader->fd = standard || !S_ISREG(status.st_mode) ? copy_to_temporary(fd) : fd;
    if (reader->fd != fd && !standard) close(fd);
    if (reader->fd < 0 || fstat(reader->fd, &status) != 0)
        return refuse(error, error_size,
                      "%s: cannot be copied to a temporary file: %s; set TMPDIR to a folder with room", reader->path,
                      strerror(errno));
    reader->size = (uint64_t)status.st_size;
    return true;
}

static bool refuse_short(const struct vmv_reader *reader, char *error, size_t error_size) {
    return refuse(error, error_size,
                  "%s: cut within its header at byte %llu: nothing of the recording is in it; record again",
                  reader->path, (unsigned long long)reader->size);
}

static bool read_file_header(struct vmv_reader *reader, char *error, size_t error_size) {
    uint8_t bytes[VMV_FILE_HEADER_BYTES] = {0};
    size_t have = reader->size < sizeof bytes ? (size_t)reader->size : sizeof bytes;
    if (have == 0)
        return refuse(error, error_size, "%s: empty at byte 0: nothing was recorded; record again", reader->path);
    if (!vmv_reader_pread(reader, 0, bytes, have))
        return refuse(error, error_size, "%s: reading at byte 0: %s", reader->path, strerror(errno));
    switch (vmv_file_header_decode(bytes, &reader->header)) {
    case 0:
        return true;
    case 1:
        if (have < 8 && memcmp(bytes, "\x89VMV\r\n\x1a\n", have) == 0) return refuse_short(reader, error, error_size);
        return refuse(error, error_size, "%s: not a vmvis trace (byte 0 says so); name a file that vmvis-record wrote",
                      reader->path);
    case 2:
        return refuse(error, error_size,
                      "%s: format %u.%u at byte 8 is newer than this vmvis, which reads up to %u.x; use a vmvis that "
                      "reads format %u",
                      reader->path, reader->header.major, reader->header.minor, VMV_FORMAT_MAJOR, reader->header.major);
    default:
        if (have < sizeof bytes) return refuse_short(reader, error, error_size);
        return refuse(error, error_size,
                      "%s: the header at byte 0 is damaged; copy the trace again from where it was recorded",
                      reader->path);
    }
}

static bool read_meta(struct vmv_reader *reader, char *error, size_t error_size) {
    struct vmv_chunk chunk;
    size_t length;
    struct vmv_chunk_header header = {0};
    uint8_t bytes[VMV_CHUNK_HEADER_BYTES];
    bool there = vmv_reader_pread(reader, VMV_FILE_HEADER_BYTES, bytes, sizeof bytes);
    bool decoded = there && vmv_chunk_header_decode(bytes, &header);
    chunk = (struct vmv_chunk){.header = header, .offset = VMV_FILE_HEADER_BYTES};
    if (!there || (decoded && vmv_chunk_end(&chunk) > reader->size)) return refuse_short(reader, error, error_size);
    uint8_t *payload = NULL;
    if (decoded && header.type == VMV_CHUNK_META) payload = vmv_reader_payload(reader, &chunk, &length);
    struct vmv_in in = {.data = payload, .length = payload ? length : 0};
    bool ok = payload && vmv_meta_decode(&in, &reader->arena, &reader->meta);
    uint32_t page = reader->meta.page_size;
    ok = ok && page >= 512 && page <= (1u << 20) && (page & (page - 1)) == 0;
    free(payload);
    if (!ok)
        return refuse(error, error_size,
                      "%s: META at byte %d is damaged; copy the trace again from where it was recorded", reader->path,
                      VMV_FILE_HEADER_BYTES);
    vmv_reader_add_chunk(reader, &chunk);
    return true;
}

// --- what is known when END is missing

static void add_counts(struct vmv_reader *reader, const struct vmv_chunk *chunk) {
    uint64_t counts[VMV_EV_TYPE_COUNT];
    if (!vmv_reader_counts(reader, chunk, counts)) return;
    for (int type = 0; type < VMV_EV_TYPE_COUNT; type++) reader->end.events[type] += counts[type];
    reader->end.raw_bytes += chunk->header.raw;
}

// Adds what stands behind the INDEX whose totals are known.
static void estimate_end(struct vmv_reader *reader) {
    size_t from = reader->totals_until;
    for (size_t i = from; i < reader->count; i++) {
        const struct vmv_chunk *chunk = &reader->chunks[i];
        bool file = chunk->header.type == VMV_CHUNK_OBJECT && (chunk->header.flags & VMV_CHUNKF_BLOCKS);
        if (chunk->header.type == VMV_CHUNK_EVENTS) add_counts(reader, chunk);
        if (file) reader->end.raw_bytes += chunk->header.raw;
        if (chunk->header.type != VMV_CHUNK_PAGES) continue;
        reader->end.pages_captured += chunk->header.count;
        reader->end.raw_bytes += chunk->header.raw;
    }
    for (size_t i = 0; i < reader->count; i++) {
        const struct vmv_chunk_header *header = &reader->chunks[i].header;
        if (header->type == VMV_CHUNK_EVENTS && header->t_last > reader->end.duration_ns)
            reader->end.duration_ns = header->t_last;
    }
    reader->end.complete = false;
    reader->error[0] = 0;
}

static bool read_end(struct vmv_reader *reader) {
    for (size_t i = reader->count; i-- > 0;) {
        const struct vmv_chunk *chunk = &reader->chunks[i];
        size_t length;
        if (chunk->header.type == VMV_CHUNK_EVENTS) return false; // END stands behind all events
        if (chunk->header.type != VMV_CHUNK_END) continue;
        uint8_t *payload = vmv_reader_payload(reader, chunk, &length);
        struct vmv_in in = {.data = payload, .length = payload ? length : 0};
        struct vmv_end end;
        bool ok = payload && vmv_end_decode(&in, &end);
        free(payload);
        if (ok) reader->end = end;
        return ok;
    }
    return false;
}

static void warn(struct vmv_reader *reader, bool ended) {
    unsigned long long sound = reader->sound, left = reader->size - reader->sound;
    int printed = 0;
    if (reader->skipped_from < reader->skipped_to)
        printed =
            asprintf(&reader->warning,
                     "%s: damaged between bytes %llu and %llu: what lies there is left out, the rest is "
                     "shown; copy the trace again if the original is sound",
                     reader->path, (unsigned long long)reader->skipped_from, (unsigned long long)reader->skipped_to);
    else if (left > 0)
        printed = asprintf(&reader->warning,
                           "%s: cut at byte %llu: the last %llu bytes are incomplete; what is before is shown (the "
                           "recording was interrupted)",
                           reader->path, sound, left);
    else if (!ended)
        printed = asprintf(
            &reader->warning,
            "%s: ends at byte %llu without its end mark; what is before is shown (the recording was interrupted)",
            reader->path, sound);
    if (printed < 0) reader->warning = NULL;
}

static bool open_reader(struct vmv_reader *reader, const char *path, char *error, size_t error_size) {
    if (!open_file(reader, path, error, error_size) || !read_file_header(reader, error, error_size)) return false;
    if (!read_meta(reader, error, error_size)) return false;
    vmv_reader_find_chunks(reader);
    bool ended = read_end(reader);
    if (!ended) estimate_end(reader);
    warn(reader, ended);
    return true;
}

struct vmv_reader *vmv_reader_open(const char *path, char *error, size_t error_size) {
    struct vmv_reader *reader = calloc(1, sizeof *reader);
    if (!reader) abort();
    reader->fd = -1;
    reader->path = strdup(strcmp(path, "-") == 0 ? "standard input" : path);
    reader->cache.budget = CACHE_BYTES;
    reader->zstd = ZSTD_createDCtx();
    if (!reader->path || !reader->zstd) abort();
    if (open_reader(reader, path, error, error_size)) return reader;
    vmv_reader_close(reader);
    return NULL;
}

void vmv_reader_close(struct vmv_reader *reader) {
    if (!reader) return;
    if (reader->fd >= 0) close(reader->fd);
    vmv_reader_objects_free(reader);
    vmv_cache_free(&reader->cache);
    vmv_arena_free(&reader->arena);
    vmv_out_free(&reader->stack_scratch);
    vmv_out_free(&reader->regs_scratch);
    ZSTD_freeDCtx(reader->zstd);
    free(reader->pages.chunks);
    free(reader->stacks.chunks);
    free(reader->regs.chunks);
    free(reader->chunks);
    free(reader->warning);
    free(reader->path);
    free(reader);
}

const char *vmv_reader_warning(const struct vmv_reader *reader) { return reader->warning; }
const char *vmv_reader_path(const struct vmv_reader *reader) { return reader->path; }
const struct vmv_file_header *vmv_reader_header(const struct vmv_reader *reader) { return &reader->header; }
const struct vmv_meta *vmv_reader_meta(const struct vmv_reader *reader) { return &reader->meta; }
const struct vmv_end *vmv_reader_end(const struct vmv_reader *reader) { return &reader->end; }
uint64_t vmv_reader_bytes(const struct vmv_reader *reader) { return reader->size; }
const char *vmv_reader_error(const struct vmv_reader *reader) { return reader->error; }
void vmv_reader_set_cache(struct vmv_reader *reader, size_t bytes) { vmv_cache_set_budget(&reader->cache, bytes); }

const struct vmv_chunk *vmv_reader_chunks(const struct vmv_reader *reader, size_t *count) {
    *count = reader->count;
    return reader->chunks;
}
