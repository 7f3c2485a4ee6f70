#include "procmaps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel.h"
#include "space.h"

struct cursor { // in a line of text; bad once something was not as expected
    const char *at, *end;
    bool bad;
};

static uint64_t take_number(struct cursor *in, unsigned base) {
    uint64_t value = 0;
    const char *begin = in->at;
    for (; in->at < in->end; in->at++) {
        unsigned digit;
        char c = *in->at;
        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if (base == 16 && c >= 'a' && c <= 'f')
            digit = (unsigned)(c - 'a') + 10;
        else
            break;
        if (value > (UINT64_MAX - digit) / base) in->bad = true;
        value = value * base + digit;
    }
    if (in->at == begin) in->bad = true;
    return value;
}

static void take_char(struct cursor *in, char expected) {
    if (in->at < in->end && *in->at == expected)
        in->at++;
    else
        in->bad = true;
}

static uint32_t take_flags(struct cursor *in) {
    if (in->end - in->at < 4) {
        in->bad = true;
        return 0;
    }
    uint32_t flags = (in->at[0] == 'r' ? VMV_MAP_R : 0u) | (in->at[1] == 'w' ? VMV_MAP_W : 0u) |
                     (in->at[2] == 'x' ? VMV_MAP_X : 0u) | (in->at[3] == 's' ? VMV_MAP_SHARED : 0u);
    in->at += 4;
    return flags;
}

// The kernel writes a newline in a name as \012, and escapes nothing else.
static const char *unescape_name(struct vmv_arena *arena, const char *name, size_t length) {
    char *out = vmv_arena_alloc(arena, length + 1);
    size_t n = 0;
    for (size_t i = 0; i < length;) {
        if (length - i >= 4 && memcmp(name + i, "\\012", 4) == 0) {
            out[n++] = '\n';
            i += 4;
        } else
            out[n++] = name[i++];
    }
    out[n] = 0;
    return out;
}

static uint32_t flags_of_name(const char *name) {
    if (strcmp(name, "[stack]") == 0) return VMV_MAP_GROWSDOWN;
    return strncmp(name, "/anon_hugepage", 14) == 0 ? VMV_MAP_HUGETLB : 0;
}

// start-end rwxp offset major:minor inode   name
static bool parse_line(struct vmv_arena *arena, const char *line, size_t length, struct vmv_mapping *out) {
    struct cursor in = {.at = line, .end = line + length};
    *out = (struct vmv_mapping){0};
    out->start = take_number(&in, 16);
    take_char(&in, '-');
    out->end = take_number(&in, 16);
    take_char(&in, ' ');
    out->flags = take_flags(&in);
    take_char(&in, ' ');
    out->offset = take_number(&in, 16);
    take_char(&in, ' ');
    out->dev_major = (uint32_t)take_number(&in, 16);
    take_char(&in, ':');
    out->dev_minor = (uint32_t)take_number(&in, 16);
    take_char(&in, ' ');
    out->inode = take_number(&in, 10);
    while (in.at < in.end && *in.at == ' ') in.at++;
    if (in.bad || out->end <= out->start) return false;
    out->name = unescape_name(arena, in.at, (size_t)(in.end - in.at));
    out->flags |= flags_of_name(out->name);
    return true;
}

static void *grown(void *memory, size_t *room, size_t need, size_t item) {
    if (need <= *room) return memory;
    size_t room_new = *room ? *room : 64;
    while (room_new < need) room_new *= 2;
    void *bigger = realloc(memory, room_new * item);
    if (!bigger) abort();
    *room = room_new;
    return bigger;
}

static bool is_deleted(const char *name) {
    static const char suffix[] = " (deleted)";
    size_t length = strlen(name), tail = sizeof suffix - 1;
    return name[0] == '/' && length > tail && strcmp(name + length - tail, suffix) == 0;
}

static void finish(struct procmaps *maps, unsigned options) {
    if (options & PROCMAPS_JOIN) maps->count = vmv_mappings_join(maps->maps, maps->count);
    maps->deleted = grown(maps->deleted, &maps->deleted_room, maps->count, sizeof *maps->deleted);
    for (size_t i = 0; i < maps->count; i++) maps->deleted[i] = is_deleted(maps->maps[i].name);
}

int procmaps_parse(struct procmaps *maps, const char *text, size_t length, unsigned options) {
    vmv_arena_reset(&maps->names);
    maps->count = 0;
    for (size_t at = 0; at < length;) {
        const char *newline = memchr(text + at, '\n', length - at);
        size_t line = newline ? (size_t)(newline - text) - at : length - at;
        maps->maps = grown(maps->maps, &maps->room, maps->count + 1, sizeof *maps->maps);
        struct vmv_mapping *mapping = &maps->maps[maps->count];
        if (!parse_line(&maps->names, text + at, line, mapping)) return -EBADMSG;
        if (maps->count && mapping->start < mapping[-1].end) return -EBADMSG; // it changed while it was read
        maps->count++;
        at += line + 1;
    }
    finish(maps, options);
    return 0;
}

static int open_proc(pid_t pid, const char *file) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd >= 0 ? fd : errno == ENOENT ? -ESRCH : -errno;
}

// The whole text into maps->text. Returns its length or a negative errno.
static ssize_t read_text(struct procmaps *maps, pid_t pid) {
    int fd = open_proc(pid, "maps");
    if (fd < 0) return fd;
    size_t length = 0;
    ssize_t got;
    do {
        if (maps->text_room - length < 8192) {
            maps->text = grown(maps->text, &maps->text_room, maps->text_room + 65536, 1);
        }
        got = read(fd, maps->text + length, maps->text_room - length);
        if (got < 0 && errno == EINTR) continue;
        if (got > 0) length += (size_t)got;
    } while (got != 0 && !(got < 0 && errno != EINTR));
    ssize_t result = got < 0 ? -errno : (ssize_t)length;
    close(fd);
    return result ? result : -ESRCH; // an exited process has an empty map
}

// The kernel hands the map out in pieces; while other threads change it, pieces may not fit each other.
int procmaps_read(struct procmaps *maps, pid_t pid, unsigned options) {
    char *before = NULL;
    ssize_t before_length = -1;
    int result = -EBADMSG;
    for (int attempt = 0; attempt < 8; attempt++) {
        ssize_t length = read_text(maps, pid);
        result = length < 0 ? (int)length : procmaps_parse(maps, maps->text, (size_t)length, options);
        if (length < 0 || (result == 0 && !(options & PROCMAPS_STABLE))) break;
        bool same = before_length == length && memcmp(before, maps->text, (size_t)length) == 0;
        if (result == 0 && same) break;
        free(before);
        before = malloc((size_t)length);
        if (before) memcpy(before, maps->text, (size_t)length);
        before_length = before ? length : -1;
    }
    free(before);
    return result;
}

void procmaps_free(struct procmaps *maps) {
    free(maps->maps);
    free(maps->deleted);
    free(maps->text);
    vmv_arena_free(&maps->names);
    *maps = (struct procmaps){0};
}

static uint32_t flags_of_query(uint64_t flags) {
    return (flags & PROCMAP_QUERY_VMA_READABLE ? VMV_MAP_R : 0u) |
           (flags & PROCMAP_QUERY_VMA_WRITABLE ? VMV_MAP_W : 0u) |
           (flags & PROCMAP_QUERY_VMA_EXECUTABLE ? VMV_MAP_X : 0u) |
           (flags & PROCMAP_QUERY_VMA_SHARED ? VMV_MAP_SHARED : 0u);
}

// 0, -ENOTTY where the kernel is older than 6.11, -ENOENT.
static int query(struct procmaps *maps, int fd, uint64_t addr, struct vmv_mapping *out, uint64_t *page_bytes) {
    maps->text = grown(maps->text, &maps->text_room, 65536, 1);
    struct procmap_query q = {
        .size = sizeof q,
        .query_addr = addr,
        .vma_name_addr = (uint64_t)(uintptr_t)maps->text,
        .vma_name_size = 4096,
    };
    if (ioctl(fd, PROCMAP_QUERY, &q) != 0) return -errno;
    maps->text[4095] = 0;
    const char *name = q.vma_name_size ? maps->text : "";
    *out = (struct vmv_mapping){
        .start = q.vma_start,
        .end = q.vma_end,
        .offset = q.vma_offset,
        .inode = q.inode,
        .dev_major = q.dev_major,
        .dev_minor = q.dev_minor,
        .flags = flags_of_query(q.vma_flags) | flags_of_name(name),
        .name = vmv_arena_strdup(&maps->names, name, strlen(name)),
    };
    if (page_bytes) *page_bytes = q.vma_page_size;
    return 0;
}

int procmaps_at(struct procmaps *maps, pid_t pid, uint64_t addr, struct vmv_mapping *mapping, uint64_t *page_bytes) {
    int fd = open_proc(pid, "maps");
    if (fd < 0) return fd;
    vmv_arena_reset(&maps->names);
    maps->count = 0;
    if (page_bytes) *page_bytes = 0;
    int result = query(maps, fd, addr, mapping, page_bytes);
    close(fd);
    if (result == 0 || result == -ENOENT || result == -ESRCH) return result;
    result = procmaps_read(maps, pid, 0);
    if (result < 0) return result;
    for (size_t i = 0; i < maps->count; i++) {
        if (addr < maps->maps[i].start || addr >= maps->maps[i].end) continue;
        *mapping = maps->maps[i];
        return 0;
    }
    return -ENOENT;
}
