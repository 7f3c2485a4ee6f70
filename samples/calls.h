// Memory calls that log themselves: arguments, result (a negative errno on failure), thread, and the time before and
// after.
#ifndef CALLS_H
#define CALLS_H

#include "truth.h"
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// One logged call: the fields that all have in common, filled by call_enter and call_leave.
struct call {
    int64_t before; // ns
    int64_t after;  // ns
    long long result;
};

static inline struct call call_enter(void) { return (struct call){.before = truth_now()}; }

// RESULT as libc gave it: -1 and errno on failure.
static inline void call_leave(struct call *call, long long result) {
    call->after = truth_now();
    call->result = result == -1 ? -errno : result;
}

#define CALL_FORMAT "\"ret\":%lld,\"pid\":%d,\"tid\":%d,\"before\":%" PRId64 ",\"after\":%" PRId64
#define CALL_ARGS(call) (call).result, getpid(), gettid(), (call).before, (call).after

static inline void *call_mmap(void *hint, size_t length, int prot, int flags, int fd, off_t offset) {
    struct call call = call_enter();
    // not through the C library, which refuses some calls itself
    void *result = (void *)syscall(SYS_mmap, hint, length, prot, flags, fd, offset);
    call_leave(&call, (long long)(intptr_t)result);
    truth_line("\"what\":\"mmap\",\"hint\":\"0x%zx\",\"addr\":\"0x%zx\",\"len\":%zu,\"prot\":%d,\"flags\":%d,"
               "\"offset\":%lld," CALL_FORMAT,
               (size_t)hint, result == MAP_FAILED ? (size_t)hint : (size_t)result, length, prot, flags,
               (long long)offset, CALL_ARGS(call));
    return result;
}

static inline int call_munmap(void *address, size_t length) {
    struct call call = call_enter();
    int result = munmap(address, length);
    call_leave(&call, result);
    truth_line("\"what\":\"munmap\",\"addr\":\"%p\",\"len\":%zu," CALL_FORMAT, address, length, CALL_ARGS(call));
    return result;
}

static inline void *call_mremap(void *old, size_t old_length, size_t length, int flags, void *wanted) {
    struct call call = call_enter();
    void *result = mremap(old, old_length, length, flags, wanted);
    call_leave(&call, (long long)(intptr_t)result);
    truth_line("\"what\":\"mremap\",\"old_addr\":\"%p\",\"old_len\":%zu,\"addr\":\"0x%zx\",\"len\":%zu,"
               "\"flags\":%d," CALL_FORMAT,
               old, old_length, result == MAP_FAILED ? (size_t)0 : (size_t)result, length, flags, CALL_ARGS(call));
    return result;
}

static inline int call_mprotect(void *address, size_t length, int prot) {
    struct call call = call_enter();
    int result = mprotect(address, length, prot);
    call_leave(&call, result);
    truth_line("\"what\":\"mprotect\",\"addr\":\"%p\",\"len\":%zu,\"prot\":%d," CALL_FORMAT, address, length, prot,
               CALL_ARGS(call));
    return result;
}

static inline int call_madvise(void *address, size_t length, int advice) {
    struct call call = call_enter();
    int result = madvise(address, length, advice);
    call_leave(&call, result);
    truth_line("\"what\":\"madvise\",\"addr\":\"%p\",\"len\":%zu,\"advice\":%d," CALL_FORMAT, address, length, advice,
               CALL_ARGS(call));
    return result;
}

// Sets the end of the heap through libc, which keeps its own copy of it.
static inline int call_brk(void *address) {
    struct call call = call_enter();
    int result = brk(address);
    call_leave(&call, result);
    truth_line("\"what\":\"brk\",\"addr\":\"%p\"," CALL_FORMAT, address, CALL_ARGS(call));
    return result;
}

// Anonymous private memory, readable and writable; never fails.
static inline void *call_anonymous(size_t length) {
    void *result = call_mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (result == MAP_FAILED) truth_fail("mmap");
    return result;
}

// Writes a word and logs its address, value and the time before and after.
static inline void call_store(void *address, uint64_t value) {
    int64_t before = truth_now();
    *(volatile uint64_t *)address = value;
    int64_t after = truth_now();
    truth_line("\"what\":\"store\",\"addr\":\"%p\",\"value\":\"0x%" PRIx64 "\",\"pid\":%d,\"tid\":%d,"
               "\"before\":%" PRId64 ",\"after\":%" PRId64,
               address, value, getpid(), gettid(), before, after);
}

#endif
