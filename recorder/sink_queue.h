// A producer's queue: items in time order, copied into blocks that are kept and reused. Not locked: the sink locks.
#ifndef REC_SINK_QUEUE_H
#define REC_SINK_QUEUE_H

#include "sink.h"

enum sink_item_kind { SINK_ITEM_EVENT, SINK_ITEM_OBJECT, SINK_ITEM_FRAME };

struct sink_item { // as handed to the writer thread; pointers hold until sink_queue_release()
    enum sink_item_kind kind;
    struct vmv_event event;
    bool has_stack;
    struct sink_stack stack;
    struct vmv_object_identity identity;
    int fd;
    struct sink_frame *frame;
};

struct sink_block;
struct sink_queue {
    struct sink_block *first, *last; // blocks with items, oldest first
    struct sink_block *spare;
    size_t held; // bytes of blocks in use
};

void sink_queue_init(struct sink_queue *queue);
void sink_queue_free(struct sink_queue *queue);
void sink_queue_event(struct sink_queue *queue, const struct vmv_event *event, const struct sink_stack *stack);
void sink_queue_object(struct sink_queue *queue, uint64_t t, uint32_t object,
                       const struct vmv_object_identity *identity, int fd);
void sink_queue_frame(struct sink_queue *queue, struct sink_frame *frame);
bool sink_queue_peek(const struct sink_queue *queue, uint64_t *t); // time of the oldest item; false: empty
void sink_queue_take(struct sink_queue *queue, struct sink_item *item);
void sink_queue_release(struct sink_queue *queue); // the taken item's memory may be reused

#endif
