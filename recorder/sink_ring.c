#include "sink_ring.h"

#include "carry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void young_path(const struct ring *ring, char path[4096 + 16]) {
    snprintf(path, 4096 + 16, "%s.next", ring->options.path);
}

void ring_init(struct ring *ring, const struct sink_ring *options, struct vmv_writer *writer) {
    *ring = (struct ring){.options = *options, .old = {.writer = writer}};
}

static void discard(struct vmv_writer *writer) {
    struct vmv_end end = {0};
    if (!writer) return;
    vmv_writer_give_up_objects(writer);
    vmv_writer_finish(writer, &end);
}

void ring_free(struct ring *ring) {
    char path[4096 + 16];
    if (ring->young.writer) {
        discard(ring->young.writer);
        young_path(ring, path);
        unlink(path);
    }
    for (size_t i = 0; i < ring->object_count; i++) {
        free((char *)ring->objects[i].identity.path);
        if (ring->objects[i].fd >= 0) close(ring->objects[i].fd);
    }
    free(ring->objects);
}

void ring_keep_object(struct ring *ring, const struct vmv_object_identity *identity, int fd) {
    if (ring->object_count == ring->object_room) {
        ring->object_room = ring->object_room * 2 + 32;
        ring->objects = realloc(ring->objects, ring->object_room * sizeof *ring->objects);
        if (!ring->objects) abort();
    }
    struct ring_object *object = &ring->objects[ring->object_count++];
    *object = (struct ring_object){*identity, fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3)};
    object->identity.path = strdup(identity->path);
    if (!object->identity.path) abort();
}

// The younger one, from what is known now. Where it cannot be begun (a full disk), the older one goes on alone.
static void begin_young(struct ring *ring, uint64_t now) {
    char path[4096 + 16], error[256], why[96];
    young_path(ring, path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return;
    struct vmv_writer *writer = ring->options.begin(ring->options.user, fd, error, sizeof error);
    if (!writer) {
        unlink(path);
        return;
    }
    for (size_t i = 0; i < ring->object_count; i++) {
        int copy = ring->objects[i].fd < 0 ? -1 : fcntl(ring->objects[i].fd, F_DUPFD_CLOEXEC, 3);
        vmv_writer_object(writer, &ring->objects[i].identity, copy);
    }
    snprintf(why, sizeof why, "--ring: what came before was not kept");
    carry_over(writer, ring->old.writer, ring->options.path, now, why);
    ring->young = (struct ring_file){writer, now, vmv_writer_bytes_due(writer)};
}

static void take_over(struct ring *ring) {
    char path[4096 + 16];
    young_path(ring, path);
    if (rename(path, ring->options.path) != 0) return;
    discard(ring->old.writer);
    ring->old = ring->young;
    ring->young = (struct ring_file){0};
}

// What a trace has grown since it began with what it carried over.
static uint64_t grown(const struct ring_file *file) {
    uint64_t bytes = vmv_writer_bytes_due(file->writer);
    return bytes > file->bytes ? bytes - file->bytes : 0;
}

static bool old_is_half(const struct ring *ring, uint64_t now) {
    const struct sink_ring *options = &ring->options;
    if (options->ns) return now - ring->old.since >= options->ns;
    return vmv_writer_bytes_due(ring->old.writer) >= options->bytes / 2 && grown(&ring->old) >= options->bytes / 4;
}

static bool young_is_enough(const struct ring *ring, uint64_t now) {
    const struct sink_ring *options = &ring->options;
    if (options->ns) return now - ring->young.since >= options->ns;
    return vmv_writer_bytes_due(ring->old.writer) >= options->bytes && grown(&ring->young) >= options->bytes / 8;
}

static void tell(const struct ring *ring, struct vmv_writer *writers[2]) {
    writers[0] = ring->old.writer;
    writers[1] = ring->young.writer;
}

void ring_turn(struct ring *ring, uint64_t now, struct vmv_writer *writers[2]) {
    if (ring->young.writer && young_is_enough(ring, now)) take_over(ring);
    if (!ring->young.writer && old_is_half(ring, now)) begin_young(ring, now);
    tell(ring, writers);
}

void ring_keep(struct ring *ring, uint64_t now, struct vmv_writer *writers[2]) {
    char path[4096 + 16], kept[4096 + 32];
    struct vmv_end end = {.duration_ns = now};
    if (!ring->young.writer) begin_young(ring, now);
    tell(ring, writers);
    if (!ring->young.writer) return;
    snprintf(kept, sizeof kept, "%s.%u", ring->options.path, ++ring->kept);
    young_path(ring, path);
    if (rename(ring->options.path, kept) != 0 || rename(path, ring->options.path) != 0) return;
    vmv_writer_finish(ring->old.writer, &end);
    ring->old = ring->young;
    ring->young = (struct ring_file){0};
    tell(ring, writers);
}
