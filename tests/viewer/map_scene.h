// A made recording with all that the map has to show, and a window over it, for the tests of the map.
#ifndef MAP_SCENE_H
#define MAP_SCENE_H

#include "map.h"
#include "map_order.h"
#include "timeline_fixture.h"

#define PROGRAM UINT64_C(0x555555554000)
#define RESERVED UINT64_C(0x100000000000)
#define THREAD_STACK UINT64_C(0x7fffe0000000)
#define STACK UINT64_C(0x7ffffffde000)
#define SCATTERED UINT64_C(0x7fff10000000)

enum { HEAP_PAGES = 700, SCATTERED_PAGES = 60000, STACK_PAGES = 2048 };

struct scene {
    struct made made;
    struct timeline *tl;
    struct app app;
    struct ui_draw *draw;
    uint64_t touched[4000];
    size_t touched_count;
    double clock;
};

static inline void touch(struct scene *scene, uint64_t addr) {
    made_pages(&scene->made, addr, 1, VMV_PAGE_RESIDENT, VMV_PAGEF_WRITTEN);
    if (scene->touched_count < 4000) scene->touched[scene->touched_count++] = addr;
}

static inline void thread_at(struct made *made, int32_t tid, uint64_t pc, uint64_t sp) {
    made_event(made, (struct vmv_event){.type = VMV_EV_THREAD,
                                        .tid = tid,
                                        .state = VMV_THREAD_RUNNING,
                                        .syscall = -1,
                                        .name = "worker",
                                        .pc = pc,
                                        .sp = sp,
                                        .certainty = VMV_CERT_EXACT});
}

static inline void map_all(struct made *made) {
    made_space(made, 1, 100, 0);
    made_map_file(made, PROGRAM, 40, MAP_PRIVATE, 0, "/bin/prog");
    made_mmap(made, HEAP, HEAP_PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    made_mmap(made, RESERVED, UINT64_C(1) << 34, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    made_mmap(made, SCATTERED, SCATTERED_PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    made_mmap(made, THREAD_STACK - PAGE, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK);
    made_mmap(made, THREAD_STACK, STACK_PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK);
    for (uint64_t i = 0; i < 30; i++)
        made_mmap(made, ANON + i * 17 * PAGE, 5, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
}

static inline void touch_some(struct scene *scene, uint64_t *seed) {
    for (uint64_t i = 0; i < HEAP_PAGES; i++)
        if (made_random(seed) % 3) touch(scene, HEAP + i * PAGE);
    for (int i = 0; i < 900; i++) touch(scene, SCATTERED + made_random(seed) % SCATTERED_PAGES * PAGE);
    for (uint64_t i = 0; i < 30; i++) touch(scene, ANON + (i * 17 + i % 5) * PAGE);
    for (uint64_t i = 1; i < 4; i++) touch(scene, THREAD_STACK + (STACK_PAGES - i) * PAGE);
}

static inline struct scene *open_scene(const char *faults) {
    struct scene *scene = calloc(1, sizeof *scene);
    uint64_t seed = 88172645463325252u;
    assert_non_null(scene);
    scene->made = made_begin(faults);
    scene->made.t = MS;
    map_all(&scene->made);
    scene->made.t = 20 * MS;
    made_frame(&scene->made, 100);
    touch_some(scene, &seed);
    made_content(&scene->made, HEAP, 0x41, VMV_CERT_EXACT);
    thread_at(&scene->made, 100, PROGRAM + 5 * PAGE + 10, THREAD_STACK + (STACK_PAGES - 2) * PAGE + 8);
    scene->made.t = 60 * MS;
    made_frame(&scene->made, 0);
    made_finish(&scene->made);
    scene->tl = made_open(&scene->made);
    assert_true(app_init(&scene->app, scene->tl));
    scene->app.motion = false;
    scene->app.patient = true;
    scene->app.colour = APP_COLOUR_WRITTEN;
    scene->draw = ui_draw_create();
    assert_non_null(scene->draw);
    app_seek(&scene->app, 30 * MS);
    return scene;
}

static inline void close_scene(struct scene *scene) {
    app_free(&scene->app);
    ui_draw_destroy(scene->draw);
    timeline_close(scene->tl);
    made_remove(&scene->made);
    free(scene);
}

static inline void draw(struct scene *scene) {
    scene->clock += 16;
    app_draw(&scene->app, scene->draw, scene->clock);
}

static inline void send(struct scene *scene, struct ui_input_event event) {
    ui_context_event(&scene->app.ui, &event, scene->clock);
    draw(scene);
}

static inline const struct map_drawn *drawn_of(const struct scene *scene) { return &scene->app.map_cache->drawn; }

#endif
