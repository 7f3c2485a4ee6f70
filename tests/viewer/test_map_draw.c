// What the map draws: names and values in the draw list, unknown as unknown, the legend, what costs nothing, and
// windows of any size.
#include "map_scene.h"

#include <stdio.h>
#include <time.h>

// The map's part of the draw list as text; the caller frees it.
static char *dump_map(struct scene *scene) {
    char *text = calloc(1, 1 << 22);
    FILE *out = fmemopen(text, (1 << 22) - 1, "w");
    assert_true(text && out);
    draw(scene);
    assert_true(ui_draw_dump(scene->draw, out));
    fclose(out);
    char *panel = strstr(text, "\npanel map\n"), *end = panel ? strstr(panel + 1, "\npanel ") : NULL;
    assert_non_null(panel);
    if (end) *end = '\0';
    memmove(text, panel, strlen(panel) + 1);
    return text;
}

static void must_have(const char *text, const char *what) {
    if (!strstr(text, what)) fail_msg("the map does not say: %s", what);
}

// --- the look of the space

static void test_rows_equal_the_mappings(void **state) {
    (void)state;
    struct scene *scene = open_scene("records");
    scene->app.height = 1400; /* all rows are seen */
    char *text = dump_map(scene), *at = text;
    const struct app_regions *regions = app_regions(&scene->app);
    must_have(text, "look space\n");
    must_have(text, "strip scale\n");
    must_have(text, "column address\n");
    must_have(text, "column perm\n");
    must_have(text, "column mapping\n");
    must_have(text, "column size\n");
    must_have(text, "legend map\n");
    for (size_t i = 0; i < regions->count; i++) { // in order, each with its size and what is resident
        char line[128];
        const struct vmv_mapping *map = regions->map[i].map;
        snprintf(line, sizeof line, "value start %012llx\n", (unsigned long long)map->start);
        at = strstr(at, line);
        assert_non_null(at);
        snprintf(line, sizeof line, "value size %llu\n", (unsigned long long)(map->end - map->start));
        at = strstr(at, line);
        assert_non_null(at);
        snprintf(line, sizeof line, "value resident %llu\n", (unsigned long long)regions->map[i].resident * PAGE);
        at = strstr(at, line);
        assert_non_null(at);
    }
    free(text);
    close_scene(scene);
}

// --- pages

static void test_cells_say_their_state(void **state) {
    (void)state;
    struct scene *scene = open_scene("records");
    app_camera_zoom(&scene->app, 24, HEAP, 40, 0);
    char *text = dump_map(scene);
    must_have(text, "look pages\n");
    must_have(text, "ladder map\n");
    must_have(text, "strip space\n");
    must_have(text, "strip mappings\n");
    must_have(text, "ruler row\n");
    must_have(text, "choice order\n");
    must_have(text, "choice gaps\n");
    must_have(text, "row 555555600000\n");
    must_have(text, "exact now"); // the captured page
    free(text);
    app_camera_zoom(&scene->app, 24, THREAD_STACK, 400, 0);
    text = dump_map(scene);
    must_have(text, "1 guard");
    must_have(text, "name sp worker\n");
    must_have(text, " never touched\n");
    free(text);
    close_scene(scene);
}

// Without records of faults, pages between two frames are not known to be untouched.
static void test_unknown_is_drawn_unknown(void **state) {
    (void)state;
    struct scene *scene = open_scene("frames");
    app_seek(&scene->app, 5 * MS); // before the first frame
    app_camera_zoom(&scene->app, 24, HEAP, 40, 0);
    draw(scene);
    struct map_frame frame = {.app = &scene->app, .cache = scene->app.map_cache, .draw = scene->draw};
    assert_int_equal(map_page_at(&frame, HEAP)->pattern, UI_PATTERN_UNKNOWN);
    char *text = dump_map(scene);
    must_have(text, "unknown");
    assert_null(strstr(text, "exact"));
    free(text);
    close_scene(scene);
}

// --- bytes

static void test_bytes(void **state) {
    (void)state;
    struct scene *scene = open_scene("records");
    app_goto(&scene->app, app_place_bytes(HEAP + 0x28, 8));
    char *text = dump_map(scene);
    must_have(text, "look bytes\n");
    must_have(text, "strip mapping\n");
    must_have(text, "strip page\n");
    must_have(text, "row 555555600000\n");
    must_have(text, "\"+000\"");
    must_have(text, "\"41\"");
    must_have(text, "line 1");
    must_have(text, "64 lines of 64 bytes");
    free(text);
    struct ui_rect rect;
    assert_true(view_map_rect_of(&scene->app, HEAP + 0x28, 8, &rect));
    uint64_t addr;
    assert_true(view_map_address_at(&scene->app, rect.x + 5, rect.y + 5, &addr));
    assert_int_equal(addr, HEAP + 0x28);
    close_scene(scene);
}

static void test_goto_shows_the_selection(void **state) {
    (void)state;
    struct scene *scene = open_scene("records");
    for (uint64_t offset = 0; offset < PAGE - 8; offset += 0x98) {
        struct ui_rect rect;
        app_goto(&scene->app, app_place_bytes(HEAP + 3 * PAGE + offset, 8));
        draw(scene);
        draw(scene);
        assert_true(view_map_rect_of(&scene->app, HEAP + 3 * PAGE + offset, 8, &rect));
    }
    close_scene(scene);
}

// --- what costs nothing

static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void test_a_reservation_costs_nothing(void **state) {
    (void)state;
    struct scene *scene = open_scene("records");
    double begin = now_ms();
    for (double bits = 14; bits < 47; bits += 0.5) {
        app_camera_zoom(&scene->app, bits, RESERVED + (UINT64_C(1) << 45), 200, 0);
        draw(scene);
        view_map_pan(&scene->app, 0.7);
        draw(scene);
    }
    assert_true(scene->app.map_cache->pages.count < 4000); // 64 TiB have 2^28 blocks
    assert_true(now_ms() - begin < 20000);
    close_scene(scene);
}

// --- any window, any place

static void test_windows_of_any_size(void **state) {
    (void)state;
    struct scene *scene = open_scene("records");
    uint64_t seed = 31337;
    const int sizes[][2] = {{640, 400}, {1, 1}, {320, 200}, {1024, 640}, {1440, 900}, {2560, 1440}, {900, 170}};
    for (int round = 0; round < 200; round++) {
        const int *size = sizes[made_random(&seed) % 7];
        scene->app.width = size[0];
        scene->app.height = size[1];
        scene->app.colour = (enum app_colour)(made_random(&seed) % APP_COLOUR_COUNT);
        scene->app.gaps_collapsed = made_random(&seed) % 2;
        view_map_set_hilbert(&scene->app, made_random(&seed) % 2);
        uint64_t addr = made_random(&seed) >> (made_random(&seed) % 64);
        app_camera_zoom(&scene->app, 6 + (double)(made_random(&seed) % 420) / 10, addr,
                        (double)(made_random(&seed) % 900) - 200, 0);
        if (round % 4 == 0) app_select(&scene->app, app_place_bytes(addr, made_random(&seed) % 100));
        draw(scene);
        send(scene,
             ui_event_mouse(UI_EVENT_MOVE, (int)(made_random(&seed) % 1500), (int)(made_random(&seed) % 900), 0));
        scene->clock += 400; // the card is due
        draw(scene);
        view_map_pan(&scene->app, (double)(made_random(&seed) % 100) / 10 - 5);
        draw(scene);
        view_map_zoom(&scene->app, (double)(made_random(&seed) % 60) / 10 - 3);
        draw(scene);
        assert_false(ui_draw_failed(scene->draw));
    }
    close_scene(scene);
}

static void test_no_space(void **state) {
    (void)state;
    struct scene *scene = open_scene("records");
    app_seek(&scene->app, 0);
    if (!scene->app.space) {
        char *text = dump_map(scene);
        must_have(text, "no address space");
        free(text);
    }
    view_map_zoom(&scene->app, 3);
    view_map_pan(&scene->app, 1);
    draw(scene);
    close_scene(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_equal_the_mappings),  cmocka_unit_test(test_cells_say_their_state),
        cmocka_unit_test(test_unknown_is_drawn_unknown), cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_goto_shows_the_selection), cmocka_unit_test(test_a_reservation_costs_nothing),
        cmocka_unit_test(test_windows_of_any_size),      cmocka_unit_test(test_no_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
