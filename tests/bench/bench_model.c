// Times the model on a trace: opening, seeking, columns, bytes.
//   bench_model TRACE
#include "timeline.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOMENTS = 200, WIDTH = 1152 };

struct bench {
    const char *path;
    struct timeline *tl;
    uint64_t duration, random;
    double ms[MOMENTS], cpu[MOMENTS]; // elapsed, and spent on a processor: they differ on a busy machine
    double start, cpu_start;
};

static double clock_ms(clockid_t clock) {
    struct timespec at;
    clock_gettime(clock, &at);
    return (double)at.tv_sec * 1e3 + (double)at.tv_nsec / 1e6;
}

static double now_ms(void) { return clock_ms(CLOCK_MONOTONIC); }

static void begin(struct bench *bench) {
    bench->start = now_ms();
    bench->cpu_start = clock_ms(CLOCK_PROCESS_CPUTIME_ID);
}

static void end(struct bench *bench, int i) {
    bench->ms[i] = now_ms() - bench->start;
    bench->cpu[i] = clock_ms(CLOCK_PROCESS_CPUTIME_ID) - bench->cpu_start;
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

static int by_value(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void print_times(struct bench *bench, const char *what) {
    qsort(bench->ms, MOMENTS, sizeof *bench->ms, by_value);
    qsort(bench->cpu, MOMENTS, sizeof *bench->cpu, by_value);
    printf("%-44s p50 %8.2f   p99 %8.2f   max %8.2f ms   (cpu p50 %8.2f   p99 %8.2f ms)\n", what,
           bench->ms[MOMENTS / 2], bench->ms[MOMENTS * 99 / 100 - 1], bench->ms[MOMENTS - 1], bench->cpu[MOMENTS / 2],
           bench->cpu[MOMENTS * 99 / 100 - 1]);
    fflush(stdout);
}

// Out of the kernel's memory too.
static void forget_file(const char *path) {
    int fd = open(path, O_RDONLY);
    if (fd < 0) return;
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}

static struct timeline *open_trace(const char *path) {
    char error[300] = "";
    struct timeline *tl = timeline_open(path, error, sizeof error);
    if (tl) return tl;
    fprintf(stderr, "%s\n", error);
    exit(1);
}

static uint32_t first_space(const struct vmv_world *world) { return world->space_count ? world->spaces[0]->id : 1; }

// What a window needs for its first picture: the state at the end, the curve, the frames, a screen of bytes.
static void first_picture(struct timeline *tl) {
    static struct timeline_column columns[WIDTH];
    static uint8_t bytes[1 << 16];
    struct timeline_run runs[64];
    size_t count;
    const struct vmv_world *world = timeline_seek(tl, timeline_duration(tl));
    uint32_t space = first_space(world);
    timeline_columns(tl, space, 0, timeline_duration(tl), columns, WIDTH);
    timeline_frames(tl, &count);
    const struct vmv_space *found = vmv_world_space(world, space);
    if (found && found->map_count) timeline_read(tl, space, found->maps[0].start, bytes, sizeof bytes, runs, 64);
}

static void measure_open(struct bench *bench) {
    for (int cold = 1; cold >= 0; cold--) {
        pid_t child = fork();
        if (child == 0) {
            if (cold) forget_file(bench->path);
            double start = now_ms();
            struct timeline *tl = open_trace(bench->path);
            double opened = now_ms();
            first_picture(tl);
            printf("%-44s open %8.2f ms   with first picture %8.2f ms\n",
                   cold ? "opening, file not in memory" : "opening, file in memory", opened - start, now_ms() - start);
            fflush(stdout);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
}

static void seek_all(struct bench *bench, const uint64_t *moments, const char *what, bool cold) {
    for (int i = 0; i < MOMENTS; i++) {
        if (cold) forget_file(bench->path);
        begin(bench);
        timeline_seek(bench->tl, moments[i]);
        end(bench, i);
    }
    print_times(bench, what);
}

static void measure_jumps(struct bench *bench) {
    uint64_t moments[MOMENTS];
    for (int i = 0; i < MOMENTS; i++) moments[i] = next_random(&bench->random) % (bench->duration + 1);
    seek_all(bench, moments, "seek to random moments, file not in memory", true);
    seek_all(bench, moments, "seek to the same moments again", false);
}

static void measure_steps(struct bench *bench, int64_t step, const char *what) {
    uint64_t moments[MOMENTS], t = bench->duration / 2;
    timeline_seek(bench->tl, t);
    for (int i = 0; i < MOMENTS; i++) moments[i] = t += (uint64_t)step;
    seek_all(bench, moments, what, false);
}

static void measure_columns(struct bench *bench, uint32_t space) {
    static struct timeline_column columns[WIDTH];
    for (int i = 0; i < MOMENTS; i++) {
        uint64_t width = bench->duration >> (i % 12),
                 from = next_random(&bench->random) % (bench->duration - width + 1);
        begin(bench);
        timeline_columns(bench->tl, space, i % 12 ? from : 0, i % 12 ? from + width : bench->duration, columns, WIDTH);
        end(bench, i);
    }
    print_times(bench, "1152 columns, any place and zoom");
    for (int i = 0; i < MOMENTS; i++) {
        begin(bench);
        timeline_columns(bench->tl, space, 0, bench->duration, columns, WIDTH);
        end(bench, i);
    }
    print_times(bench, "1152 columns, whole recording");
}

static const struct vmv_mapping *largest(const struct vmv_space *space) {
    const struct vmv_mapping *best = NULL;
    for (size_t i = 0; i < space->map_count; i++)
        if (!best || space->maps[i].end - space->maps[i].start > best->end - best->start) best = &space->maps[i];
    return best;
}

static void measure_bytes(struct bench *bench, uint32_t space) {
    uint8_t bytes[4096];
    struct timeline_run runs[4];
    timeline_seek(bench->tl, bench->duration * 2 / 3);
    const struct vmv_space *found = vmv_world_space(timeline_world(bench->tl), space);
    const struct vmv_mapping *map = found ? largest(found) : NULL;
    if (!map) return;
    for (int i = 0; i < MOMENTS; i++) {
        uint64_t addr = map->start + next_random(&bench->random) % (map->end - map->start) / 4096 * 4096;
        begin(bench);
        timeline_read(bench->tl, space, addr, bytes, sizeof bytes, runs, 4);
        end(bench, i);
    }
    print_times(bench, "4096 bytes at random addresses");
    for (int i = 0; i < MOMENTS; i++) {
        begin(bench);
        for (uint64_t k = 0; k < 4096; k++)
            timeline_page(bench->tl, space, map->start + (k * 131 + (uint64_t)i) % 65536 * 4096);
        end(bench, i);
    }
    print_times(bench, "4096 page states with certainty");
}

static void measure_cursor(struct bench *bench) {
    struct timeline_filter filter = {0};
    struct timeline_cursor *cursor = timeline_cursor_create(bench->tl, &filter);
    for (int i = 0; i < MOMENTS; i++) {
        timeline_cursor_seek(cursor, next_random(&bench->random) % bench->duration);
        begin(bench);
        for (int k = 0; k < 10; k++) i & 1 ? timeline_cursor_next(cursor) : timeline_cursor_previous(cursor);
        end(bench, i);
    }
    print_times(bench, "ten events from a random moment");
    timeline_cursor_destroy(cursor);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s TRACE\n", argv[0]);
        return 2;
    }
    struct bench bench = {.path = argv[1], .random = 88172645463325252u};
    measure_open(&bench);
    bench.tl = open_trace(argv[1]);
    bench.duration = timeline_duration(bench.tl);
    if (!bench.duration) return 1;
    uint32_t space = first_space(timeline_seek(bench.tl, bench.duration));
    measure_jumps(&bench);
    measure_steps(&bench, 20000000, "steps of 20 ms forwards");
    measure_steps(&bench, -20000000, "steps of 20 ms backwards");
    measure_columns(&bench, space);
    measure_bytes(&bench, space);
    measure_cursor(&bench);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%.1f s, %" PRIu64 " events, %.0f MB; model holds %.0f MB, peak resident %.0f MB\n",
           (double)bench.duration / 1e9, timeline_event_count(bench.tl),
           (double)vmv_reader_bytes(timeline_reader(bench.tl)) / 1e6, (double)timeline_memory(bench.tl) / 1e6,
           (double)usage.ru_maxrss / 1e3);
    timeline_close(bench.tl);
    return 0;
}
