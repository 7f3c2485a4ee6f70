// Memory calls, from the seccomp stop at their entry to the stop at their exit. The calls of one address space are
// serialised in between, so that the order recorded is the kernel's.
#include "tracer.h"

#include "arch.h"
#include "confine.h"
#include "filter.h"
#include "kernel.h"
#include "objects.h"
#include "peek.h"
#include "procmaps.h"
#include "track.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    ADVICE_COLLAPSE = 25, // MADV_COLLAPSE, 6.1
    OVERDUE_NS = 10000000,
    CALL_NS = 2 * 20000, // a stop takes 6 to 14 us while others come, and up to 40 us where processors sleep
    MARK_BYTES = 4096,
    CLONE_UNTRACED_FLAG = 0x00800000
};

// ---------------------------------------------------------------------------------------------- capturing

void memcall_capture_stack(struct tracer *tracer, struct tracee *tracee) {
    tracee->has_stack = false;
    tracee->stack_length = 0;
    struct arch_regs regs;
    if (arch_get_regs(tracee->tid, &regs) != 0) return;
    tracee->regs_length = sizeof regs;
    memcpy(tracee->regs, &regs, sizeof regs);
    tracee->stack_sp = arch_sp(&regs);
    tracee->stack_pc = arch_pc(&regs);
    tracee->has_stack = true;
    size_t want = tracer->options->stack_bytes;
    if (!want) return;
    if (!tracee->stack && !(tracee->stack = malloc(STACK_ROOM))) abort();
    // Stays within the mapping that holds SP: below it is what matters, and beyond it nothing can be read.
    const struct vmv_mapping *mapping = vmv_space_find(tracee->process->space->model, tracee->stack_sp);
    if (mapping && mapping->end - tracee->stack_sp < want) want = mapping->end - tracee->stack_sp;
    const struct rec_space *space = tracee->process->space;
    if (tracer->options->no_env && tracee->stack_sp < space->env_start && space->env_start - tracee->stack_sp < want)
        want = space->env_start - tracee->stack_sp;
    uint64_t end = tracee->stack_sp + want;
    if (exclude_names(&tracer->options->exclude, mapping) ||
        exclude_covers(&tracer->options->exclude, tracee->stack_sp, tracer->page_size, &end))
        return;
    want = end - tracee->stack_sp;
    // What lies above SP was touched before. Where a missing page would come to the fault server all the same, ask
    // first.
    struct track *track = tracee->process->space->track;
    int pagemap = track && track_missing(track) ? track_pagemap(track) : -1;
    tracee->stack_length = peek_present(tracee->tid, pagemap, tracee->stack_sp, tracee->stack, want);
}

struct sink_stack memcall_stack(const struct tracee *tracee) {
    return (struct sink_stack){tracee->regs, tracee->regs_length, tracee->stack_sp, tracee->stack,
                               tracee->stack_length};
}

// The number of the file a mapping shows, which is embedded unless --exclude names it: then 0.
uint32_t tracer_object(struct tracer *tracer, const struct rec_space *space, const struct vmv_mapping *mapping) {
    if (exclude_names(&tracer->options->exclude, mapping)) return 0;
    return objects_of_mapping(tracer->objects, tracer->producer, space->pid, mapping);
}

// ---------------------------------------------------------------------------------------------- entry

static void emit_mark(struct tracer *tracer, struct tracee *tracee) {
    char text[MARK_BYTES + 1];
    uint64_t length = tracee->call_args[2];
    if (length > MARK_BYTES) length = MARK_BYTES;
    size_t got = peek_some(tracee->tid, tracee->call_args[1], text, length);
    text[got] = 0;
    struct vmv_event event = tracer_event(tracer, VMV_EV_MARK, tracee);
    event.name = text;
    tracer_emit(tracer, &event, NULL);
}

// A child made with CLONE_UNTRACED would have the filter but no tracer, and its memory calls would fail with ENOSYS:
// the flag is taken away, so that it is traced like any other.
// clone3 has it in memory that is the program's: it is put back as soon as the kernel has read it.
static void clear_untraced(struct tracee *tracee, struct arch_regs *regs) {
    if (tracee->call == CALL_CLONE) {
        arch_set_arg(regs, 0, arch_arg(regs, 0) & ~(uint64_t)CLONE_UNTRACED_FLAG);
        arch_set_regs(tracee->tid, regs);
        return;
    }
    uint64_t flags;
    uint64_t at = arch_arg(regs, 0);
    if (!peek(tracee->tid, at, &flags, sizeof flags) || !(flags & CLONE_UNTRACED_FLAG)) return;
    flags &= ~(uint64_t)CLONE_UNTRACED_FLAG;
    if (poke(tracee->tid, at, &flags, sizeof flags)) tracee->untraced_at = at;
}

void memcall_restore_untraced(struct tracee *tracee, uint64_t at) {
    uint64_t flags;
    if (!at || !peek(tracee->tid, at, &flags, sizeof flags)) return;
    flags |= CLONE_UNTRACED_FLAG;
    poke(tracee->tid, at, &flags, sizeof flags);
}

// The process a pidfd stands for: fdinfo, "Pid:"; 0: none, or in another namespace.
static pid_t pid_of_pidfd(pid_t tid, int fd) {
    char path[64], line[128];
    int pid = 0;
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", tid, fd);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "Pid: %d", &pid) != 1) continue;
    if (file) fclose(file);
    return pid > 0 ? pid : 0;
}

typedef void each_part(struct tracer *tracer, struct tracee *tracee, struct rec_space *space, struct iovec part);

// process_madvise(2): pidfd, iovec, count, advice. Of the process it names, if that is recorded; up to `bytes`.
static void each_advised(struct tracer *tracer, struct tracee *tracee, uint64_t bytes, each_part *each) {
    const uint64_t *args = tracee->call_args;
    struct rec_process *process = process_find(&tracer->table, pid_of_pidfd(tracee->tid, (int)args[0]));
    for (uint64_t i = 0; process && process->space && i < args[2] && i < IOV_MAX && bytes; i++) {
        struct iovec part;
        if (!peek(tracee->tid, args[1] + i * sizeof part, &part, sizeof part)) return;
        if (part.iov_len > bytes) part.iov_len = bytes;
        bytes -= part.iov_len;
        each(tracer, tracee, process->space, part);
    }
}

static void disarm_advised(struct tracer *tracer, struct tracee *tracee, struct rec_space *space, struct iovec part) {
    uint64_t start = (uint64_t)part.iov_base;
    if (space->track) track_disarm(space->track, start, start + part.iov_len);
}

bool memcall_is_collapsing(const struct rec_space *space) {
    for (const struct tracee *tracee = space->in_call; tracee; tracee = tracee->next_in_call)
        if (tracee->call == CALL_MADVISE && tracee->call_args[2] == ADVICE_COLLAPSE) return true;
    return false;
}

// The program's own use of userfaultfd wins: what it is about to register is given up first. And collapsing fails on
// pages that are write-protected: the protection is taken off.
static void make_way(struct tracer *tracer, struct tracee *tracee) {
    struct rec_space *space = tracee->process->space;
    struct uffdio_register wanted;
    const uint64_t *args = tracee->call_args;
    if (!space || !space->track) return;
    if (tracee->call == CALL_MADVISE && args[2] == ADVICE_COLLAPSE)
        track_disarm(space->track, args[0], args[0] + args[1]);
    if (tracee->call == CALL_PROCESS_MADVISE && args[3] == ADVICE_COLLAPSE)
        each_advised(tracer, tracee, UINT64_MAX, disarm_advised);
    if (tracee->call != CALL_IOCTL_UFFD || args[1] != UFFDIO_REGISTER) return;
    if (!peek(tracee->tid, args[2], &wanted, sizeof wanted)) return;
    uint64_t start = wanted.range.start, end = start + wanted.range.len;
    if (end <= start || !track_unregister(space->track, start, end)) return;
    tracer_note(tracer, VMV_EV_GAP, space, "%012lx-%012lx was given up to the program's own userfaultfd", start, end);
}

// A process has one tracer: LeakSanitizer, crash reporters and debuggers are refused, and some fail because of it.
static void note_ptrace(struct tracer *tracer, struct tracee *tracee) {
    tracer->refused_tracers++;
    if (tracee->process && tracee->process->space)
        tracer_note(tracer, VMV_EV_NOTE, tracee->process->space,
                    "process %d asks to trace, which cannot work while it is recorded", tracee->process->pid);
}

static void enter_call(struct tracer *tracer, struct tracee *tracee) {
    struct rec_space *space = tracee->process->space;
    if (call_changes_mappings(tracee->call)) call_order_enter(space, tracee);
    tracee->call_since = tracer_now(tracer);
    tracee->call_old = space->model->brk;
    if (space->given_up && call_changes_mappings(tracee->call)) tracee->call_disordered = true;
    tracer_resume(tracer, tracee, TRACEE_IN_CALL, 0);
}

static void begin_call(struct tracer *tracer, struct tracee *tracee, struct rec_space *space) {
    tracer->cost.stops += CALL_NS;
    memcall_capture_stack(tracer, tracee);
    tracee->call_reach = call_reach_of(tracee->call, tracee->call_args, space->model->brk, tracer->page_size);
    if (call_changes_mappings(tracee->call) && !call_order_is_free(space, tracee)) {
        call_order_wait(space, tracee);
        tracee_move(tracee, TRACEE_QUEUED);
    } else {
        enter_call(tracer, tracee);
    }
}

void memcall_leave_queue(struct tracee *tracee) {
    call_order_leave(tracee->process->space, tracee);
    tracee->call = CALL_NONE;
}

void memcall_let_next(struct tracer *tracer, struct rec_space *space) {
    for (struct tracee *tracee; (tracee = call_order_next(space));) enter_call(tracer, tracee);
}

// Whether the exec is sure to fail: shells try one folder of PATH after the other. Only a name that is not there is
// sure; in doubt the frame is taken.
static bool exec_names_nothing(const struct tracee *tracee) {
    char name[2048], path[2048 + 64];
    if (tracee->call != CALL_EXECVE) return false;
    uint64_t addr = tracee->call_args[0];
    size_t length = 4096 - (size_t)(addr & 4095); // what lies in its first page
    if (length > sizeof name - 1) length = sizeof name - 1;
    if (!memchr(name, 0, peek_some(tracee->tid, addr, name, length))) return false;
    snprintf(path, sizeof path, "/proc/%d/%s/%s", tracee->tid, name[0] == '/' ? "root" : "cwd", name);
    return access(path, F_OK) != 0 && errno == ENOENT;
}

static void exec_entry(struct tracer *tracer, struct tracee *tracee) {
    struct rec_process *process = tracee->process;
    bool fails = exec_names_nothing(tracee);
    tracee->call = CALL_NONE;
    if (fails) {
        tracer_resume(tracer, tracee, TRACEE_RUNNING, 0);
        return;
    }
    if (process->space && process->space->users == 1 && tracer->started)
        frame_take(tracer, process->space, VMV_FRAME_EXEC, tracee, true);
    struct vmv_event entered = tracer_event(tracer, VMV_EV_NONE, tracee);
    sink_event(tracer->producer, &entered, NULL);
    tracer_resume(tracer, tracee, TRACEE_RUNNING, 0);
}

// A call by another convention: what it does is read from the maps when it returns.
static void foreign_entry(struct tracer *tracer, struct tracee *tracee, enum filter_answer answer,
                          struct arch_regs *regs) {
    struct rec_space *space = tracee->process ? tracee->process->space : NULL;
    if (answer == FILTER_FOREIGN_CLONE) {
        arch_set_foreign_arg(regs, arch_foreign_arg(regs, 0) & ~(uint64_t)CLONE_UNTRACED_FLAG);
        arch_set_regs(tracee->tid, regs);
    }
    if (answer == FILTER_FOREIGN_EXEC) {
        tracee->call = CALL_EXECVEAT;
        exec_entry(tracer, tracee);
    } else if (answer == FILTER_FOREIGN && space) {
        tracee->call = CALL_FOREIGN;
        begin_call(tracer, tracee, space);
    } else if (answer == FILTER_FOREIGN_SECCOMP) {
        confine_entry(tracer, tracee, regs, true);
    } else {
        tracer_resume(tracer, tracee, TRACEE_RUNNING, 0);
    }
}

static enum filter_answer filter_answer(const struct tracer *tracer, const struct tracee *tracee) {
    unsigned long message = FILTER_NATIVE;
    if (!tracer->every_call) ptrace(PTRACE_GETEVENTMSG, tracee->tid, 0, &message);
    return (enum filter_answer)message;
}

void memcall_entry(struct tracer *tracer, struct tracee *tracee) {
    struct arch_regs regs;
    if (arch_get_regs(tracee->tid, &regs) != 0) {
        tracer_resume(tracer, tracee, TRACEE_RUNNING, 0);
        return;
    }
    enum filter_answer answer = filter_answer(tracer, tracee);
    if (answer < FILTER_NATIVE || answer > FILTER_FOREIGN_CLONE) {
        confine_of_program(tracer, tracee, &regs);
        return;
    }
    if (answer != FILTER_NATIVE) {
        foreign_entry(tracer, tracee, answer, &regs);
        return;
    }
    for (unsigned i = 0; i < 6; i++) tracee->call_args[i] = arch_arg(&regs, i);
    tracee->call = call_of_number(arch_syscall(&regs), tracee->call_args);
    tracee->call_disordered = false;
    struct rec_space *space = tracee->process ? tracee->process->space : NULL;
    if (tracee->call == CALL_CLONE || tracee->call == CALL_CLONE3) clear_untraced(tracee, &regs);
    if (tracee->call == CALL_MARK && space) emit_mark(tracer, tracee);
    if (tracee->call == CALL_EXECVE || tracee->call == CALL_EXECVEAT) {
        exec_entry(tracer, tracee);
        return;
    }
    if (tracee->untraced_at) { // to be put back at its exit
        tracer_resume(tracer, tracee, TRACEE_IN_CALL, 0);
        return;
    }
    if (tracee->call == CALL_SECCOMP) {
        confine_entry(tracer, tracee, &regs, false);
        return;
    }
    if (tracee->call == CALL_PTRACE) note_ptrace(tracer, tracee);
    make_way(tracer, tracee);
    struct vmv_event ignored;
    bool has_event = tracee->call == CALL_PROCESS_MADVISE ||
                     call_decode(tracee->call, tracee->call_args, 0, tracer->page_size, &ignored);
    if (!space || !has_event) {
        tracee->call = CALL_NONE;
        tracer_resume(tracer, tracee, TRACEE_RUNNING, 0);
        return;
    }
    begin_call(tracer, tracee, space);
}

static void give_up_order(struct tracer *tracer, struct rec_space *space, struct tracee *tracee) {
    tracee->call_disordered = tracee->call_given_up = true;
    space->given_up++;
    tracer_note(tracer, VMV_EV_NOTE, space, "a memory call of thread %d takes long: its order with others is unknown",
                tracee->tid);
    call_order_leave(space, tracee);
}

void memcall_overdue(struct tracer *tracer, uint64_t now) {
    for (struct rec_space *space = tracer->table.spaces; space; space = space->next) {
        if (!space->waiting) continue;
        for (struct tracee *tracee = space->in_call, *next; tracee; tracee = next) {
            next = tracee->next_in_call;
            bool overdue = now > tracee->call_since && now - tracee->call_since >= OVERDUE_NS;
            if (overdue && call_order_is_awaited(space, tracee)) give_up_order(tracer, space, tracee);
        }
        memcall_let_next(tracer, space);
    }
}

// ---------------------------------------------------------------------------------------------- exit

// What the kernel now says of the mapping at addr: name, file, offset. Only asked where the call alone does not tell.
static bool describe_mapping(struct tracer *tracer, struct rec_space *space, struct vmv_event *event, uint64_t addr) {
    struct vmv_mapping mapping;
    if (procmaps_at(&tracer->maps, space->pid, addr, &mapping, NULL) != 0) return false;
    event->name = mapping.name;
    event->inode = mapping.inode;
    event->dev_major = mapping.dev_major;
    event->dev_minor = mapping.dev_minor;
    event->object = tracer_object(tracer, space, &mapping);
    if (event->type == VMV_EV_SHMAT) event->len = mapping.end - addr;
    return true;
}

static void describe_file(struct tracer *tracer, struct tracee *tracee, struct vmv_event *event) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", tracee->tid, (int)tracee->call_args[0]);
    objects_identify(path, &event->dev_major, &event->dev_minor, &event->inode);
}

static void complete(struct tracer *tracer, struct tracee *tracee, struct vmv_event *event) {
    struct rec_space *space = tracee->process->space;
    switch (event->type) {
    case VMV_EV_BRK:
        event->old_addr = tracee->call_old;
        break;
    case VMV_EV_MMAP:
        if (event->ret >= 0 && (!(event->flags & MAP_ANONYMOUS) || (event->flags & (MAP_SHARED | MAP_HUGETLB))))
            describe_mapping(tracer, space, event, (uint64_t)event->ret);
        break;
    case VMV_EV_SHMAT:
        event->prot = tracee->call_args[2] & SHM_RDONLY ? PROT_READ : PROT_READ | PROT_WRITE;
        if (event->ret >= 0) describe_mapping(tracer, space, event, (uint64_t)event->ret);
        break;
    case VMV_EV_SHMDT: {
        const struct vmv_mapping *mapping = vmv_space_find(space->model, event->addr);
        if (mapping && mapping->start == event->addr) event->len = mapping->end - mapping->start;
        break;
    }
    case VMV_EV_SETNAME: {
        struct vmv_mapping mapping;
        if (event->ret == 0 && procmaps_at(&tracer->maps, space->pid, event->addr, &mapping, NULL) == 0)
            event->name = mapping.name;
        break;
    }
    case VMV_EV_PUNCH:
    case VMV_EV_TRUNCATE:
        if (tracee->call != CALL_TRUNCATE) describe_file(tracer, tracee, event);
        break;
    default:
        break;
    }
}

// Registration follows what the call made: whole mappings, so that neighbours merge as they would alone.
static void follow_tracking(struct tracer *tracer, struct rec_space *space, const struct vmv_event *event) {
    if (event->ret < 0) return;
    uint64_t size = tracer->page_size, start = (uint64_t)event->ret, end = start;
    switch (event->type) {
    case VMV_EV_MMAP:
    case VMV_EV_SHMAT:
        end = start + event->len;
        break;
    case VMV_EV_MREMAP:
        end = start + event->len;
        break;
    case VMV_EV_BRK:
        start = event->old_addr, end = (uint64_t)event->ret;
        break;
    default:
        return;
    }
    start = (start + (event->type == VMV_EV_BRK ? size - 1 : 0)) & ~(size - 1);
    end = (end + size - 1) & ~(size - 1);
    if (end > start) memcall_register(tracer, space, start, end);
}

static void compare_with_kernel(struct tracer *tracer, struct rec_space *space, const struct tracee *after,
                                int64_t ret);

static void emit_advised(struct tracer *tracer, struct tracee *tracee, struct rec_space *space, struct iovec part) {
    struct vmv_event event = tracer_event(tracer, VMV_EV_MADVISE, tracee);
    struct sink_stack stack = memcall_stack(tracee);
    event.space = space->id;
    event.addr = (uint64_t)part.iov_base;
    event.len = part.iov_len;
    event.prot = (uint32_t)tracee->call_args[3];
    tracer_emit(tracer, &event, tracee->has_stack ? &stack : NULL);
}

static void emit_call(struct tracer *tracer, struct tracee *tracee, int64_t ret) {
    struct rec_space *space = tracee->process->space;
    struct vmv_event event = tracer_event(tracer, VMV_EV_NONE, tracee);
    if (tracee->call == CALL_PROCESS_MADVISE) {
        if (ret > 0) each_advised(tracer, tracee, (uint64_t)ret, emit_advised);
    } else if (call_decode(tracee->call, tracee->call_args, ret, tracer->page_size, &event)) {
        complete(tracer, tracee, &event);
        struct sink_stack stack = memcall_stack(tracee);
        tracer_emit(tracer, &event, tracee->has_stack ? &stack : NULL);
        follow_tracking(tracer, space, &event);
        if (event.type == VMV_EV_MMAP && event.object) space_watch_writes(tracer, tracee->process, false);
    }
    if (tracee->call == CALL_FOREIGN) memcall_follow_maps(tracer, space);
    if (call_may_be_partial(tracee->call, tracee->call_args, ret) || tracee->call_disordered)
        memcall_follow_maps(tracer, space);
    if (tracee->call_given_up) space->given_up--;
    tracee->call_disordered = tracee->call_given_up = false;
    // Calls beside this one may have taken effect already, though their ends are not known yet.
    bool alone = space->in_call == tracee && !tracee->next_in_call && !space->given_up;
    if (tracer->compare && alone) compare_with_kernel(tracer, space, tracee, ret);
}

void memcall_exit(struct tracer *tracer, struct tracee *tracee) {
    struct rec_space *space = tracee->process->space;
    if (tracee->call == CALL_CLONE3) {
        memcall_restore_untraced(tracee, tracee->untraced_at);
        tracee->untraced_at = 0;
        tracee->call = CALL_NONE;
        tracer_resume(tracer, tracee, TRACEE_RUNNING, 0);
        return;
    }
    struct arch_regs regs;
    if (arch_get_regs(tracee->tid, &regs) == 0) emit_call(tracer, tracee, arch_ret(&regs));
    call_order_leave(space, tracee);
    tracee->call = CALL_NONE;
    tracer_resume(tracer, tracee, TRACEE_RUNNING, 0);
    memcall_let_next(tracer, space);
}

void memcall_unseen_exit(struct tracer *tracer, struct tracee *tracee) {
    struct arch_regs regs;
    struct rec_space *space = tracee->process ? tracee->process->space : NULL;
    if (!space || arch_get_regs(tracee->tid, &regs) != 0) return;
    uint64_t args[6];
    for (unsigned i = 0; i < 6; i++) args[i] = arch_arg(&regs, i);
    bool foreign = arch_is_foreign_call(tracee->tid);
    if (foreign || call_changes_mappings(call_of_number(arch_syscall(&regs), args))) memcall_follow_maps(tracer, space);
}

// ---------------------------------------------------------------------------------------------- reading the maps

void memcall_register(struct tracer *tracer, struct rec_space *space, uint64_t start, uint64_t end) {
    if (!space->track) return;
    enum track_registered result = track_register(space->track, start, end);
    if (result == TRACK_OF_PROGRAM)
        tracer_note(tracer, VMV_EV_NOTE, space,
                    "%012lx-%012lx is served by the program's own userfaultfd: its pages are "
                    "known by frames only",
                    start, end);
    if (result == TRACK_FAILED)
        tracer_note(tracer, VMV_EV_NOTE, space,
                    "%012lx-%012lx could not be registered: its pages are known by frames only", start, end);
}

void memcall_read_maps(struct tracer *tracer, struct rec_space *space) {
    struct procmaps *maps = &tracer->maps;
    if (procmaps_read(maps, space->pid, 0) != 0) return;
    for (size_t i = 0; i < maps->count; i++) {
        if (tracer->program_inode && maps->maps[i].inode == tracer->program_inode)
            maps->maps[i].flags |= VMV_MAP_PROGRAM;
        maps->maps[i].object = tracer_object(tracer, space, &maps->maps[i]);
    }
    struct vmv_event event = tracer_event(tracer, VMV_EV_MAPS, NULL);
    event.space = space->id;
    event.pid = space->pid;
    event.len = 1ull << 56;
    event.maps = maps->maps;
    event.map_count = maps->count;
    tracer_emit(tracer, &event, NULL);
    for (size_t i = 0; space->track && i < maps->count; i++)
        memcall_register(tracer, space, maps->maps[i].start, maps->maps[i].end);
}

static bool same_mapping(const struct vmv_mapping *a, const struct vmv_mapping *b) {
    uint32_t shown = VMV_MAP_R | VMV_MAP_W | VMV_MAP_X | VMV_MAP_SHARED;
    return a->start == b->start && a->end == b->end && (a->flags & shown) == (b->flags & shown) &&
           a->offset == b->offset && a->inode == b->inode && strcmp(a->name, b->name) == 0;
}

// The model against the kernel: where they differ first, `count` of the kernel's and ours. False: nowhere.
static bool differs(struct tracer *tracer, const struct rec_space *space, size_t *at, size_t *count) {
    const struct procmaps *maps = &tracer->maps;
    const struct vmv_space *model = space->model;
    if (procmaps_read(&tracer->maps, space->pid, PROCMAPS_JOIN) != 0) return false;
    *count = maps->count; // the model ends below [vsyscall], which no call can change
    while (*count && maps->maps[*count - 1].end > 1ull << 56) --*count;
    for (*at = 0; *at < *count || *at < model->map_count; ++*at)
        if (*at >= *count || *at >= model->map_count || !same_mapping(&maps->maps[*at], &model->maps[*at])) return true;
    return false;
}

void memcall_follow_maps(struct tracer *tracer, struct rec_space *space) {
    size_t at, count;
    if (differs(tracer, space, &at, &count)) memcall_read_maps(tracer, space);
}

static void show(const char *who, const struct vmv_mapping *m) {
    fprintf(stderr, "  %s %012lx-%012lx %x %08lx %lu %s\n", who, m->start, m->end, m->flags, m->offset, m->inode,
            m->name);
}

// With VMVIS_COMPARE in the environment: the model against the kernel, after every memory call.
static void compare_with_kernel(struct tracer *tracer, struct rec_space *space, const struct tracee *after,
                                int64_t ret) {
    size_t at, count;
    const uint64_t *args = after->call_args;
    if (!differs(tracer, space, &at, &count)) return;
    fprintf(
        stderr,
        "vmvis-record: space %u differs from the kernel at mapping %zu after call %d(%lx, %lx, %lx, %lx, %lx) = %ld:\n",
        space->id, at, after->call, args[0], args[1], args[2], args[3], args[4], ret);
    if (at < count) show("kernel", &tracer->maps.maps[at]);
    if (at < space->model->map_count) show("model ", &space->model->maps[at]);
}
