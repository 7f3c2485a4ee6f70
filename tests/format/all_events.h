// Random events of every type with every field that the type has.
#ifndef ALL_EVENTS_H
#define ALL_EVENTS_H

#include "random_events.h"

struct event_room { // what an event's pointers point to
    struct vmv_mapping maps[16];
    char names[17][40];
    const char *argv[8];
};

static inline uint64_t any_number(struct dice *dice) {
    uint64_t wide = (uint64_t)roll(dice, UINT32_MAX) << 32 | roll(dice, UINT32_MAX);
    switch (roll(dice, 5)) {
    case 0:
        return 0;
    case 1:
        return roll(dice, 300);
    case 2:
        return wide >> roll(dice, 64) & ~UINT64_C(4095);
    case 3:
        return UINT64_MAX - roll(dice, 3);
    default:
        return wide >> roll(dice, 64);
    }
}

static inline const char *any_text(struct dice *dice, char *room) {
    if (!roll(dice, 4)) return NULL;
    unsigned length = roll(dice, 39);
    for (unsigned i = 0; i < length; i++) room[i] = (char)(1 + roll(dice, 255));
    room[length] = 0;
    return room;
}

static inline void any_maps(struct dice *dice, struct vmv_event *e, struct event_room *room) {
    e->maps = room->maps;
    e->map_count = roll(dice, 16);
    for (size_t i = 0; i < e->map_count; i++) {
        struct vmv_mapping *map = &room->maps[i];
        const char *name = any_text(dice, room->names[i]);
        *map = (struct vmv_mapping){.start = any_number(dice),
                                    .end = any_number(dice),
                                    .offset = any_number(dice),
                                    .inode = any_number(dice),
                                    .dev_major = (uint32_t)any_number(dice),
                                    .dev_minor = (uint32_t)any_number(dice),
                                    .flags = (uint32_t)any_number(dice),
                                    .object = (uint32_t)any_number(dice),
                                    .name = name ? name : ""};
        if (!i || roll(dice, 2)) continue;
        map->inode = map[-1].inode; // the same file goes on
        map->dev_major = map[-1].dev_major;
        map->dev_minor = map[-1].dev_minor;
        map->object = map[-1].object;
        map->name = map[-1].name;
    }
}

static inline void any_argv(struct dice *dice, struct vmv_event *e, struct event_room *room) {
    e->argv = room->argv;
    e->argc = roll(dice, 8);
    for (size_t i = 0; i < e->argc; i++) {
        const char *text = any_text(dice, room->names[i]);
        room->argv[i] = text ? text : "";
    }
}

// Fields by the lists in event.h.
static inline void any_fields(struct dice *dice, struct vmv_event *e, struct event_room *room) {
    enum vmv_event_type type = e->type;
    bool memory = type >= VMV_EV_MMAP && type <= VMV_EV_SETNAME;
    bool file = type == VMV_EV_MMAP || type == VMV_EV_SHMAT || type == VMV_EV_PUNCH || type == VMV_EV_TRUNCATE;
    if (memory) {
        e->addr = any_number(dice);
        e->ret = (int64_t)any_number(dice);
        if (type != VMV_EV_BRK) e->len = any_number(dice);
    }
    if (file) {
        e->inode = any_number(dice);
        e->dev_major = (uint32_t)any_number(dice);
        e->dev_minor = (uint32_t)any_number(dice);
    }
    switch (type) {
    case VMV_EV_MMAP:
        e->flags = (uint32_t)any_number(dice);
        e->offset = any_number(dice); // fall through
    case VMV_EV_SHMAT:
        e->prot = (uint32_t)any_number(dice);
        e->object = (uint32_t)any_number(dice);
        e->name = any_text(dice, room->names[0]);
        break;
    case VMV_EV_MPROTECT:
    case VMV_EV_MADVISE:
        e->prot = (uint32_t)any_number(dice);
        break;
    case VMV_EV_MREMAP:
        e->old_addr = any_number(dice);
        e->old_len = any_number(dice);
        e->flags = (uint32_t)any_number(dice);
        break;
    case VMV_EV_BRK:
        e->old_addr = any_number(dice);
        break;
    case VMV_EV_REMAP:
        e->offset = any_number(dice);
        break;
    case VMV_EV_FAULT:
        e->addr = any_number(dice);
        e->pc = any_number(dice);
        e->kind = (uint8_t)roll(dice, 5);
        e->access = (uint8_t)roll(dice, 4);
        e->kernel = roll(dice, 2);
        e->source = (uint8_t)roll(dice, roll(dice, 9) ? 4 : 256);
        if (!roll(dice, 4)) e->len = any_number(dice), e->page_flags = (uint8_t)roll(dice, 32);
        break;
    case VMV_EV_FORK:
        e->child = (int32_t)any_number(dice);
        e->child_space = (uint32_t)any_number(dice);
        e->flag = roll(dice, 2);
        break;
    case VMV_EV_EXEC:
        any_argv(dice, e, room); // fall through
    case VMV_EV_SPACE:
        e->child_space = (uint32_t)any_number(dice); // fall through
    case VMV_EV_SETNAME:
    case VMV_EV_THREAD_START:
    case VMV_EV_MARK:
    case VMV_EV_NOTE:
        e->name = any_text(dice, room->names[16]);
        break;
    case VMV_EV_THREAD_EXIT:
        e->code = (int32_t)any_number(dice);
        break;
    case VMV_EV_EXIT:
        e->code = (int32_t)any_number(dice);
        e->flag = roll(dice, 2);
        break;
    case VMV_EV_SIGNAL:
        e->number = (int32_t)any_number(dice);
        e->code = (int32_t)any_number(dice);
        e->addr = any_number(dice);
        e->flag = roll(dice, 2);
        break;
    case VMV_EV_WATCH:
        e->addr = any_number(dice);
        e->len = any_number(dice);
        e->pc = any_number(dice);
        for (int i = 0; i < 8; i++) e->before[i] = (uint8_t)roll(dice, 256), e->after[i] = (uint8_t)roll(dice, 2);
        e->known = (uint8_t)roll(dice, 4);
        break;
    case VMV_EV_GAP:
        e->to = any_number(dice);
        e->name = any_text(dice, room->names[0]);
        break;
    case VMV_EV_GOVERNOR:
        e->number = (int32_t)any_number(dice);
        e->name = any_text(dice, room->names[0]);
        break;
    case VMV_EV_MAPS:
        e->addr = any_number(dice);
        e->len = any_number(dice);
        any_maps(dice, e, room);
        break;
    case VMV_EV_FRAME:
        e->frame = any_number(dice);
        e->why = (uint8_t)roll(dice, 4);
        e->pause_ns = any_number(dice);
        e->pages_written = any_number(dice);
        e->torn = any_number(dice);
        break;
    case VMV_EV_PAGES:
        e->addr = any_number(dice);
        e->len = any_number(dice);
        e->state = (uint8_t)roll(dice, 6);
        e->page_flags = (uint8_t)roll(dice, 32);
        break;
    case VMV_EV_CONTENT:
        e->addr = any_number(dice);
        e->len = any_number(dice);
        e->content = any_number(dice);
        e->content_step = (uint8_t)roll(dice, 2);
        e->certainty = (uint8_t)roll(dice, 5);
        break;
    case VMV_EV_THREAD:
        e->state = (uint8_t)roll(dice, 4);
        e->name = any_text(dice, room->names[0]);
        e->syscall = (int64_t)any_number(dice);
        e->pc = any_number(dice);
        e->sp = any_number(dice);
        e->fp = any_number(dice);
        e->regs = any_number(dice);
        e->run_ns = any_number(dice);
        e->certainty = (uint8_t)roll(dice, 5);
        break;
    default:
        break;
    }
}

static inline struct vmv_event any_event(struct dice *dice, struct event_room *room) {
    struct vmv_event e = {.t = any_number(dice)};
    do e.type = (enum vmv_event_type)roll(dice, VMV_EV_TYPE_COUNT);
    while (!vmv_event_name(e.type));
    if (!roll(dice, 3)) e.type = VMV_EV_FAULT;
    if (roll(dice, 2)) {
        e.space = 1 + roll(dice, 3);
        e.pid = 100;
        e.tid = 100 + (int32_t)roll(dice, 3);
    } else {
        e.space = (uint32_t)any_number(dice);
        e.pid = (int32_t)any_number(dice);
        e.tid = (int32_t)any_number(dice);
    }
    if (!roll(dice, 3)) e.stack = any_number(dice);
    any_fields(dice, &e, room);
    return e;
}

#endif
