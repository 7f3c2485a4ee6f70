// Transfers that a signal would cut short, with no signal in sight: each must be whole. Prints how many were not.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 1 << 20, PARTS = 5 };
static unsigned char data[SIZE], copy[SIZE];
static uint64_t sum; // of what went over, so that nothing comes twice or out of order

static void mix(const unsigned char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) sum = sum * 31 + bytes[i];
}

static void *slow_reader(void *argument) {
    static unsigned char part[16384];
    ssize_t got;
    sum = 0;
    while ((got = read(*(int *)argument, part, sizeof part)) > 0) mix(part, (size_t)got); // the sum takes its time
    return NULL;
}

static void *slow_writer(void *argument) {
    for (size_t at = 0; at < SIZE; at += 16384) {
        mix(data + at, 16384);
        if (write(*(int *)argument, data + at, 16384) != 16384) abort();
    }
    return NULL;
}

static int slices(struct iovec parts[PARTS], unsigned char *bytes) {
    size_t at = 0;
    for (int i = 0; i < PARTS; i++) {
        size_t length = i < PARTS - 1 ? 1000 + (size_t)i * 200001 : SIZE - at;
        if (length > SIZE - at) length = SIZE - at;
        parts[i] = (struct iovec){bytes + at, length};
        at += length;
    }
    return PARTS;
}

static long do_write(int fd) { return write(fd, data, SIZE); }
static long do_writev(int fd) {
    struct iovec parts[PARTS];
    return writev(fd, parts, slices(parts, data));
}
static long do_send(int fd) { return send(fd, data, SIZE, 0); }
static long do_sendmsg(int fd) {
    struct iovec parts[PARTS];
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)slices(parts, data)};
    return sendmsg(fd, &message, 0);
}
static int file;
static long do_sendfile(int fd) {
    off_t offset = 0;
    return sendfile(fd, file, &offset, SIZE);
}
static long do_recv(int fd) { return recv(fd, copy, SIZE, MSG_WAITALL); }
static long do_recvmsg(int fd) {
    struct iovec parts[PARTS];
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)slices(parts, copy)};
    return recvmsg(fd, &message, MSG_WAITALL);
}
static long do_getrandom(int fd) { return getrandom(copy, SIZE, 0); }
static long do_read(int fd) { return read(fd, copy, SIZE); }
static long do_readv(int fd) {
    struct iovec parts[PARTS];
    return readv(fd, parts, slices(parts, copy));
}
static long do_preadv(int fd) {
    struct iovec parts[PARTS];
    return preadv(fd, parts, slices(parts, copy), 4096);
}
static long do_pwrite(int fd) { return pwrite(fd, data, SIZE, 4096); }
static long do_pwritev(int fd) {
    struct iovec parts[PARTS];
    return pwritev(fd, parts, slices(parts, data), 4096);
}
static long do_copy(int fd) {
    off_t from = 0, to = 0;
    return copy_file_range(file, &from, fd, &to, SIZE, 0);
}

static const struct kind {
    const char *name;
    char over; // 'p'ipe, 's'ocket, 'r'eceived from one, a 'f'ile, or what makes up what it gives
    long (*call)(int fd);
} kinds[] = {
    {"write", 'p', do_write},           {"writev", 'p', do_writev},         {"send", 's', do_send},
    {"sendmsg", 's', do_sendmsg},       {"sendfile", 's', do_sendfile},     {"sendfile to a file", 'f', do_sendfile},
    {"copy_file_range", 'f', do_copy},  {"recv all", 'r', do_recv},         {"recvmsg all", 'r', do_recvmsg},
    {"getrandom", '-', do_getrandom},   {"read urandom", '-', do_read},     {"readv urandom", '-', do_readv},
    {"preadv urandom", '-', do_preadv}, {"pwrite urandom", '-', do_pwrite}, {"pwritev urandom", '-', do_pwritev}};

static bool is_copied(int fd) {
    memset(copy, 0, SIZE);
    return pread(fd, copy, SIZE, 0) == SIZE && memcmp(copy, data, SIZE) == 0;
}

static void run_alone(const struct kind *kind, int rounds) {
    int whole = 0, right = 0;
    for (int round = 0; round < rounds; round++) {
        char name[] = "/tmp/vmvis-case-12-XXXXXX";
        bool to_file = kind->over == 'f';
        int fd = to_file ? mkstemp(name) : open("/dev/urandom", O_RDWR);
        if (to_file) unlink(name);
        whole += kind->call(fd) == SIZE;
        right += !to_file || is_copied(fd);
        close(fd);
    }
    printf("%s: %d short, %d wrong\n", kind->name, rounds - whole, rounds - right);
}

static void run(const struct kind *kind, int rounds) {
    int whole = 0, right = 0, ends[2];
    for (int round = 0; round < rounds; round++) {
        pthread_t partner;
        if (kind->over == 'p' ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) abort();
        bool receives = kind->over == 'r';
        int mine = receives ? ends[0] : ends[1], other = receives ? ends[1] : ends[0];
        memset(copy, 0, SIZE);
        sum = 0;
        pthread_create(&partner, NULL, receives ? slow_writer : slow_reader, &other);
        whole += kind->call(mine) == SIZE;
        if (!receives) close(mine);
        pthread_join(partner, NULL);
        uint64_t wanted = sum;
        sum = 0;
        mix(receives ? copy : data, SIZE);
        right += sum == wanted;
        if (receives) close(mine);
        close(other);
    }
    printf("%s: %d short, %d wrong\n", kind->name, rounds - whole, rounds - right);
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 60;
    char name[] = "/tmp/vmvis-case-12-XXXXXX";
    signal(SIGPIPE, SIG_IGN);
    file = mkstemp(name);
    unlink(name);
    for (size_t i = 0; i < SIZE; i++) data[i] = (unsigned char)(i * 2654435761u >> 13);
    if (write(file, data, SIZE) != SIZE) return 2;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        (strchr("-f", kinds[i].over) ? run_alone : run)(&kinds[i], rounds);
    return 0;
}
