// One file, mapped private and shared: a private write stays with the process, a shared one reaches the file.
// file_map [--checkpoints N]
#include "calls.h"

#define PAGE 4096
#define PAGES 8

static char path[256];

static int make_file(void) {
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/vmvis-file_map-XXXXXX", folder != NULL ? folder : "/tmp");
    int fd = mkstemp(path);
    if (fd < 0) truth_fail(path);
    static uint64_t words[PAGES * PAGE / sizeof(uint64_t)];
    for (size_t i = 0; i < PAGES; i++) words[i * PAGE / sizeof(uint64_t)] = 0xf000 + i;
    if (write(fd, words, sizeof words) != (ssize_t)sizeof words) truth_fail(path);
    truth_line("\"what\":\"file\",\"path\":\"%s\",\"size\":%d", path, PAGES * PAGE);
    return fd;
}

static void say_file(int fd, size_t page) {
    uint64_t word = 0;
    if (pread(fd, &word, sizeof word, (off_t)(page * PAGE)) < 0) truth_fail("pread");
    truth_line("\"what\":\"in_file\",\"page\":%zu,\"value\":\"0x%" PRIx64 "\",\"t\":%" PRId64, page, word, truth_now());
}

static void resize(int fd, off_t size) {
    struct call call = call_enter();
    call_leave(&call, ftruncate(fd, size));
    truth_line("\"what\":\"truncate\",\"len\":%lld," CALL_FORMAT, (long long)size, CALL_ARGS(call));
}

int main(int argc, char **argv) {
    truth_args(argc, argv);
    truth_begin();
    int fd = make_file();
    char *mine = call_mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    char *shared = call_mmap(NULL, (PAGES - 2) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 2 * PAGE);
    if (mine == MAP_FAILED || shared == MAP_FAILED) truth_fail("mmap");
    truth_checkpoint("mapped");

    call_store(mine + 3 * PAGE, 0xaaaa);
    say_file(fd, 3);
    truth_checkpoint("written privately");
    truth_value("private", mine + 3 * PAGE, 8);

    call_store(shared + 3 * PAGE, 0x5555);
    say_file(fd, 5);
    truth_checkpoint("written shared");
    truth_value("shared", shared + 3 * PAGE, 8);
    truth_value("private", mine + 3 * PAGE, 8);

    call_mmap(mine + 4 * PAGE, 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, PAGE);
    call_mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 1);
    truth_checkpoint("mapped over");

    resize(fd, 7 * PAGE);
    call_munmap(shared, PAGE);
    truth_checkpoint("truncated");
    truth_value("shared", shared + 3 * PAGE, 8);
    call_munmap(shared + PAGE, (PAGES - 3) * PAGE);
    unlink(path);
    return truth_end();
}
