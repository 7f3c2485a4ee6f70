// The same meaning of events, written page by page over a few small areas, slow and plain: what the real address space
// is compared with. It knows no stacks that grow (those have tests of their own).
#ifndef NAIVE_SPACE_H
#define NAIVE_SPACE_H

#include <stdio.h>
#include <string.h>

#include "space.h"

enum { AREA_PAGES = 96, AREAS = 4, NAIVE_PAGES = AREA_PAGES * AREAS, PAGE = 4096 };
// The second lies across a border of leaves, the third high, the last at the end of what pages may have.
static const uint64_t area_base[AREAS] = {0x10000, 0x40000000 - 40 * PAGE, 0x7fffff000000,
                                          (UINT64_C(1) << 56) - AREA_PAGES *PAGE};

struct naive_page {
    bool mapped;
    uint32_t flags, object, dev_minor;
    uint64_t inode, offset;
    char name[24];
    bool dontfork, wipeonfork;
    struct vmv_page page;
};
struct naive {
    struct naive_page pages[NAIVE_PAGES];
    uint64_t brk;
};

static inline uint64_t naive_addr(unsigned i) { return area_base[i / AREA_PAGES] + (uint64_t)(i % AREA_PAGES) * PAGE; }

static inline int naive_index(uint64_t addr) { // -1: outside
    for (int a = 0; a < AREAS; a++)
        if (addr >= area_base[a] && addr < area_base[a] + AREA_PAGES * PAGE)
            return a * AREA_PAGES + (int)((addr - area_base[a]) / PAGE);
    return -1;
}

static inline bool naive_file(const struct naive_page *p) { return p->inode || (p->flags & VMV_MAP_SHARED); }
static inline bool naive_shared(const struct naive_page *p) { return p->flags & VMV_MAP_SHARED; }
static inline bool naive_known(const struct vmv_page *p) { return p->state || p->content; }
static inline void naive_forget(struct vmv_page *p) {
    p->content = p->captured = 0;
    p->certainty = 0;
}

static inline void naive_gone(struct naive_page *p) {
    if (!naive_known(&p->page) || p->page.state == VMV_PAGE_GUARD) return;
    p->page.state = VMV_PAGE_ABSENT;
    p->page.flags = naive_file(p) ? VMV_PAGEF_FILE : 0;
    p->page.armed = 0;
    if (!naive_shared(p)) naive_forget(&p->page);
}

static inline void naive_zero(struct vmv_page *p, uint64_t t) {
    p->content = VMV_CONTENT_ZERO;
    p->captured = t;
    p->certainty = VMV_CERT_EXACT;
}

#define NAIVE_EACH(p, from, length)                                                                                    \
    for (int i_ = naive_index(from), n_ = 0; (uint64_t)n_ * PAGE < (length); n_++)                                     \
        for (struct naive_page *p = &naive->pages[i_ + n_]; p; p = NULL)

static inline void naive_map(struct naive *naive, uint64_t at, uint64_t length, struct naive_page like) {
    NAIVE_EACH(p, at, length) {
        *p = like;
        p->mapped = true;
        if (naive_file(&like)) p->offset = like.offset + (uint64_t)n_ * PAGE;
    }
}

static inline void naive_unmap(struct naive *naive, uint64_t at, uint64_t length) {
    NAIVE_EACH(p, at, length) *p = (struct naive_page){0};
}

static inline void naive_mremap(struct naive *naive, const struct vmv_event *e) {
    uint64_t to = (uint64_t)e->ret;
    struct naive_page old[AREA_PAGES] = {0}, *from = &naive->pages[naive_index(e->old_addr)];
    unsigned count = (unsigned)(e->old_len / PAGE), target = (unsigned)(e->len / PAGE);
    memcpy(old, from, (count ? count : 1) * sizeof *old);
    if (!count) { // the same memory once more
        struct naive_page like = old[0];
        like.page = (struct vmv_page){0};
        if (!like.mapped) return;
        if (!strcmp(like.name, "[heap]") && to != e->old_addr) like.name[0] = 0;
        return naive_map(naive, to, e->len, like);
    }
    for (unsigned i = 0; to != e->old_addr && i < count && i < target; i++) {
        struct naive_page *p = &naive->pages[naive_index(to) + (int)i];
        if (!old[i].mapped) continue; // a hole moves nothing
        *p = old[i];
        if (!strcmp(p->name, "[heap]")) p->name[0] = 0;
    }
    if (target > count) {
        struct naive_page like = old[count - 1];
        like.page = (struct vmv_page){0};
        like.offset += naive_file(&like) ? PAGE : 0;
        if (to != e->old_addr && !strcmp(like.name, "[heap]")) like.name[0] = 0;
        if (like.mapped) naive_map(naive, to + count * PAGE, e->len - count * PAGE, like);
    }
    if (to == e->old_addr && target < count) naive_unmap(naive, to + e->len, e->old_len - e->len);
    if (to == e->old_addr) return;
    for (unsigned i = 0; i < count; i++) {
        if (!(e->flags & 4))
            from[i] = (struct naive_page){0};
        else if (i < target && old[i].mapped)
            from[i].page = (struct vmv_page){0}, from[i].dontfork = from[i].wipeonfork = false;
    }
}

static inline void naive_punch(struct naive *naive, const struct vmv_event *e, uint64_t from, uint64_t to) {
    for (int i = 0; i < NAIVE_PAGES; i++) {
        struct naive_page *p = &naive->pages[i];
        bool punched = e->type != VMV_EV_TRUNCATE;
        if (!p->mapped || p->inode != e->inode || p->dev_minor != e->dev_minor || !naive_known(&p->page)) continue;
        if (p->offset + PAGE <= from || p->offset >= to) continue;
        if (p->offset < from || p->offset + PAGE > to) { // in part
            if (p->page.certainty) p->page.certainty = VMV_CERT_STALE;
            continue;
        }
        if (p->page.state == VMV_PAGE_GUARD) continue;
        bool in_memory = p->page.state == VMV_PAGE_RESIDENT || p->page.state == VMV_PAGE_ZERO;
        if (punched && !naive_shared(p) && in_memory && !(p->page.flags & VMV_PAGEF_FILE)) continue;
        naive_gone(p);
        naive_forget(&p->page);
        if (punched && naive_shared(p)) naive_zero(&p->page, e->t);
        if (!naive_known(&p->page)) p->page = (struct vmv_page){0};
    }
}

static inline void naive_advise(struct naive *naive, const struct vmv_event *e) {
    if (e->prot == 9) { // each piece is a hole in its file; what is punched does not depend on pages
        struct naive_page now[AREA_PAGES];
        memcpy(now, &naive->pages[naive_index(e->addr)], e->len / PAGE * sizeof *now);
        for (unsigned i = 0; i < e->len / PAGE; i++) {
            struct vmv_event hole = {
                .type = VMV_EV_PUNCH, .t = e->t, .inode = now[i].inode, .dev_minor = now[i].dev_minor};
            if (now[i].mapped && naive_shared(&now[i]) && now[i].inode)
                naive_punch(naive, &hole, now[i].offset, now[i].offset + PAGE);
        }
        return;
    }
    NAIVE_EACH(p, e->addr, e->len) {
        if (!p->mapped) continue;
        switch (e->prot) {
        case 4:
            naive_gone(p);
            break;
        case 8:
            if (!naive_file(p) && p->page.certainty) p->page.certainty = VMV_CERT_STALE;
            break;
        case 10:
            p->dontfork = true;
            break;
        case 11:
            p->dontfork = false;
            break;
        case 18:
            p->wipeonfork = true;
            break;
        case 19:
            p->wipeonfork = false;
            break;
        case 102:
            p->page = (struct vmv_page){.state = VMV_PAGE_GUARD, .written = p->page.written, .writes = p->page.writes};
            break;
        case 103:
            if (p->page.state == VMV_PAGE_GUARD) p->page.state = VMV_PAGE_ABSENT;
            break;
        }
    }
}

static inline void naive_fault(struct naive *naive, const struct vmv_event *e) {
    struct naive_page *p = &naive->pages[naive_index(e->addr)];
    bool writes = e->access == VMV_ACCESS_WRITE || e->kind == VMV_FAULT_WRITE, shared = naive_shared(p);
    bool reads = e->access == VMV_ACCESS_READ || e->access == VMV_ACCESS_EXEC;
    if (!p->mapped || !(p->flags & 7) || p->page.state == VMV_PAGE_GUARD) return;
    if (writes && !(p->flags & 2) && e->kind == VMV_FAULT_UNKNOWN) return;
    if (p->page.state != VMV_PAGE_RESIDENT && p->page.state != VMV_PAGE_ZERO) {
        bool fresh = p->page.state != VMV_PAGE_SWAPPED && !shared;
        p->page.state = VMV_PAGE_RESIDENT;
        p->page.flags &= VMV_PAGEF_FILE;
        if (fresh) naive_forget(&p->page);
        if (fresh && !naive_file(p) && reads) p->page.state = VMV_PAGE_ZERO, naive_zero(&p->page, e->t);
        if (!naive_file(p) || e->kind == VMV_FAULT_FIRST_TOUCH) p->page.flags = 0;
        if (e->kind == VMV_FAULT_FILE) p->page.flags |= VMV_PAGEF_FILE;
        if (e->kind == VMV_FAULT_POPULATED) p->page.flags |= VMV_PAGEF_POPULATED;
    }
    if (writes) {
        p->page.state = VMV_PAGE_RESIDENT;
        p->page.armed = 0;
        if (!shared) p->page.flags &= (uint8_t)~VMV_PAGEF_FILE;
        p->page.written = e->t;
        p->page.flags |= VMV_PAGEF_WRITTEN;
        p->page.writes++;
    } else if (!e->access && !e->kind) {
        p->page.armed = 0;
        if (p->page.certainty) p->page.certainty = VMV_CERT_STALE;
    }
}

static inline void naive_run(struct naive *naive, const struct vmv_event *e) {
    NAIVE_EACH(p, e->addr, e->len) {
        struct vmv_page *page = &p->page;
        if (e->type == VMV_EV_CONTENT) {
            if (e->content == VMV_CONTENT_NONE) {
                naive_forget(page);
            } else {
                page->content = e->content + (e->content_step ? (uint64_t)n_ : 0);
                page->captured = e->t;
                page->certainty = e->certainty;
                page->flags &= (uint8_t)~VMV_PAGEF_SKIPPED;
            }
        } else if (e->state == VMV_PAGE_UNKNOWN) {
            *page = (struct vmv_page){0};
        } else if (e->state == VMV_PAGE_ABSENT) {
            if (p->mapped && page->state == VMV_PAGE_GUARD) page->state = VMV_PAGE_SWAPPED;
            if (p->mapped) naive_gone(p);
        } else {
            bool open_to_writes = e->page_flags & (VMV_PAGEF_HUGE | VMV_PAGEF_UNARMED);
            bool by_fault = page->flags & VMV_PAGEF_WRITTEN && page->armed == 0; // this interval's write was counted
            page->state = e->state;
            page->flags = e->page_flags;
            page->armed = (e->state == VMV_PAGE_RESIDENT || e->state == VMV_PAGE_ZERO) && !open_to_writes;
            if (e->state == VMV_PAGE_GUARD) naive_forget(page);
            if (e->state == VMV_PAGE_ZERO) naive_zero(page, e->t);
            if (e->page_flags & VMV_PAGEF_WRITTEN) {
                page->written = e->t;
                page->writes += open_to_writes || !by_fault;
            }
        }
        if (!naive_known(page)) *page = (struct vmv_page){0};
    }
}

static inline void naive_maps(struct naive *naive, const struct vmv_event *e) {
    struct naive_page fresh[AREA_PAGES] = {0};
    uint64_t start = e->addr, end = e->addr + e->len;
    for (size_t m = 0; m < e->map_count; m++) {
        const struct vmv_mapping *map = &e->maps[m];
        for (uint64_t at = map->start; at < map->end; at += PAGE) {
            struct naive_page *p = &fresh[(at - start) / PAGE], *old = &naive->pages[naive_index(at)];
            *p = (struct naive_page){.mapped = true,
                                     .flags = map->flags,
                                     .object = map->object,
                                     .inode = map->inode,
                                     .dev_minor = map->dev_minor};
            snprintf(p->name, sizeof p->name, "%s", map->name);
            if (naive_file(p)) p->offset = map->offset + (at - map->start);
            bool same = old->mapped && old->inode == p->inode && old->dev_minor == p->dev_minor &&
                        naive_shared(old) == naive_shared(p) && (!naive_file(p) || old->offset == p->offset);
            if (!same) continue;
            p->page = old->page;
            p->dontfork = old->dontfork;
            p->wipeonfork = old->wipeonfork;
        }
    }
    NAIVE_EACH(p, start, end - start) *p = fresh[n_];
}

static inline void naive_setname(struct naive *naive, const struct vmv_event *e) {
    NAIVE_EACH(p, e->addr, e->len) {
        bool named = !strncmp(p->name, "[anon:", 6);
        bool memory = !strncmp(p->name, "[anon_shmem:", 12) || !strcmp(p->name, "/dev/zero (deleted)");
        bool some = e->name && e->name[0];
        if (!p->mapped) continue;
        bool nameless = !naive_file(p) && (!p->name[0] || named);
        const char *plain = memory ? "/dev/zero (deleted)" : "";
        if (memory || nameless) snprintf(p->name, sizeof p->name, "%s", plain);
        if ((memory || nameless) && some)
            snprintf(p->name, sizeof p->name, memory ? "[anon_shmem:%.8s]" : "[anon:%.8s]", e->name);
    }
}

static inline void naive_apply(struct naive *naive, const struct vmv_event *e) {
    struct naive_page like = {.inode = e->inode, .dev_minor = e->dev_minor, .object = e->object, .flags = e->prot & 7};
    snprintf(like.name, sizeof like.name, "%s", e->name ? e->name : "");
    switch (e->type) {
    case VMV_EV_MMAP:
        if (e->ret < 0) return;
        if ((e->flags & 15) != 2) like.flags |= VMV_MAP_SHARED;
        like.offset = e->flags & 0x20 ? 0 : e->offset;
        naive_map(naive, (uint64_t)e->ret, (e->len + PAGE - 1) & ~(uint64_t)(PAGE - 1), like);
        return;
    case VMV_EV_SHMAT:
        like.flags |= VMV_MAP_SHARED;
        naive_map(naive, (uint64_t)e->ret, e->len, like);
        return;
    case VMV_EV_SHMDT: {
        struct naive_page first = {0};
        NAIVE_EACH(p, e->addr, e->len) if (!first.mapped) first = *p;
        NAIVE_EACH(p, e->addr, e->len)
        if (p->mapped && naive_shared(p) && p->inode == first.inode && !strcmp(p->name, first.name) &&
            p->offset == (uint64_t)n_ * PAGE)
            *p = (struct naive_page){0};
        return;
    }
    case VMV_EV_MUNMAP:
        return naive_unmap(naive, e->addr, (e->len + PAGE - 1) & ~(uint64_t)(PAGE - 1));
    case VMV_EV_MREMAP:
        return naive_mremap(naive, e);
    case VMV_EV_MPROTECT:
        NAIVE_EACH(p, e->addr, e->len) if (p->mapped) p->flags = (p->flags & ~7u) | (e->prot & 7);
        return;
    case VMV_EV_MADVISE:
        return naive_advise(naive, e);
    case VMV_EV_BRK: {
        uint64_t old = (e->old_addr + PAGE - 1) & ~(uint64_t)(PAGE - 1);
        uint64_t now = ((uint64_t)e->ret + PAGE - 1) & ~(uint64_t)(PAGE - 1);
        like = (struct naive_page){.flags = 3, .name = "[heap]"};
        if (now > old) naive_map(naive, old, now - old, like);
        if (now < old) naive_unmap(naive, now, old - now);
        return;
    }
    case VMV_EV_REMAP:
        like = naive->pages[naive_index(e->addr)];
        like.offset = e->offset;
        like.dontfork = like.wipeonfork = false;
        like.page = (struct vmv_page){0};
        if (like.mapped) naive_map(naive, e->addr, e->len, like);
        return;
    case VMV_EV_PUNCH:
        return naive_punch(naive, e, e->addr, e->addr + e->len);
    case VMV_EV_TRUNCATE:
        return naive_punch(naive, e, e->addr, UINT64_MAX);
    case VMV_EV_SETNAME:
        return naive_setname(naive, e);
    case VMV_EV_FAULT:
        return naive_fault(naive, e);
    case VMV_EV_PAGES:
    case VMV_EV_CONTENT:
        return naive_run(naive, e);
    case VMV_EV_MAPS:
        return naive_maps(naive, e);
    default:
        return;
    }
}

// As fork leaves it to the child, whose mappings are `maps`.
static inline void naive_fork(struct naive *naive, const struct vmv_mapping *maps, size_t count) {
    for (int i = 0; i < NAIVE_PAGES; i++) {
        struct naive_page *p = &naive->pages[i];
        if (p->dontfork)
            *p = (struct naive_page){0};
        else if (p->wipeonfork && naive_known(&p->page))
            p->page = (struct vmv_page){.state = VMV_PAGE_ABSENT};
    }
    for (size_t m = 0; m < count; m++) {
        uint64_t length = maps[m].end - maps[m].start;
        bool copied = !maps[m].inode && !(maps[m].flags & VMV_MAP_SHARED);
        NAIVE_EACH(p, maps[m].start, length) {
            bool own = p->page.state == VMV_PAGE_SWAPPED || p->page.state == VMV_PAGE_GUARD;
            own |= p->page.state == VMV_PAGE_RESIDENT && !(p->page.flags & VMV_PAGEF_FILE);
            copied |= own && !naive_shared(p);
        }
        if (!copied) NAIVE_EACH(p, maps[m].start, length) naive_gone(p);
    }
}

#endif
