// Random events that the areas of naive_space.h have room for.
#ifndef RANDOM_EVENTS_H
#define RANDOM_EVENTS_H

#include "naive_space.h"

struct dice {
    uint64_t state;
};
static inline uint32_t roll(struct dice *dice, uint32_t sides) {
    dice->state ^= dice->state << 13;
    dice->state ^= dice->state >> 7;
    dice->state ^= dice->state << 17;
    return (uint32_t)((dice->state >> 11) % sides);
}

static const struct random_file {
    uint64_t inode;
    uint32_t dev_minor;
    const char *name;
} random_files[] = {{0, 0, ""}, {11, 1, "/lib/a.so"}, {12, 1, "/lib/b.so"}, {11, 2, "/data"}, {0, 0, "[anon:x]"}};

struct random_maps {
    struct vmv_mapping list[AREA_PAGES];
};

// A range of 1 to `most` pages inside one area.
static inline void random_range(struct dice *dice, unsigned most, uint64_t *addr, uint64_t *len) {
    unsigned area = roll(dice, AREAS), first = roll(dice, AREA_PAGES), pages = 1 + roll(dice, most);
    if (pages > AREA_PAGES - first) pages = AREA_PAGES - first;
    *addr = area_base[area] + (uint64_t)first * PAGE;
    *len = (uint64_t)pages * PAGE;
}

static inline void random_identity(struct dice *dice, struct vmv_event *e) {
    const struct random_file *file = &random_files[roll(dice, 5)];
    e->inode = file->inode;
    e->dev_minor = file->dev_minor;
    e->name = file->name;
    e->object = file->inode ? (uint32_t)(file->inode * 10 + file->dev_minor) : 0;
    e->flags = file->inode ? (roll(dice, 2) ? 1 : 2) : (roll(dice, 6) ? 0x22 : 0x21);
    if (file->inode) e->offset = (uint64_t)roll(dice, 8) * PAGE;
    if (e->flags == 0x21) { // shared memory is a file by name
        e->inode = 70;
        e->name = "/dev/zero (deleted)";
    }
    static const uint32_t prots[] = {0, 1, 3, 3, 3, 5};
    e->prot = prots[roll(dice, 6)];
}

static inline void random_mremap(struct dice *dice, struct vmv_event *e) {
    uint64_t room;
    random_range(dice, 12, &e->old_addr, &e->old_len);
    random_range(dice, 16, &e->addr, &e->len);
    e->ret = (int64_t)e->addr;
    e->flags = 3;
    switch (roll(dice, 5)) {
    case 0: // in place
        room = area_base[naive_index(e->old_addr) / AREA_PAGES] + AREA_PAGES * PAGE - e->old_addr;
        e->ret = (int64_t)e->old_addr;
        if (e->len > room) e->len = room;
        e->flags = 1;
        break;
    case 1:
        e->old_len = 0;
        break;
    case 2:
        if (e->len > e->old_len) e->len = e->old_len;
        e->old_len = e->len;
        e->flags = 7;
        break;
    }
}

static inline void random_maps_event(struct dice *dice, struct vmv_event *e, struct random_maps *maps,
                                     const struct naive *naive) {
    random_range(dice, 40, &e->addr, &e->len);
    e->maps = maps->list;
    uint64_t at = e->addr, end = e->addr + e->len;
    while (at < end) {
        uint64_t length = (1 + roll(dice, 8)) * (uint64_t)PAGE;
        if (length > end - at) length = end - at;
        const struct naive_page *old = &naive->pages[naive_index(at)];
        struct vmv_event like = {0};
        random_identity(dice, &like);
        struct vmv_mapping map = {.start = at,
                                  .end = at + length,
                                  .offset = like.offset,
                                  .inode = like.inode,
                                  .dev_minor = like.dev_minor,
                                  .object = like.object,
                                  .name = like.name,
                                  .flags = (like.prot & 7) | ((like.flags & 15) == 1 ? VMV_MAP_SHARED : 0)};
        if (old->mapped && roll(dice, 2)) { // as it was
            map.offset = old->offset;
            map.inode = old->inode;
            map.dev_minor = old->dev_minor;
            map.object = old->object;
            map.flags = old->flags;
            map.name = old->name;
        }
        if (roll(dice, 4)) maps->list[e->map_count++] = map;
        at += length;
    }
}

static inline void random_fault(struct dice *dice, struct vmv_event *e) {
    e->type = VMV_EV_FAULT;
    random_range(dice, 1, &e->addr, &e->len);
    e->addr += roll(dice, PAGE);
    e->len = 0;
    e->kind = (uint8_t)roll(dice, 5);
    e->access = (uint8_t)roll(dice, 4);
    e->pc = 0x401000 + roll(dice, 64);
    e->source = 1;
}

static inline void random_run(struct dice *dice, struct vmv_event *e) {
    random_range(dice, 30, &e->addr, &e->len);
    if (roll(dice, 2)) {
        e->type = VMV_EV_PAGES;
        e->state = (uint8_t)roll(dice, 6);
        e->page_flags = (uint8_t)roll(dice, 32);
        return;
    }
    e->type = VMV_EV_CONTENT;
    static const uint64_t numbers[] = {VMV_CONTENT_NONE, VMV_CONTENT_ZERO, VMV_CONTENT_FILE};
    e->content = roll(dice, 2) ? numbers[roll(dice, 3)] : VMV_CONTENT_FIRST + roll(dice, 1000);
    e->content_step = e->content >= VMV_CONTENT_FIRST && roll(dice, 3);
    e->certainty = roll(dice, 2) ? VMV_CERT_EXACT : VMV_CERT_TORN;
}

// `maps` holds the mappings of a MAPS event; `naive` only helps to make events that continue what is there.
static inline struct vmv_event random_event(struct dice *dice, uint64_t t, struct random_maps *maps,
                                            const struct naive *naive, uint64_t *brk) {
    static const uint32_t advice[] = {4, 4, 4, 8, 9, 10, 11, 18, 19, 24, 14, 102, 103};
    struct vmv_event e = {.t = t, .space = 1, .pid = 100, .tid = 100};
    uint32_t what = roll(dice, 100);
    if (what < 20) {
        e.type = VMV_EV_MMAP;
        random_range(dice, 24, &e.addr, &e.len);
        e.ret = (int64_t)e.addr;
        random_identity(dice, &e);
        if (!roll(dice, 4)) e.len -= roll(dice, PAGE - 1); // as programs ask: not whole pages
        if (!roll(dice, 20)) e.ret = -12;
    } else if (what < 26) {
        e.type = VMV_EV_MUNMAP;
        random_range(dice, 30, &e.addr, &e.len);
    } else if (what < 34) {
        e.type = VMV_EV_MREMAP;
        random_mremap(dice, &e);
        bool apart = e.ret + (int64_t)e.len <= (int64_t)e.old_addr || (int64_t)(e.old_addr + e.old_len) <= e.ret;
        if ((uint64_t)e.ret != e.old_addr && e.old_len && !apart) e.type = VMV_EV_NONE;
    } else if (what < 42) {
        e.type = VMV_EV_MPROTECT;
        random_range(dice, 20, &e.addr, &e.len);
        e.prot = roll(dice, 8);
    } else if (what < 52) {
        e.type = VMV_EV_MADVISE;
        random_range(dice, 24, &e.addr, &e.len);
        e.prot = advice[roll(dice, 12)];
        if (e.prot == 24) e.prot = 4;
    } else if (what < 55) {
        e.type = VMV_EV_BRK;
        e.old_addr = *brk;
        *brk = area_base[0] + roll(dice, AREA_PAGES * PAGE);
        e.ret = (int64_t)*brk;
    } else if (what < 58) {
        e.type = VMV_EV_SETNAME;
        random_range(dice, 12, &e.addr, &e.len);
        e.name = roll(dice, 3) ? "y" : "";
    } else if (what < 60) {
        e.type = VMV_EV_REMAP;
        random_range(dice, 4, &e.addr, &e.len);
        e.offset = (uint64_t)roll(dice, 8) * PAGE;
    } else if (what < 62) {
        e.type = roll(dice, 2) ? VMV_EV_PUNCH : VMV_EV_TRUNCATE;
        const struct random_file *file = &random_files[1 + roll(dice, 3)];
        e.inode = file->inode;
        e.dev_minor = file->dev_minor;
        e.addr = roll(dice, 12 * PAGE);
        if (e.type == VMV_EV_PUNCH) e.len = 1 + roll(dice, 12 * PAGE);
    } else if (what < 64) {
        e.type = roll(dice, 2) ? VMV_EV_SHMAT : VMV_EV_SHMDT;
        random_range(dice, 10, &e.addr, &e.len);
        e.ret = e.type == VMV_EV_SHMAT ? (int64_t)e.addr : 0;
        e.prot = e.type == VMV_EV_SHMAT ? 3 : 0;
        e.inode = e.type == VMV_EV_SHMAT ? 5 + roll(dice, 2) : 0;
        e.name = e.type == VMV_EV_SHMAT ? "/SYSV00000000 (deleted)" : NULL;
    } else if (what < 66) {
        e.type = VMV_EV_MAPS;
        random_maps_event(dice, &e, maps, naive);
    } else if (what < 84) {
        random_fault(dice, &e);
    } else {
        random_run(dice, &e);
    }
    return e;
}

#endif
