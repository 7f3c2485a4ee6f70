// Times the window on a trace, without a display: opening and the first picture, seeking, and drawing and painting one
// frame at 1440 x 900 in each of the map's looks.
//   bench_view TRACE
#include "replay.h"

#include "ui_raster.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { MOMENTS = 200, FRAMES = 40, WIDTH = 1440, HEIGHT = 900 };

struct bench {
    struct replay replay;
    struct ui_buffer buffer;
    uint64_t random;
    double ms[MOMENTS];
};

static double now_ms(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec * 1e3 + (double)at.tv_nsec / 1e6;
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

static int by_value(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void print_times(struct bench *bench, const char *what, size_t count) {
    qsort(bench->ms, count, sizeof *bench->ms, by_value);
    printf("%-40s p50 %8.2f   p99 %8.2f ms\n", what, bench->ms[count / 2], bench->ms[(count * 99 - 1) / 100]);
}

static void fail(const char *what) {
    fprintf(stderr, "bench_view: %s\n", what);
    exit(1);
}

static void paint(struct bench *bench) {
    replay_frame(&bench->replay);
    ui_raster_paint(bench->replay.draw, bench->replay.fonts, 1, &bench->buffer);
}

static void open_trace(struct bench *bench, const char *path) {
    char error[1024];
    double start = now_ms();
    struct timeline *tl = timeline_open(path, error, sizeof error);
    if (!tl) fail(error);
    struct app *app = &bench->replay.app;
    if (!app_init(app, tl)) fail("out of memory");
    app->commands = replay_commands;
    app->trace_name = path;
    app->width = WIDTH;
    app->height = HEIGHT;
    app->patient = true;
    app->motion = false;
    bench->replay.draw = ui_draw_create();
    bench->replay.fonts = ui_fonts_create(1, error, sizeof error);
    bench->buffer = (struct ui_buffer){.width = WIDTH, .height = HEIGHT, .stride = WIDTH};
    bench->buffer.pixels = calloc((size_t)WIDTH * HEIGHT, sizeof *bench->buffer.pixels);
    if (!bench->replay.draw || !bench->replay.fonts || !bench->buffer.pixels) fail("no fonts, or out of memory");
    app_seek_last_frame(app);
    paint(bench);
    printf("%-40s %8.2f ms\n", "open and first picture", now_ms() - start);
}

static void run(struct bench *bench, const char *line) {
    char error[UI_ERROR_SIZE];
    if (!ui_command_run_line(replay_commands, &bench->replay, line, error)) fail(error);
}

static void seek_random(struct bench *bench, const char *what) {
    struct app *app = &bench->replay.app;
    for (size_t i = 0; i < MOMENTS; i++) {
        double start = now_ms();
        app_seek(app, next_random(&bench->random) % (app->duration + 1));
        bench->ms[i] = now_ms() - start;
    }
    print_times(bench, what, MOMENTS);
}

// Scrubbing: each frame of the window shows another moment.
static void draw_look(struct bench *bench, const char *look) {
    char what[96];
    struct app *app = &bench->replay.app;
    uint64_t step = app->duration / 400 + 1, from = app->duration / 2;
    for (size_t i = 0; i < FRAMES; i++) {
        double start = now_ms();
        paint(bench);
        bench->ms[i] = now_ms() - start;
    }
    snprintf(what, sizeof what, "draw and paint, %s, same moment", look);
    print_times(bench, what, FRAMES);
    for (size_t i = 0; i < FRAMES; i++) {
        double start = now_ms();
        app_seek(app, from + i * step);
        paint(bench);
        bench->ms[i] = now_ms() - start;
    }
    snprintf(what, sizeof what, "seek, draw and paint, %s, scrubbing", look);
    print_times(bench, what, FRAMES);
}

// The largest mapping with resident pages at the middle of the recording.
static uint64_t find_busy(struct bench *bench) {
    struct app *app = &bench->replay.app;
    app_seek(app, app->duration / 2);
    const struct vmv_world *world = timeline_world(app->tl);
    uint64_t best = 0, most = 0;
    for (size_t s = 0; s < world->space_count; s++)
        for (size_t i = 0; i < world->spaces[s]->map_count; i++) {
            const struct vmv_mapping *map = &world->spaces[s]->maps[i];
            uint64_t resident = vmv_space_count(world->spaces[s], map->start, map->end).resident;
            if (resident > most) most = resident, best = map->start;
        }
    return best;
}

static void look_at(struct bench *bench, uint64_t zoom, uint64_t place) {
    char line[96];
    snprintf(line, sizeof line, "goto 0x%" PRIx64, place);
    run(bench, line);
    snprintf(line, sizeof line, "zoom %" PRIu64, zoom);
    run(bench, line);
}

int main(int argc, char **argv) {
    static struct bench bench = {.random = 88172645463325252u};
    if (argc != 2) return fprintf(stderr, "usage: bench_view TRACE\n"), 2;
    open_trace(&bench, argv[1]);
    seek_random(&bench, "seek to 200 random moments");
    seek_random(&bench, "the same, other moments, warm");
    uint64_t busy = find_busy(&bench);
    draw_look(&bench, "space");
    look_at(&bench, 64 << 20, busy);
    draw_look(&bench, "pages");
    look_at(&bench, 4096, busy);
    draw_look(&bench, "bytes");
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%-40s %8.1f MiB\n", "peak memory", (double)usage.ru_maxrss / 1024);
    return 0;
}
