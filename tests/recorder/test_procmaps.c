// The reading of /proc/PID/maps: from text, and of a process.
#include "child.h"

#include "procmaps.h"

static const char text[] =
    "00400000-00401000 r--p 00000000 fd:01 1234                               /usr/bin/prog\n"
    "00401000-00402000 r-xp 00001000 fd:01 1234                               /usr/bin/prog\n"
    "01000000-01021000 rw-p 00000000 00:00 0                                  [heap]\n"
    "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n"
    "7f0000001000-7f0000002000 rw-p 00000000 00:00 0 \n"
    "7f0000002000-7f0000003000 rw-s 00003000 00:1a 99                         /dev/shm/a b\\012c (deleted)\n"
    "7f0000200000-7f0000400000 rw-p 00000000 00:0f 77                         /anon_hugepage (deleted)\n"
    "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]\n"
    "7ffc00100000-7ffc00104000 r--p 00000000 00:00 0                          [vvar]\n"
    "7ffc00104000-7ffc00106000 r-xp 00000000 00:00 0                          [vdso]\n"
    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";

static void parses_text(void **state) {
    struct procmaps maps = {0};
    assert_int_equal(procmaps_parse(&maps, text, sizeof text - 1, 0), 0);
    assert_int_equal(maps.count, 11);
    const struct vmv_mapping *m = maps.maps;
    assert_int_equal(m[1].start, 0x401000);
    assert_int_equal(m[1].end, 0x402000);
    assert_int_equal(m[1].offset, 0x1000);
    assert_int_equal(m[1].dev_major, 0xfd);
    assert_int_equal(m[1].dev_minor, 1);
    assert_int_equal(m[1].inode, 1234);
    assert_int_equal(m[1].flags, VMV_MAP_R | VMV_MAP_X);
    assert_string_equal(m[1].name, "/usr/bin/prog");
    assert_string_equal(m[3].name, "");
    assert_string_equal(m[5].name, "/dev/shm/a b\nc (deleted)");
    assert_int_equal(m[5].flags, VMV_MAP_R | VMV_MAP_W | VMV_MAP_SHARED);
    assert_true(maps.deleted[5]);
    assert_false(maps.deleted[1]);
    assert_int_equal(m[6].flags & VMV_MAP_HUGETLB, VMV_MAP_HUGETLB);
    assert_int_equal(m[7].flags, VMV_MAP_R | VMV_MAP_W | VMV_MAP_GROWSDOWN);
    assert_int_equal(m[10].start, 0xffffffffff600000u);
    assert_int_equal(m[10].flags, VMV_MAP_X);
    procmaps_free(&maps);
}

static void joins_what_continues(void **state) {
    struct procmaps maps = {0};
    assert_int_equal(procmaps_parse(&maps, text, sizeof text - 1, PROCMAPS_JOIN), 0);
    assert_int_equal(maps.count, 10);
    assert_int_equal(maps.maps[3].end, 0x7f0000002000);
    assert_true(maps.deleted[4]);
    procmaps_free(&maps);
}

// Whatever the text, it is understood or refused, and nothing outside of it is read (run under sanitizers).
static void survives_damage(void **state) {
    struct procmaps maps = {0};
    uint64_t random = 88172645463325252u;
    for (int round = 0; round < 20000; round++) {
        size_t length = test_random(&random) % sizeof text;
        char *copy = malloc(length + 1);
        memcpy(copy, text, length);
        for (int i = 0; i < 3 && length; i++) copy[test_random(&random) % length] = (char)test_random(&random);
        copy = realloc(copy, length ? length : 1);
        int result = procmaps_parse(&maps, copy, length, round & 1 ? PROCMAPS_JOIN : 0);
        assert_true(result == 0 || result == -EBADMSG);
        free(copy);
    }
    assert_int_equal(procmaps_parse(&maps, "10-5 r--p 0 0:0 0\n", 18, 0), -EBADMSG);
    assert_int_equal(procmaps_parse(&maps, "11111111111111111-5 r--p 0 0:0 0\n", 33, 0), -EBADMSG);
    procmaps_free(&maps);
}

static void map_things(struct child *child) {
    char *area = mmap(NULL, 3 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(area + 4096, 4096, PROT_READ | PROT_WRITE);
    child_answer(child);
    child_wait(child);
}

static void same_mapping(const struct vmv_mapping *a, const struct vmv_mapping *b) {
    assert_int_equal(a->start, b->start);
    assert_int_equal(a->end, b->end);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->offset, b->offset);
    assert_int_equal(a->inode, b->inode);
    assert_int_equal(a->dev_major, b->dev_major);
    assert_int_equal(a->dev_minor, b->dev_minor);
    assert_string_equal(a->name, b->name);
}

static void reads_a_process(void **state) {
    struct child child = child_start(map_things);
    struct procmaps maps = {0}, one = {0};
    char path[64], line[8192], flags[8];
    size_t count = 0;
    child_hear(&child);
    assert_int_equal(procmaps_read(&maps, child.pid, PROCMAPS_STABLE), 0);
    snprintf(path, sizeof path, "/proc/%d/maps", (int)child.pid);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (; fgets(line, sizeof line, file); count++) {
        unsigned long long start, end, offset, inode;
        if (sscanf(line, "%llx-%llx %7s %llx %*s %llu", &start, &end, flags, &offset, &inode) != 5) fail();
        assert_true(count < maps.count);
        assert_int_equal(maps.maps[count].start, start);
        assert_int_equal(maps.maps[count].end, end);
        assert_int_equal(maps.maps[count].offset, offset);
        assert_int_equal(maps.maps[count].inode, inode);
        assert_int_equal(!!(maps.maps[count].flags & VMV_MAP_W), flags[1] == 'w');
    }
    fclose(file);
    assert_int_equal(count, maps.count);
    for (size_t i = 0; i < maps.count; i++) {
        struct vmv_mapping found;
        if (strcmp(maps.maps[i].name, "[vsyscall]") == 0) continue; // is in the text only
        assert_int_equal(procmaps_at(&one, child.pid, maps.maps[i].start + 5, &found, NULL), 0);
        same_mapping(&found, &maps.maps[i]);
    }
    struct vmv_mapping none;
    assert_int_equal(procmaps_at(&one, child.pid, 4096, &none, NULL), -ENOENT);
    procmaps_free(&maps);
    procmaps_free(&one);
    child_end(&child);
}

static void many_mappings(void **state) {
    enum { COUNT = 20000 };
    struct procmaps maps = {0};
    char *area = mmap(NULL, COUNT * 8192ul, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < COUNT; i++) assert_int_equal(mprotect(area + i * 8192, 4096, PROT_READ), 0);
    uint64_t begin = test_now();
    assert_int_equal(procmaps_read(&maps, getpid(), 0), 0);
    print_message("%zu mappings read in %.2f ms\n", maps.count, (double)(test_now() - begin) / 1e6);
    size_t seen = 0;
    for (size_t i = 0; i < maps.count; i++) {
        uint64_t start = maps.maps[i].start;
        seen += start >= (uintptr_t)area && start < (uintptr_t)area + COUNT * 8192ul;
    }
    assert_true(seen >= 2 * COUNT - 1);
    munmap(area, COUNT * 8192ul);
    procmaps_free(&maps);
}

static void gone_process(void **state) {
    struct procmaps maps = {0};
    pid_t pid = fork();
    if (pid == 0) _exit(0);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(procmaps_read(&maps, pid, 0), -ESRCH); // a zombie has no memory
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(procmaps_read(&maps, pid, PROCMAPS_STABLE), -ESRCH);
    procmaps_free(&maps);
}

int main(void) {
    alarm(100);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_text),     cmocka_unit_test(joins_what_continues), cmocka_unit_test(survives_damage),
        cmocka_unit_test(reads_a_process), cmocka_unit_test(many_mappings),        cmocka_unit_test(gone_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
