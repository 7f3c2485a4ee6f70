// Stands in for the recorder's sink: keeps the events of one producer, and checks what producers promise.
#ifndef TEST_FAKE_SINK_H
#define TEST_FAKE_SINK_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sink.h"

struct kept_event {
    struct vmv_event event;
    bool has_stack;
    size_t regs_length, length;
    uint64_t sp;
    uint8_t regs[256], bytes[64]; // the beginning of both
    char text[160];
};

struct sink {
    struct kept_event *events;
    size_t count, room;
    bool count_only; // keeps nothing
    uint64_t advanced, last_t, faults;
    size_t out_of_order; // events whose time fell, or lay before what was promised
    bool done;
    pthread_mutex_t lock;
};
struct sink_producer {
    struct sink *sink;
};
static struct sink fake_sink = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct sink_producer fake_producer = {&fake_sink};

static inline void fake_sink_reset(bool count_only) {
    free(fake_sink.events);
    fake_sink = (struct sink){.lock = PTHREAD_MUTEX_INITIALIZER, .count_only = count_only};
}

struct sink_producer *sink_producer_create(struct sink *sink, const char *name) {
    return &fake_producer;
}

void sink_event(struct sink_producer *producer, const struct vmv_event *event, const struct sink_stack *stack) {
    struct sink *s = producer->sink;
    pthread_mutex_lock(&s->lock);
    s->out_of_order += event->t < s->last_t || event->t < s->advanced;
    s->last_t = event->t;
    s->faults += event->type == VMV_EV_FAULT;
    if (!s->count_only) {
        if (s->count == s->room) {
            s->room = s->room ? s->room * 2 : 4096;
            s->events = realloc(s->events, s->room * sizeof *s->events);
        }
        struct kept_event *kept = &s->events[s->count++];
        memset(kept, 0, sizeof *kept);
        kept->event = *event;
        if (event->name) strncpy(kept->text, event->name, sizeof kept->text - 1);
        kept->event.name = kept->text;
        if (stack) {
            kept->has_stack = true;
            kept->sp = stack->sp;
            kept->length = stack->length;
            kept->regs_length = stack->regs_length;
            size_t regs = stack->regs_length < sizeof kept->regs ? stack->regs_length : sizeof kept->regs;
            size_t bytes = stack->length < sizeof kept->bytes ? stack->length : sizeof kept->bytes;
            if (regs) memcpy(kept->regs, stack->regs, regs);
            if (bytes) memcpy(kept->bytes, stack->bytes, bytes);
        }
    }
    pthread_mutex_unlock(&s->lock);
}

void sink_advance(struct sink_producer *producer, uint64_t t) {
    pthread_mutex_lock(&producer->sink->lock);
    if (t > producer->sink->advanced) producer->sink->advanced = t;
    pthread_mutex_unlock(&producer->sink->lock);
}

void sink_wait_room(struct sink_producer *producer) { (void)producer; }

void sink_producer_done(struct sink_producer *producer) { producer->sink->done = true; }

uint64_t sink_now(const struct sink *sink) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t sink_time(const struct sink *sink, uint64_t monotonic_ns) { return monotonic_ns; }

#endif
