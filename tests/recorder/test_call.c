// Memory calls decoded from arguments and result.
#include "call.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cmocka.h>

static struct vmv_event decode(enum call call, const uint64_t args[6], int64_t ret) {
    struct vmv_event event;
    memset(&event, 0, sizeof event);
    assert_true(call_decode(call, args, ret, 4096, &event));
    return event;
}

static void mmap_anonymous_has_no_offset(void **state) {
    (void)state;
    const uint64_t args[6] = {0x1000, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0x5000};
    struct vmv_event event = decode(CALL_MMAP, args, 0x7000);
    assert_int_equal(event.type, VMV_EV_MMAP);
    assert_int_equal(event.addr, 0x1000);
    assert_int_equal(event.len, 8192);
    assert_int_equal(event.ret, 0x7000);
    assert_int_equal(event.offset, 0);
    const uint64_t file[6] = {0, 8192, PROT_READ, MAP_PRIVATE, 3, 0x5000};
    assert_int_equal(decode(CALL_MMAP, file, 0x7000).offset, 0x5000);
}

static void mremap_addr_only_when_fixed(void **state) {
    (void)state;
    const uint64_t args[6] = {0x1000, 4096, 8192, MREMAP_MAYMOVE, 0xdead000, 0};
    struct vmv_event event = decode(CALL_MREMAP, args, 0x9000);
    assert_int_equal(event.old_addr, 0x1000);
    assert_int_equal(event.old_len, 4096);
    assert_int_equal(event.len, 8192);
    assert_int_equal(event.addr, 0);
    const uint64_t fixed[6] = {0x1000, 4096, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, 0xdead000, 0};
    assert_int_equal(decode(CALL_MREMAP, fixed, 0xdead000).addr, 0xdead000);
}

static void each_call_has_its_type(void **state) {
    (void)state;
    static const struct {
        enum call call;
        enum vmv_event_type type;
    } cases[] = {{CALL_MUNMAP, VMV_EV_MUNMAP},           {CALL_MPROTECT, VMV_EV_MPROTECT},
                 {CALL_PKEY_MPROTECT, VMV_EV_MPROTECT},  {CALL_MADVISE, VMV_EV_MADVISE},
                 {CALL_BRK, VMV_EV_BRK},                 {CALL_SHMAT, VMV_EV_SHMAT},
                 {CALL_SHMDT, VMV_EV_SHMDT},             {CALL_REMAP_FILE_PAGES, VMV_EV_REMAP},
                 {CALL_MSEAL, VMV_EV_MSEAL},             {CALL_FALLOCATE, VMV_EV_PUNCH},
                 {CALL_TRUNCATE, VMV_EV_TRUNCATE},       {CALL_FTRUNCATE, VMV_EV_TRUNCATE},
                 {CALL_SET_VMA, VMV_EV_SETNAME},         {CALL_MAP_SHADOW_STACK, VMV_EV_MMAP}};
    const uint64_t args[6] = {1, 2, 3, 4, 5, 6};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(decode(cases[i].call, args, 0).type, cases[i].type);
    struct vmv_event event;
    assert_false(call_decode(CALL_EXECVE, args, 0, 4096, &event));
    assert_false(call_decode(CALL_NONE, args, 0, 4096, &event));
}

static void failures_keep_their_errno(void **state) {
    (void)state;
    const uint64_t args[6] = {0x1000, 4096, 0, 0, 0, 0};
    assert_int_equal(decode(CALL_MUNMAP, args, -EINVAL).ret, -EINVAL);
    assert_false(call_may_be_partial(CALL_MUNMAP, args, -EINVAL));
    assert_true(call_may_be_partial(CALL_MPROTECT, args, -ENOMEM));
    assert_true(call_may_be_partial(CALL_MADVISE, args, -ENOMEM));
    assert_false(call_may_be_partial(CALL_MPROTECT, args, 0));
}

static void numbers(void **state) {
    (void)state;
    const uint64_t args[6] = {0x53564d41}, mark[6] = {CALL_MARK_OPTION};
    assert_int_equal(call_of_number(SYS_prctl, args), CALL_SET_VMA);
    assert_int_equal(call_of_number(SYS_prctl, mark), CALL_MARK);
    assert_int_equal(call_of_number(SYS_mmap, args), CALL_MMAP);
    assert_int_equal(call_of_number(SYS_brk, args), CALL_BRK);
    assert_int_equal(call_of_number(SYS_execveat, args), CALL_EXECVEAT);
    assert_int_equal(call_of_number(SYS_getpid, args), CALL_NONE);
    assert_int_equal(call_of_number(-1, args), CALL_NONE);
    assert_true(call_changes_mappings(CALL_MMAP));
    assert_false(call_changes_mappings(CALL_FTRUNCATE));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(mmap_anonymous_has_no_offset),
                                       cmocka_unit_test(mremap_addr_only_when_fixed),
                                       cmocka_unit_test(each_call_has_its_type),
                                       cmocka_unit_test(failures_keep_their_errno), cmocka_unit_test(numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
