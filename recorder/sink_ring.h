// --ring: a flight recorder. Two traces are written at a time, the younger one begun when the older is half as long as
// is to be kept: when the younger is long enough, it takes the older one's place. Private to the sink's files.
#ifndef REC_SINK_RING_H
#define REC_SINK_RING_H

#include "sink.h"

struct ring_file { // of one of the two
    struct vmv_writer *writer;
    uint64_t since; // ns of the trace
    uint64_t bytes; // that it began with
};

struct ring {
    struct sink_ring options;
    struct ring_file old, young; // young.writer NULL: none yet
    unsigned kept;               // traces kept at request
    struct ring_object {         // files that are mapped, for the next trace: number i + 1
        struct vmv_object_identity identity;
        int fd;
    } * objects;
    size_t object_count, object_room;
};

void ring_init(struct ring *ring, const struct sink_ring *options, struct vmv_writer *writer);
void ring_free(struct ring *ring); // the younger trace goes, with its file
void ring_keep_object(struct ring *ring, const struct vmv_object_identity *identity, int fd); // copies both
// Whether it is time, and if so begins a trace or lets the younger one take over. Returns the writers in `writers`
// (old, then young or NULL).
void ring_turn(struct ring *ring, uint64_t now, struct vmv_writer *writers[2]);
// What is held is completed and kept beside, and recording goes on.
void ring_keep(struct ring *ring, uint64_t now, struct vmv_writer *writers[2]);

#endif
