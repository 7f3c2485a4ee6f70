// Kinds of memory and of ticks: how mappings and events are sorted into colours and lanes.
#include "summary.h"

#include <string.h>

#include "space_private.h"

const char *vmv_kind_name(enum vmv_kind kind) {
    static const char *const names[VMV_KIND_COUNT] = {"program", "library",   "file",  "heap",
                                                      "stack",   "anonymous", "kernel"};
    return (unsigned)kind < VMV_KIND_COUNT ? names[kind] : NULL;
}

static bool starts_with(const char *text, const char *start) { return !strncmp(text, start, strlen(start)); }

static enum vmv_kind kind_of_named(const struct vmv_mapping *map) {
    if (!strcmp(map->name, "[heap]")) return VMV_KIND_HEAP;
    if (starts_with(map->name, "[stack")) return VMV_KIND_STACK;
    bool kernel = starts_with(map->name, "[vdso") || starts_with(map->name, "[vvar") ||
                  starts_with(map->name, "[vsyscall") || !strcmp(map->name, "[uprobes]");
    if (kernel) return VMV_KIND_KERNEL;
    return map->flags & VMV_MAP_STACK ? VMV_KIND_STACK : VMV_KIND_ANONYMOUS;
}

enum vmv_kind vmv_mapping_kind(const struct vmv_space *space, const struct vmv_mapping *mapping) {
    const char *name = mapping->name ? mapping->name : "";
    if (name[0] == '[') return kind_of_named(mapping);
    if (!mapping->inode && name[0] != '/') return mapping->flags & VMV_MAP_STACK ? VMV_KIND_STACK : VMV_KIND_ANONYMOUS;
    if (starts_with(name, "/dev/zero (deleted)") || starts_with(name, "/SYSV") || starts_with(name, "/anon_hugepage"))
        return VMV_KIND_ANONYMOUS; // files only by name
    if (mapping->flags & VMV_MAP_PROGRAM) return VMV_KIND_PROGRAM;
    bool code = (mapping->flags & VMV_MAP_X) || vmv_exec_files_has(&space->hidden->execs, mapping);
    return code ? VMV_KIND_LIBRARY : VMV_KIND_FILE;
}

enum vmv_tick vmv_event_tick(enum vmv_event_type type) {
    switch (type) {
    case VMV_EV_MMAP:
    case VMV_EV_SHMAT:
        return VMV_TICK_MMAP;
    case VMV_EV_MUNMAP:
    case VMV_EV_SHMDT:
        return VMV_TICK_MUNMAP;
    case VMV_EV_MREMAP:
    case VMV_EV_REMAP:
        return VMV_TICK_MREMAP;
    case VMV_EV_BRK:
        return VMV_TICK_BRK;
    case VMV_EV_MPROTECT:
    case VMV_EV_MSEAL:
        return VMV_TICK_MPROTECT;
    case VMV_EV_MADVISE:
    case VMV_EV_PUNCH:
    case VMV_EV_TRUNCATE:
    case VMV_EV_SETNAME:
        return VMV_TICK_MADVISE;
    case VMV_EV_THREAD_START:
        return VMV_TICK_THREAD_START;
    case VMV_EV_THREAD_EXIT:
        return VMV_TICK_THREAD_EXIT;
    case VMV_EV_FORK:
    case VMV_EV_EXEC:
    case VMV_EV_EXIT:
    case VMV_EV_SIGNAL:
        return VMV_TICK_PROCESS;
    default:
        return VMV_TICK_COUNT;
    }
}

bool vmv_event_is_landmark(enum vmv_event_type type) {
    switch (type) {
    case VMV_EV_FRAME:
    case VMV_EV_MARK:
    case VMV_EV_GAP:
    case VMV_EV_GOVERNOR:
    case VMV_EV_NOTE:
    case VMV_EV_THREAD_START:
    case VMV_EV_THREAD_EXIT:
    case VMV_EV_FORK:
    case VMV_EV_EXEC:
    case VMV_EV_EXIT:
    case VMV_EV_SIGNAL:
    case VMV_EV_SPACE:
        return true;
    default:
        return false;
    }
}
