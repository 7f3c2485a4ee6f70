// The address space against the kernel: random memory calls inside a reserved stretch of this process, each told to the
// model as the recorder would, and then /proc/self/maps and the present bits of /proc/self/pagemap compared with it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "space.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

enum { PAGE = 4096, ARENA = 160, EDGE = 8, FILE_PAGES = 64, MAX_LINES = 4 * ARENA };

struct lab {
    uint8_t *arena; // reserved; its first and last EDGE pages are left alone
    struct vmv_space *space;
    int file, memory, pagemap;
    uint64_t random, t;
    struct vmv_mapping lines[MAX_LINES];
    char names[MAX_LINES][64];
    size_t count;
};

static unsigned roll(struct lab *lab, unsigned sides) {
    lab->random ^= lab->random << 13;
    lab->random ^= lab->random >> 7;
    lab->random ^= lab->random << 17;
    return (unsigned)((lab->random >> 11) % sides);
}

static uint64_t low(const struct lab *lab) { return (uint64_t)lab->arena; }
static uint64_t high(const struct lab *lab) { return low(lab) + ARENA * PAGE; }

// --- what the kernel says

static bool parse(char *line, struct vmv_mapping *map, char *name, size_t room) {
    char perms[5];
    int at = 0;
    memset(map, 0, sizeof *map);
    if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %n", &map->start, &map->end, perms, &map->offset, &map->dev_major,
               &map->dev_minor, &map->inode, &at) < 7)
        return false;
    line[strcspn(line, "\n")] = 0;
    snprintf(name, room, "%s", line + at);
    map->name = name;
    map->flags = (perms[0] == 'r' ? VMV_MAP_R : 0) | (perms[1] == 'w' ? VMV_MAP_W : 0) |
                 (perms[2] == 'x' ? VMV_MAP_X : 0) | (perms[3] == 's' ? VMV_MAP_SHARED : 0);
    return true;
}

static void clip(struct lab *lab, struct vmv_mapping *map) {
    bool file = map->inode || (map->flags & VMV_MAP_SHARED);
    if (map->start < low(lab)) map->offset += file ? low(lab) - map->start : 0, map->start = low(lab);
    if (map->end > high(lab)) map->end = high(lab);
}

static void read_maps(struct lab *lab) {
    char text[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    lab->count = 0;
    while (fgets(text, sizeof text, maps)) {
        struct vmv_mapping *map = &lab->lines[lab->count];
        if (!parse(text, map, lab->names[lab->count], sizeof lab->names[0])) continue;
        if (map->end <= low(lab) || map->start >= high(lab)) continue;
        clip(lab, map);
        assert_true(++lab->count < MAX_LINES);
    }
    fclose(maps);
}

static void print(const char *what, const struct vmv_mapping *maps, size_t count) {
    for (size_t i = 0; i < count; i++)
        print_message("%s %lx-%lx %x %lx %x:%x %lu %s\n", what, maps[i].start, maps[i].end, maps[i].flags & 15,
                      maps[i].offset, maps[i].dev_major, maps[i].dev_minor, maps[i].inode, maps[i].name);
}

static bool same_line(const struct vmv_mapping *a, const struct vmv_mapping *b) {
    return a->start == b->start && a->end == b->end && !((a->flags ^ b->flags) & 15) && a->offset == b->offset &&
           a->inode == b->inode && a->dev_major == b->dev_major && a->dev_minor == b->dev_minor &&
           !strcmp(a->name, b->name);
}

static void compare_maps(struct lab *lab, const char *after) {
    read_maps(lab);
    size_t count = vmv_mappings_join(lab->lines, lab->count);
    bool same = count == lab->space->map_count;
    for (size_t i = 0; same && i < count; i++) same = same_line(&lab->lines[i], &lab->space->maps[i]);
    if (same) return;
    print_message("after %s\n", after);
    print("kernel", lab->lines, count);
    print("model ", lab->space->maps, lab->space->map_count);
    fail();
}

// Private anonymous pages only: what else is present depends on the page cache.
static void compare_pages(const struct lab *lab, const struct vmv_space *space, int pagemap, bool forked) {
    uint64_t bits[ARENA];
    assert_int_equal(pread(pagemap, bits, sizeof bits, (off_t)(low(lab) / PAGE * 8)), sizeof bits);
    for (unsigned i = 0; i < ARENA; i++) {
        uint64_t addr = low(lab) + i * (uint64_t)PAGE;
        const struct vmv_mapping *map = vmv_space_find(space, addr);
        bool shared = map && (map->flags & VMV_MAP_SHARED);
        if (map && map->inode && !(shared && forked)) continue;
        const struct vmv_page *page = vmv_space_page_peek(space, addr);
        bool model = page && (page->state == VMV_PAGE_RESIDENT || page->state == VMV_PAGE_ZERO);
        bool kernel = bits[i] >> 62;                    // present or swapped
        if (forked && page && !page->written) continue; // pages of zeros are kept or not with the rest of their mapping
        if (model != kernel) print_message("page %u: kernel %d, model %d\n", i, kernel, model);
        assert_int_equal(model, kernel);
    }
}

// --- calls

static void tell(struct lab *lab, struct vmv_event event) {
    event.space = 1;
    event.t = ++lab->t;
    vmv_space_apply(lab->space, &event);
}

// As the recorder does: what the kernel calls the file is read from its map.
static void describe(struct lab *lab, struct vmv_event *event) {
    read_maps(lab);
    for (size_t i = 0; i < lab->count; i++) {
        const struct vmv_mapping *map = &lab->lines[i];
        if ((uint64_t)event->ret < map->start || (uint64_t)event->ret >= map->end) continue;
        event->inode = map->inode;
        event->dev_major = map->dev_major;
        event->dev_minor = map->dev_minor;
        event->name = map->name;
    }
}

static int64_t result(void *pointer) { return pointer == MAP_FAILED ? -errno : (int64_t)pointer; }

static uint64_t somewhere(struct lab *lab, unsigned most, uint64_t *length) {
    unsigned first = EDGE + roll(lab, ARENA - 2 * EDGE), pages = 1 + roll(lab, most);
    if (pages > ARENA - EDGE - first) pages = ARENA - EDGE - first;
    *length = pages * (uint64_t)PAGE;
    return low(lab) + first * (uint64_t)PAGE;
}

static void do_mmap(struct lab *lab) {
    static const int prots[] = {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE};
    struct vmv_event e = {.type = VMV_EV_MMAP};
    e.addr = somewhere(lab, 24, &e.len);
    int kind = (int)roll(lab, 5), fd = kind < 2 ? -1 : kind == 2 ? lab->memory : lab->file;
    e.prot = (uint32_t)prots[roll(lab, 4)];
    e.flags = MAP_FIXED | (uint32_t)(kind == 1 || kind == 2 || (kind == 3 && roll(lab, 2)) ? MAP_SHARED : MAP_PRIVATE);
    if (fd < 0) e.flags |= MAP_ANONYMOUS;
    if (fd >= 0) e.offset = roll(lab, FILE_PAGES / 2) * (uint64_t)PAGE;
    if (roll(lab, 3) == 0) e.len -= roll(lab, PAGE);
    e.ret = result(mmap((void *)e.addr, e.len, (int)e.prot, (int)e.flags, fd, (off_t)e.offset));
    if (e.ret > 0 && (fd >= 0 || (e.flags & MAP_SHARED))) describe(lab, &e);
    tell(lab, e);
}

static void do_munmap(struct lab *lab) {
    struct vmv_event e = {.type = VMV_EV_MUNMAP};
    e.addr = somewhere(lab, 20, &e.len);
    if (roll(lab, 4) == 0) e.addr += 12; // fails
    e.ret = munmap((void *)e.addr, e.len) ? -errno : 0;
    tell(lab, e);
}

static bool mapped(const struct lab *lab, uint64_t start, uint64_t end) {
    for (; start < end; start += PAGE)
        if (!vmv_space_find(lab->space, start)) return false;
    return true;
}

static void do_mprotect(struct lab *lab) {
    struct vmv_event e = {.type = VMV_EV_MPROTECT, .prot = roll(lab, 4)};
    e.addr = somewhere(lab, 16, &e.len);
    if (!mapped(lab, e.addr, e.addr + e.len)) return; // would be done in part
    e.ret = mprotect((void *)e.addr, e.len, (int)e.prot) ? -errno : 0;
    tell(lab, e);
}

static void read_again(struct lab *lab) {
    read_maps(lab);
    tell(lab,
         (struct vmv_event){
             .type = VMV_EV_MAPS, .addr = low(lab), .len = ARENA * PAGE, .maps = lab->lines, .map_count = lab->count});
}

// After a call that failed half way: the mappings are read again, and which pages are there, as a frame does.
static void read_all_again(struct lab *lab) {
    uint64_t bits[ARENA];
    read_again(lab);
    assert_int_equal(pread(lab->pagemap, bits, sizeof bits, (off_t)(low(lab) / PAGE * 8)), sizeof bits);
    for (unsigned i = 0; i < ARENA; i++)
        tell(lab, (struct vmv_event){.type = VMV_EV_PAGES,
                                     .addr = low(lab) + i * (uint64_t)PAGE,
                                     .len = PAGE,
                                     .state = bits[i] >> 62 ? VMV_PAGE_RESIDENT : VMV_PAGE_ABSENT});
}

static void do_mremap(struct lab *lab) {
    struct vmv_event e = {.type = VMV_EV_MREMAP};
    e.old_addr = somewhere(lab, 10, &e.old_len);
    e.addr = somewhere(lab, 12, &e.len);
    switch (roll(lab, 5)) {
    case 0: // in place, or not at all
        e.addr = 0;
        break;
    case 1: // the same memory twice
        e.old_len = 0;
        e.flags = MREMAP_MAYMOVE | MREMAP_FIXED;
        break;
    case 2:
        e.flags = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
        if (e.len > e.old_len) e.len = e.old_len;
        e.old_len = e.len;
        break;
    default:
        e.flags = MREMAP_MAYMOVE | MREMAP_FIXED;
    }
    e.ret = result(mremap((void *)e.old_addr, e.old_len, e.len, (int)e.flags, (void *)e.addr));
    if (e.ret < 0 && e.flags) return read_all_again(lab); // it may have unmapped the target first
    tell(lab, e);
}

static void do_madvise(struct lab *lab) {
    static const uint32_t advice[] = {MADV_DONTNEED, MADV_DONTNEED, MADV_DONTNEED, MADV_NORMAL, MADV_SEQUENTIAL};
    struct vmv_event e = {.type = VMV_EV_MADVISE, .prot = advice[roll(lab, 5)]};
    e.addr = somewhere(lab, 16, &e.len);
    e.ret = madvise((void *)e.addr, e.len, (int)e.prot) ? -errno : 0;
    tell(lab, e);
}

static void do_setname(struct lab *lab) {
    struct vmv_event e = {.type = VMV_EV_SETNAME, .name = roll(lab, 2) ? "x" : NULL};
    e.addr = somewhere(lab, 8, &e.len);
    if (!mapped(lab, e.addr, e.addr + e.len)) return;
    for (uint64_t at = e.addr; at < e.addr + e.len; at += PAGE)
        if (vmv_space_find(lab->space, at)->inode) return; // fails where it meets a file
    e.ret = prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, e.addr, e.len, e.name) ? -errno : 0;
    tell(lab, e);
}

static void do_remap(struct lab *lab) {
    struct vmv_event e = {.type = VMV_EV_REMAP, .offset = roll(lab, FILE_PAGES / 2) * (uint64_t)PAGE};
    e.addr = somewhere(lab, 6, &e.len);
    e.ret = syscall(SYS_remap_file_pages, e.addr, e.len, 0, e.offset / PAGE, 0) ? -errno : 0;
    if (e.ret < 0) return read_all_again(lab); // it may have unmapped the range first
    tell(lab, e);
}

static void do_shm(struct lab *lab) {
    struct vmv_event e = {
        .type = VMV_EV_SHMAT, .prot = PROT_READ | PROT_WRITE, .len = (1 + roll(lab, 6)) * (uint64_t)PAGE};
    int id = shmget(IPC_PRIVATE, e.len, IPC_CREAT | 0600);
    if (id < 0) return; // no System V memory here
    e.addr = low(lab) + ((EDGE + roll(lab, ARENA - 2 * EDGE - 8)) * (uint64_t)PAGE);
    e.ret = result(shmat(id, (void *)e.addr, SHM_REMAP));
    shmctl(id, IPC_RMID, NULL);
    if (e.ret > 0) describe(lab, &e);
    tell(lab, e);
    if (e.ret < 0 || roll(lab, 2)) return;
    struct vmv_event hole = {.type = VMV_EV_MUNMAP, .addr = e.addr + PAGE, .len = PAGE};
    if (e.len > 2 * PAGE) hole.ret = munmap((void *)hole.addr, hole.len) ? -errno : 0;
    if (e.len > 2 * PAGE) tell(lab, hole);
    struct vmv_event detach = {.type = VMV_EV_SHMDT, .addr = e.addr, .len = e.len};
    detach.ret = shmdt((void *)detach.addr) ? -errno : 0;
    tell(lab, detach);
}

static void touch(struct lab *lab) {
    uint64_t length, addr = somewhere(lab, 1, &length) + roll(lab, PAGE);
    const struct vmv_mapping *map = vmv_space_find(lab->space, addr);
    if (!map || map->inode || !(map->flags & VMV_MAP_R)) return;
    const struct vmv_page *page = vmv_space_page_peek(lab->space, addr);
    bool there = page && page->state != VMV_PAGE_ABSENT, write = (map->flags & VMV_MAP_W) && roll(lab, 3);
    if (write)
        *(volatile uint8_t *)addr = 1;
    else
        (void)*(volatile uint8_t *)addr;
    tell(lab, (struct vmv_event){.type = VMV_EV_FAULT,
                                 .addr = addr,
                                 .kind = there ? (write ? VMV_FAULT_WRITE : VMV_FAULT_UNKNOWN) : VMV_FAULT_FIRST_TOUCH,
                                 .access = write ? VMV_ACCESS_WRITE : VMV_ACCESS_READ});
}

// --- fork

static void child_checks(const struct lab *lab) {
    struct vmv_space *child = vmv_space_copy(lab->space, 2, getpid());
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    compare_pages(lab, child, pagemap, true); // a failure ends the child with a status that says so
    _exit(0);
}

static void do_fork(struct lab *lab) {
    int status;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) child_checks(lab);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

// --- the laboratory

static int temporary_file(void) {
    char path[] = "/tmp/vmvis-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    assert_int_equal(ftruncate(fd, FILE_PAGES * PAGE), 0);
    return fd;
}

static void open_lab(struct lab *lab, uint64_t seed) {
    *lab = (struct lab){.random = seed, .space = vmv_space_create(1, getpid(), PAGE)};
    lab->arena = mmap(NULL, ARENA * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(lab->arena != MAP_FAILED);
    lab->file = temporary_file();
    lab->memory = memfd_create("lab", MFD_CLOEXEC);
    lab->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    assert_int_equal(ftruncate(lab->memory, FILE_PAGES * PAGE), 0);
    read_maps(lab);
    tell(lab,
         (struct vmv_event){
             .type = VMV_EV_MAPS, .addr = low(lab), .len = ARENA * PAGE, .maps = lab->lines, .map_count = lab->count});
}

static void close_lab(struct lab *lab) {
    munmap(lab->arena, ARENA * PAGE);
    close(lab->file);
    close(lab->memory);
    close(lab->pagemap);
    vmv_space_destroy(lab->space);
}

static const struct {
    const char *name;
    void (*act)(struct lab *lab);
    unsigned weight;
} acts[] = {
    {"mmap", do_mmap, 20},      {"munmap", do_munmap, 6}, {"mprotect", do_mprotect, 10},     {"mremap", do_mremap, 14},
    {"madvise", do_madvise, 8}, {"name", do_setname, 6},  {"remap_file_pages", do_remap, 3}, {"shm", do_shm, 3},
    {"touch", touch, 40}};

static unsigned choose(struct lab *lab) {
    unsigned total = 0, i = 0;
    for (unsigned k = 0; k < sizeof acts / sizeof *acts; k++) total += acts[k].weight;
    for (unsigned at = roll(lab, total); at >= acts[i].weight; i++) at -= acts[i].weight;
    return i;
}

static void test_random_calls(void **state) {
    (void)state;
    static struct lab lab;
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); // one fault, one page
    for (uint64_t seed = 1; seed <= 12; seed++) {
        open_lab(&lab, seed * 0x9e3779b97f4a7c15);
        for (unsigned step = 0; step < 500; step++) {
            unsigned act = choose(&lab);
            acts[act].act(&lab);
            compare_maps(&lab, acts[act].name);
            compare_pages(&lab, lab.space, lab.pagemap, false);
            if (step % 100 == 50) do_fork(&lab);
        }
        close_lab(&lab);
    }
}

// A mapping that grows down, touched below its start.
static void test_growing_down(void **state) {
    (void)state;
    static struct lab lab;
    enum { ROOM = 2048 };
    uint8_t *room = mmap(NULL, ROOM * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(room != MAP_FAILED);
    munmap(room, ROOM * PAGE);
    uint8_t *top = room + (ROOM - 4) * PAGE;
    void *got =
        mmap(top, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED, -1, 0);
    assert_ptr_equal(got, top);
    lab = (struct lab){.arena = top - ARENA * PAGE + 2 * PAGE, .space = vmv_space_create(1, 1, PAGE)};
    tell(&lab, (struct vmv_event){.type = VMV_EV_MMAP,
                                  .ret = (int64_t)top,
                                  .len = 2 * PAGE,
                                  .prot = 3,
                                  .flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN});
    compare_maps(&lab, "mmap");
    for (int below = 1; below < 100; below += 13) {
        top[-below * PAGE] = 1;
        tell(&lab, (struct vmv_event){
                       .type = VMV_EV_FAULT, .addr = (uint64_t)(top - below * PAGE), .kind = VMV_FAULT_FIRST_TOUCH});
        compare_maps(&lab, "touch");
    }
    munmap(room, ROOM * PAGE);
    vmv_space_destroy(lab.space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_calls),
        cmocka_unit_test(test_growing_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
