#include "sink_queue.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 256 * 1024 };

struct sink_block {
    struct sink_block *next;
    size_t used, read, room;
    _Alignas(16) uint8_t data[];
};

// What precedes each item in a block. A fault without a stack is kept short: storms have half a million a second.
struct head {
    uint64_t t;
    uint32_t bytes; // of the whole item, head included
    uint8_t kind;   // enum sink_item_kind, or SHORT_FAULT
};
enum { SHORT_FAULT = 100 };
struct short_fault {
    uint64_t addr, pc;
    int32_t pid, tid;
    uint32_t space;
    uint8_t kind, access, kernel, source;
};
struct long_item {
    struct vmv_event event;
    struct sink_stack stack;
    bool has_stack;
};
struct object_item {
    struct vmv_object_identity identity;
    uint32_t object;
    int fd;
};

static size_t align(size_t bytes) { return (bytes + 15) & ~(size_t)15; }

void sink_queue_init(struct sink_queue *queue) { memset(queue, 0, sizeof *queue); }

static void free_blocks(struct sink_block *block) {
    while (block) {
        struct sink_block *next = block->next;
        free(block);
        block = next;
    }
}

void sink_queue_free(struct sink_queue *queue) {
    free_blocks(queue->first);
    free_blocks(queue->spare);
    sink_queue_init(queue);
}

static struct sink_block *new_block(struct sink_queue *queue, size_t bytes) {
    struct sink_block *block = queue->spare;
    if (block && bytes <= block->room) {
        queue->spare = block->next;
    } else {
        size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        block = malloc(sizeof *block + room);
        if (!block) abort();
        block->room = room;
    }
    block->next = NULL;
    block->used = block->read = 0;
    if (queue->last) queue->last->next = block;
    if (!queue->first) queue->first = block;
    queue->last = block;
    queue->held += block->room;
    return block;
}

// Room for an item of `bytes` after the head, filled with its head.
static void *append(struct sink_queue *queue, uint64_t t, uint8_t kind, size_t bytes) {
    size_t whole = align(sizeof(struct head)) + align(bytes);
    struct sink_block *block = queue->last;
    if (!block || block->used + whole > block->room) block = new_block(queue, whole);
    struct head *head = (struct head *)(block->data + block->used);
    *head = (struct head){t, (uint32_t)whole, kind};
    block->used += whole;
    return (uint8_t *)head + align(sizeof *head);
}

static void append_short(struct sink_queue *queue, const struct vmv_event *event) {
    struct short_fault *fault = append(queue, event->t, SHORT_FAULT, sizeof *fault);
    *fault = (struct short_fault){event->addr, event->pc,     event->pid,    event->tid,   event->space,
                                  event->kind, event->access, event->kernel, event->source};
}

static size_t text_bytes(const char *text) { return text ? strlen(text) + 1 : 0; }

static size_t variable_bytes(const struct vmv_event *event, const struct sink_stack *stack) {
    size_t bytes = align(text_bytes(event->name)) + align(event->map_count * sizeof *event->maps);
    for (size_t i = 0; i < event->map_count; i++) bytes += text_bytes(event->maps[i].name);
    bytes = align(bytes) + align(event->argc * sizeof *event->argv);
    for (size_t i = 0; i < event->argc; i++) bytes += text_bytes(event->argv[i]);
    bytes = align(bytes);
    if (stack) bytes += align(stack->regs_length) + align(stack->length);
    return bytes;
}

static void *put(uint8_t **at, const void *data, size_t bytes) {
    void *place = *at;
    if (bytes) memcpy(place, data, bytes);
    *at += bytes;
    return place;
}

static void put_align(uint8_t **at) { *at = (uint8_t *)(((uintptr_t)*at + 15) & ~(uintptr_t)15); }

static const char *put_text(uint8_t **at, const char *text) { return text ? put(at, text, strlen(text) + 1) : NULL; }

static void put_maps(struct vmv_event *copy, const struct vmv_event *event, uint8_t **at) {
    if (!event->map_count) return;
    struct vmv_mapping *maps = put(at, event->maps, event->map_count * sizeof *maps);
    for (size_t i = 0; i < event->map_count; i++) maps[i].name = put_text(at, event->maps[i].name);
    put_align(at);
    copy->maps = maps;
}

static void put_argv(struct vmv_event *copy, const struct vmv_event *event, uint8_t **at) {
    if (!event->argc) return;
    const char **argv = put(at, event->argv, event->argc * sizeof *argv);
    for (size_t i = 0; i < event->argc; i++) argv[i] = put_text(at, event->argv[i]);
    put_align(at);
    copy->argv = argv;
}

void sink_queue_event(struct sink_queue *queue, const struct vmv_event *event, const struct sink_stack *stack) {
    if (event->type == VMV_EV_FAULT && !stack && !event->name) {
        append_short(queue, event);
        return;
    }
    size_t bytes = align(sizeof(struct long_item)) + variable_bytes(event, stack);
    struct long_item *item = append(queue, event->t, SINK_ITEM_EVENT, bytes);
    uint8_t *at = (uint8_t *)item + align(sizeof *item);
    item->event = *event;
    item->has_stack = stack != NULL;
    item->event.name = put_text(&at, event->name);
    put_align(&at);
    put_maps(&item->event, event, &at);
    put_argv(&item->event, event, &at);
    if (!stack) return;
    item->stack = *stack;
    item->stack.regs = put(&at, stack->regs, stack->regs_length);
    put_align(&at);
    item->stack.bytes = put(&at, stack->bytes, stack->length);
}

void sink_queue_object(struct sink_queue *queue, uint64_t t, uint32_t object,
                       const struct vmv_object_identity *identity, int fd) {
    struct object_item *item = append(queue, t, SINK_ITEM_OBJECT, align(sizeof *item) + strlen(identity->path) + 1);
    uint8_t *at = (uint8_t *)item + align(sizeof *item);
    *item = (struct object_item){*identity, object, fd};
    item->identity.path = put_text(&at, identity->path);
}

void sink_queue_frame(struct sink_queue *queue, struct sink_frame *frame) {
    struct sink_frame **item = append(queue, frame->event.t, SINK_ITEM_FRAME, sizeof *item);
    *item = frame;
}

bool sink_queue_peek(const struct sink_queue *queue, uint64_t *t) {
    const struct sink_block *block = queue->first;
    if (!block || block->read == block->used) return false;
    *t = ((const struct head *)(block->data + block->read))->t;
    return true;
}

static void take_short(struct sink_item *item, uint64_t t, const struct short_fault *fault) {
    item->kind = SINK_ITEM_EVENT;
    item->event = (struct vmv_event){.t = t,
                                     .type = VMV_EV_FAULT,
                                     .addr = fault->addr,
                                     .pc = fault->pc,
                                     .pid = fault->pid,
                                     .tid = fault->tid,
                                     .space = fault->space,
                                     .kind = fault->kind,
                                     .access = fault->access,
                                     .kernel = fault->kernel,
                                     .source = fault->source};
}

void sink_queue_take(struct sink_queue *queue, struct sink_item *item) {
    struct sink_block *block = queue->first;
    struct head *head = (struct head *)(block->data + block->read);
    void *body = (uint8_t *)head + align(sizeof *head);
    block->read += head->bytes;
    memset(item, 0, sizeof *item);
    if (head->kind == SHORT_FAULT) {
        take_short(item, head->t, body);
        return;
    }
    item->kind = (enum sink_item_kind)head->kind;
    if (item->kind == SINK_ITEM_FRAME) item->frame = *(struct sink_frame **)body;
    if (item->kind == SINK_ITEM_EVENT) {
        struct long_item *long_item = body;
        item->event = long_item->event;
        item->has_stack = long_item->has_stack;
        item->stack = long_item->stack;
    }
    if (item->kind == SINK_ITEM_OBJECT) {
        struct object_item *object = body;
        item->identity = object->identity;
        item->event.object = object->object;
        item->fd = object->fd;
    }
}

void sink_queue_release(struct sink_queue *queue) {
    struct sink_block *block = queue->first;
    if (!block || block->read < block->used) return;
    if (block == queue->last) {
        block->read = block->used = 0; // empty: start it anew
        return;
    }
    queue->first = block->next;
    queue->held -= block->room;
    if (block->room > BLOCK_BYTES || (queue->spare && queue->spare->next)) {
        free(block);
        return;
    }
    block->next = queue->spare;
    queue->spare = block;
}
