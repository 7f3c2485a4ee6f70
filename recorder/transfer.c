#include "transfer.h"

#include "peek.h"

#include <linux/io_uring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

// How the rest of a call is asked for.
enum rest {
    REST_NONE,
    REST_BUFFER,   // the same call, with the buffer and the length moved on
    REST_LENGTH,   // the same call, with the length alone reduced: the kernel keeps the position
    REST_ELEMENTS, // the same call on the later elements of an array of struct mmsghdr
    REST_PARTS,    // one part of an iovec after the other, by another call
    REST_WAIT,     // the same call, with nothing more to hand in
};

struct kind {
    int64_t call;
    enum rest rest;
    unsigned buffer, length; // which arguments
    unsigned position;       // which argument says where in the file, 0: none
    int64_t part_call;       // REST_PARTS
};

static const struct kind kinds[] = {
    {SYS_write, REST_BUFFER, 1, 2, 0, 0},
    {SYS_pwrite64, REST_BUFFER, 1, 2, 3, 0},
    {SYS_sendto, REST_BUFFER, 1, 2, 0, 0},
    {SYS_recvfrom, REST_BUFFER, 1, 2, 0, 0},
    {SYS_read, REST_BUFFER, 1, 2, 0, 0},
    {SYS_pread64, REST_BUFFER, 1, 2, 3, 0},
    {SYS_getrandom, REST_BUFFER, 0, 1, 0, 0},
    {SYS_sendfile, REST_LENGTH, 0, 3, 0, 0},
    {SYS_copy_file_range, REST_LENGTH, 0, 4, 0, 0},
    {SYS_sendmmsg, REST_ELEMENTS, 1, 2, 0, 0},
    {SYS_recvmmsg, REST_ELEMENTS, 1, 2, 0, 0},
    {SYS_readv, REST_PARTS, 1, 0, 0, SYS_read},
    {SYS_preadv, REST_PARTS, 1, 0, 3, SYS_read},
    {SYS_preadv2, REST_PARTS, 1, 0, 3, SYS_read},
    {SYS_writev, REST_PARTS, 1, 0, 0, SYS_write},
    {SYS_pwritev, REST_PARTS, 1, 0, 3, SYS_write},
    {SYS_pwritev2, REST_PARTS, 1, 0, 3, SYS_write},
    {SYS_sendmsg, REST_PARTS, 1, 0, 0, SYS_sendto},
    {SYS_recvmsg, REST_PARTS, 1, 0, 0, SYS_recvfrom},
    {SYS_io_uring_enter, REST_WAIT, 0, 1, 0, 0},
};

static const struct kind *kind_of(int64_t call) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].call == call) return &kinds[i];
    return NULL;
}

static bool stat_descriptor(pid_t tid, uint64_t fd, struct stat *status) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", tid, (int)fd);
    return stat(path, status) == 0;
}

// Of reads, those are cut short that make up what they give: /dev/zero, /dev/random.
static bool read_may_be_cut(pid_t tid, uint64_t fd) {
    enum { MEMORY_DEVICES = 1 };
    struct stat status;
    return stat_descriptor(tid, fd, &status) && S_ISCHR(status.st_mode) && major(status.st_rdev) == MEMORY_DEVICES;
}

// Of writes, those to pipes, sockets and devices, never those to files: there a short write means that the disk is full
// or a limit reached.
static bool write_may_be_cut(pid_t tid, uint64_t fd) {
    struct stat status;
    return stat_descriptor(tid, fd, &status) &&
           (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || S_ISCHR(status.st_mode));
}

// Copies from descriptor to descriptor are, to files too; into a pipe they give only what the pipe holds. Where files
// are limited a short copy may have come to the limit, and going on would raise SIGXFSZ.
static bool copy_may_be_cut(pid_t tid, uint64_t fd) {
    struct stat status;
    struct rlimit limit;
    if (!stat_descriptor(tid, fd, &status) || S_ISFIFO(status.st_mode)) return false;
    if (!S_ISREG(status.st_mode)) return true;
    return prlimit(tid, RLIMIT_FSIZE, NULL, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

// Whether fewer events are there than the call was to wait for.
static bool ring_lacks_events(pid_t tid, const uint64_t args[6]) {
    char path[64], line[256];
    unsigned head = 0, tail = 0;
    bool has_head = false, has_tail = false;
    if (!(args[3] & IORING_ENTER_GETEVENTS) || args[3] & IORING_ENTER_REGISTERED_RING) return false;
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", tid, (int)args[0]);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file) && !(has_head && has_tail)) {
        if (sscanf(line, "CqHead: %u", &head) == 1) has_head = true;
        if (sscanf(line, "CqTail: %u", &tail) == 1) has_tail = true;
    }
    if (file) fclose(file);
    return has_head && has_tail && tail - head < (unsigned)args[2];
}

// The parts of the message or vector; the count is 0 if they cannot be read.
static size_t read_parts(const struct tracee *tracee, struct iovec parts[TRANSFER_PARTS_MAX]) {
    const uint64_t *args = tracee->transfer.args;
    uint64_t vector = args[1], count = args[2];
    if (tracee->transfer.call == SYS_sendmsg || tracee->transfer.call == SYS_recvmsg) {
        struct msghdr message;
        if (!peek(tracee->tid, args[1], &message, sizeof message)) return 0;
        vector = (uint64_t)message.msg_iov, count = message.msg_iovlen;
    }
    if (count > TRANSFER_PARTS_MAX || !peek(tracee->tid, vector, parts, count * sizeof *parts)) return 0;
    return count;
}

// The part that follows after `done` bytes; its length is 0 at the end.
static struct iovec part_after(const struct tracee *tracee, uint64_t done) {
    struct iovec parts[TRANSFER_PARTS_MAX];
    size_t count = read_parts(tracee, parts);
    for (size_t i = 0; i < count; i++) {
        if (done < parts[i].iov_len)
            return (struct iovec){(char *)parts[i].iov_base + done, parts[i].iov_len - (size_t)done};
        done -= parts[i].iov_len;
    }
    return (struct iovec){NULL, 0};
}

// Whether what the call gave may be less than what it would have given without the stop.
static bool is_cut(const struct tracee *tracee, const struct kind *kind) {
    const uint64_t *args = tracee->transfer.args;
    int64_t done = tracee->transfer.done;
    pid_t tid = tracee->tid;
    if (done <= 0) return false;
    if (kind->rest == REST_WAIT) return ring_lacks_events(tid, args);
    if (kind->rest != REST_PARTS && (uint64_t)done >= args[kind->length]) return false;
    switch (kind->call) {
    case SYS_recvfrom:
        return args[3] & MSG_WAITALL;
    case SYS_recvmsg:
        return args[2] & MSG_WAITALL;
    case SYS_recvmmsg: // with a timeout it may have come to its end
        return !(args[3] & (MSG_WAITFORONE | MSG_DONTWAIT)) && !args[4];
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
    case SYS_preadv:
    case SYS_preadv2:
        return read_may_be_cut(tid, args[0]);
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
        return write_may_be_cut(tid, args[0]);
    case SYS_sendfile:
        return copy_may_be_cut(tid, args[0]);
    case SYS_copy_file_range:
        return copy_may_be_cut(tid, args[2]);
    default:
        return true;
    }
}

// The call that does one part, with its arguments. False: no part is left.
static bool prepare_part(const struct tracee *tracee, const struct kind *kind, int64_t *call, uint64_t args[6]) {
    uint64_t done = (uint64_t)tracee->transfer.done, where = args[kind->position];
    bool message = kind->part_call == SYS_sendto || kind->part_call == SYS_recvfrom;
    bool positioned = kind->position && where != UINT64_MAX; // -1: the file's own position (preadv2(2))
    struct iovec part = part_after(tracee, done);
    *call = kind->part_call;
    if (positioned) *call = kind->part_call == SYS_read ? SYS_pread64 : SYS_pwrite64;
    args[3] = message ? args[2] /* flags */ : positioned ? where + done : 0;
    args[1] = (uint64_t)part.iov_base, args[2] = part.iov_len;
    args[4] = args[5] = 0;
    return part.iov_len > 0;
}

// The registers of the call that does the next piece of the rest, before its system call instruction. False at the end.
static bool prepare(const struct tracee *tracee, const struct kind *kind, struct arch_regs *regs) {
    const struct transfer *transfer = &tracee->transfer;
    uint64_t done = (uint64_t)transfer->done, args[6];
    int64_t call = transfer->call;
    memcpy(args, transfer->args, sizeof args);
    if (kind->rest == REST_PARTS) {
        if (!prepare_part(tracee, kind, &call, args)) return false;
    } else if (kind->rest == REST_WAIT) {
        args[kind->length] = 0;
    } else {
        if (done >= args[kind->length]) return false;
        args[kind->length] -= done;
        if (kind->rest == REST_BUFFER) args[kind->buffer] += done;
        if (kind->position) args[kind->position] += done;
        if (kind->rest == REST_ELEMENTS) args[kind->buffer] += done * sizeof(struct mmsghdr);
    }
    for (unsigned i = 0; i < 6; i++) arch_set_arg(regs, i, args[i]);
    arch_set_pc(regs, transfer->pc - ARCH_SYSCALL_BYTES);
    arch_set_ret(regs, call);   // the call's number, as before a system call instruction
    arch_set_syscall(regs, -1); // nothing to be restarted by the kernel
    return true;
}

bool transfer_goes_on(struct tracee *tracee, struct arch_regs *regs) {
    const struct kind *kind = kind_of(arch_syscall(regs));
    struct transfer *transfer = &tracee->transfer;
    if (!kind || transfer->active || arch_is_foreign_call(tracee->tid)) return false; // numbers mean others there
    *transfer = (struct transfer){.call = arch_syscall(regs), .done = arch_ret(regs), .pc = arch_pc(regs)};
    for (unsigned i = 0; i < 6; i++) transfer->args[i] = arch_arg(regs, i);
    transfer->active = is_cut(tracee, kind) && prepare(tracee, kind, regs);
    if (transfer->active) tracee->call_since = 0;
    return transfer->active;
}

// As the call alone would have left them, with what was done so far.
static void hand_over(struct tracee *tracee, struct arch_regs *regs) {
    struct transfer *transfer = &tracee->transfer;
    for (unsigned i = 0; i < 6; i++) arch_set_arg(regs, i, transfer->args[i]);
    arch_set_pc(regs, transfer->pc);
    arch_set_ret(regs, transfer->done);
    arch_set_syscall(regs, transfer->call);
    arch_set_regs(tracee->tid, regs);
    transfer->active = false;
}

// An error of the rest (a signal, a reader that left, a descriptor that does not block) was not one of the whole.
// Returns whether another part follows.
static bool add_up(struct tracee *tracee) {
    struct arch_regs regs;
    struct transfer *transfer = &tracee->transfer;
    const struct kind *kind = kind_of(transfer->call);
    transfer->active = false;
    if (arch_get_regs(tracee->tid, &regs) != 0) return false;
    int64_t rest = arch_ret(&regs);
    uint64_t asked = arch_arg(&regs, 2);
    if (kind->rest != REST_WAIT && rest > 0) transfer->done += rest;
    bool more = kind->rest == REST_PARTS && rest > 0 && (uint64_t)rest == asked && prepare(tracee, kind, &regs);
    if (more) {
        transfer->active = arch_set_regs(tracee->tid, &regs) == 0;
        transfer->entered = false;
    } else {
        hand_over(tracee, &regs);
    }
    return more;
}

void transfer_step(struct tracer *tracer, struct tracee *tracee) {
    if (!tracee->transfer.entered) {
        tracee->transfer.entered = true;
        tracer_resume(tracer, tracee, TRACEE_IN_CALL, 0);
        return;
    }
    bool more = add_up(tracee);
    tracer_resume(tracer, tracee, more ? TRACEE_IN_CALL : TRACEE_RUNNING, 0);
}

void transfer_give_up(struct tracee *tracee) {
    struct arch_regs regs;
    if (!tracee->transfer.active || tracee->transfer.entered || arch_get_regs(tracee->tid, &regs) != 0) return;
    hand_over(tracee, &regs);
}
