#include "event.h"

#include <string.h>

static const char *const names[VMV_EV_TYPE_COUNT] = {
    [VMV_EV_MMAP] = "mmap",         [VMV_EV_MUNMAP] = "munmap",
    [VMV_EV_MREMAP] = "mremap",     [VMV_EV_MPROTECT] = "mprotect",
    [VMV_EV_MADVISE] = "madvise",   [VMV_EV_BRK] = "brk",
    [VMV_EV_SHMAT] = "shmat",       [VMV_EV_SHMDT] = "shmdt",
    [VMV_EV_REMAP] = "remap",       [VMV_EV_PUNCH] = "punch",
    [VMV_EV_TRUNCATE] = "truncate", [VMV_EV_MSEAL] = "mseal",
    [VMV_EV_SETNAME] = "setname",   [VMV_EV_FAULT] = "fault",
    [VMV_EV_FORK] = "fork",         [VMV_EV_EXEC] = "exec",
    [VMV_EV_EXIT] = "exit",         [VMV_EV_THREAD_START] = "thread-start",
    [VMV_EV_SIGNAL] = "signal",     [VMV_EV_THREAD_EXIT] = "thread-exit",
    [VMV_EV_MARK] = "mark",         [VMV_EV_WATCH] = "watch",
    [VMV_EV_GAP] = "gap",           [VMV_EV_GOVERNOR] = "governor",
    [VMV_EV_NOTE] = "note",         [VMV_EV_SPACE] = "space",
    [VMV_EV_MAPS] = "maps",         [VMV_EV_FRAME] = "frame",
    [VMV_EV_PAGES] = "pages",       [VMV_EV_CONTENT] = "content",
    [VMV_EV_THREAD] = "thread",
};

const char *vmv_event_name(enum vmv_event_type type) { return (unsigned)type < VMV_EV_TYPE_COUNT ? names[type] : NULL; }

enum vmv_event_type vmv_event_type_of(const char *name) {
    for (int type = 0; type < VMV_EV_TYPE_COUNT; type++)
        if (names[type] && !strcmp(names[type], name)) return (enum vmv_event_type)type;
    return VMV_EV_NONE;
}
