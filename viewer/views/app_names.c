/* What mappings are called: from the file and protection, or from what the kernel names them. Nothing is guessed: a
 * stack is a thread's when that thread's SP lies in it. */
#include "app_names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

void app_plain(char *out, size_t size, const char *text) {
    size_t n = 0;
    for (const unsigned char *c = (const unsigned char *)(text ? text : ""); *c && n + 1 < size; c++)
        out[n++] = (char)(*c < 0x20 || *c == 0x7f ? '?' : *c);
    out[n] = '\0';
}

void app_base_name(char *out, size_t size, const char *path) {
    const char *slash = path[0] == '/' ? strrchr(path, '/') : NULL;
    app_plain(out, size, slash && slash[1] ? slash + 1 : path);
}

void app_permissions(uint32_t flags, char out[4]) {
    out[0] = flags & VMV_MAP_R ? 'r' : '-';
    out[1] = flags & VMV_MAP_W ? 'w' : '-';
    out[2] = flags & VMV_MAP_X ? 'x' : '-';
    out[3] = '\0';
}

bool app_mapping_is_file(const struct vmv_mapping *map) { return map->name && map->name[0] == '/'; }

static bool no_access(const struct vmv_mapping *map) { return !(map->flags & (VMV_MAP_R | VMV_MAP_W | VMV_MAP_X)); }

/* The living thread whose SP lies in the mapping; the one that began last if several do. */
static const struct vmv_thread *owner(const struct vmv_world *world, uint32_t space, const struct vmv_mapping *map) {
    const struct vmv_thread *found = NULL;
    for (size_t i = 0; i < world->thread_count; i++) {
        const struct vmv_thread *thread = &world->threads[i];
        if (thread->space != space || thread->state == VMV_THREAD_GONE) continue;
        if (thread->sp >= map->start && thread->sp < map->end) found = thread;
    }
    return found;
}

static bool is_stack(const struct vmv_mapping *map) {
    return map->flags & VMV_MAP_STACK || (map->name && !strcmp(map->name, "[stack]"));
}

static void name_stack(struct app_mapping *mapping, const struct vmv_thread *thread) {
    const char *what = mapping->guard ? "guard" : "stack";
    bool first = mapping->map->name && mapping->map->name[0] == '[';
    if (first) {
        app_plain(mapping->name, sizeof mapping->name, mapping->map->name);
        snprintf(mapping->short_name, sizeof mapping->short_name, "%.47s", mapping->name);
        return;
    }
    snprintf(mapping->short_name, sizeof mapping->short_name, "%s", what);
    char thread_name[sizeof thread->name] = "";
    if (thread) app_plain(thread_name, sizeof thread_name, thread->name);
    if (thread)
        snprintf(mapping->name, sizeof mapping->name, "%s %s", *thread_name ? thread_name : "thread", what);
    else
        snprintf(mapping->name, sizeof mapping->name, "%s", what);
}

static void name_file(struct app_mapping *mapping) {
    char perm[4], base[APP_NAME_SIZE - 8];
    app_permissions(mapping->map->flags, perm);
    app_base_name(base, sizeof base, mapping->map->name);
    snprintf(mapping->name, sizeof mapping->name, "%s %s", base, perm);
    snprintf(mapping->short_name, sizeof mapping->short_name, "%s +%llx", perm,
             (unsigned long long)mapping->map->offset);
}

static void name_other(struct app_mapping *mapping) {
    const struct vmv_mapping *map = mapping->map;
    if (map->name && *map->name) {
        app_plain(mapping->name, sizeof mapping->name, map->name);
        snprintf(mapping->short_name, sizeof mapping->short_name, "%.47s", mapping->name);
        return;
    }
    snprintf(mapping->name, sizeof mapping->name, "%s", mapping->reserved ? "reserved" : "anonymous");
    snprintf(mapping->short_name, sizeof mapping->short_name, "%012llx", (unsigned long long)map->start);
}

void app_name_mapping(struct app_mapping *mapping, const struct vmv_world *world, uint32_t space,
                      const struct vmv_mapping *above) {
    const struct vmv_mapping *map = mapping->map;
    bool stack = is_stack(map);
    mapping->guard = stack && no_access(map);
    mapping->reserved = !stack && no_access(map) && !app_mapping_is_file(map);
    if (stack) {
        bool beside = mapping->guard && above && above->start == map->end && is_stack(above);
        const struct vmv_thread *thread = owner(world, space, beside ? above : map);
        mapping->tid = thread ? thread->tid : 0;
        name_stack(mapping, thread);
    } else if (app_mapping_is_file(map)) {
        name_file(mapping);
    } else {
        name_other(mapping);
    }
}

static uint64_t hash(const char *text) {
    uint64_t value = 14695981039346656037u;
    for (; *text; text++) value = (value ^ (unsigned char)*text) * 1099511628211u;
    return value | 1;
}

uint64_t app_name_group(const struct app_mapping *mapping, const struct vmv_world *world, char *name, size_t size) {
    const struct vmv_mapping *map = mapping->map;
    char key[64];
    if (is_stack(map)) {
        const struct vmv_thread *thread = mapping->tid ? vmv_world_thread(world, mapping->tid) : NULL;
        char thread_name[sizeof thread->name] = "";
        if (thread) app_plain(thread_name, sizeof thread_name, thread->name);
        if (mapping->tid)
            snprintf(name, size, "%s %d", *thread_name ? thread_name : "thread", mapping->tid);
        else
            snprintf(name, size, map->name && *map->name ? "[stack]" : "other stacks");
        snprintf(key, sizeof key, "thread %d", mapping->tid);
        return hash(key);
    }
    if (mapping->kind == VMV_KIND_HEAP || mapping->kind == VMV_KIND_KERNEL || mapping->kind == VMV_KIND_ANONYMOUS) {
        snprintf(name, size, "%s", mapping->kind == VMV_KIND_HEAP ? "[heap]" : vmv_kind_name(mapping->kind));
        return hash(name);
    }
    app_base_name(name, size, map->name ? map->name : "");
    return hash(map->name ? map->name : "");
}
