// The map over a made recording: the address under the pointer stays there at every zoom, and nothing touched
// vanishes.
#include "map_scene.h"

#include <math.h>

// --- the address under the pointer

// The camera's address is where the pointer is, as exactly as the look shows addresses.
static void check_under_pointer(struct scene *scene, int x, int y) {
    const struct map_drawn *drawn = drawn_of(scene);
    uint64_t at = scene->app.camera.at;
    struct ui_rect rect;
    if (drawn->look == APP_LOOK_SPACE && x < drawn->cells.x - 6) {
        assert_true(fabs(map_window_y(&drawn->window, at) - (y - drawn->strip.y)) <= 1);
        return;
    }
    if (drawn->look == APP_LOOK_SPACE) {
        const struct map_list *list = &scene->app.map_cache->list;
        size_t index = map_list_at(list, y - drawn->cells.y);
        assert_true(index < list->count);
        assert_true(list->entry[index].start <= at && at < list->entry[index].end);
        return;
    }
    if (drawn->look == APP_LOOK_PAGES) {
        const struct map_item *item = map_flow_at(&scene->app.map_cache->flow, y - drawn->cells.y);
        assert_non_null(item);
        assert_true(item->start <= (int64_t)at && (int64_t)at < item->end);
        bool inside = x >= drawn->cells.x && x < drawn->cells.x + map_grid_width(&drawn->grid);
        if (item->note || !inside || scene->app.map_cache->hilbert) return;
        assert_true(view_map_rect_of(&scene->app, at, 1, &rect));
        assert_true(x >= rect.x - 1 && x <= ui_rect_right(rect) && y >= rect.y - 1 && y <= ui_rect_bottom(rect));
        return;
    }
    /* Above the first and below the last row there is nothing. */
    if (y < drawn->lens.y + drawn->pitch || y >= ui_rect_bottom(drawn->lens) - drawn->pitch) return;
    for (int i = 0; i < drawn->row_count; i++) {
        if (drawn->row[i].addr != at - at % 16) continue;
        int top = drawn->main.y + drawn->row[i].y;
        assert_true(y >= top && y <= top + drawn->pitch);
        return;
    }
    fail_msg("%llx is not in the lens at y %d", (unsigned long long)at, y);
}

static void zoom_there_and_back(struct scene *scene, int x, int y) {
    app_camera_show(&scene->app, 0, UINT64_C(1) << 47, 0);
    send(scene, ui_event_mouse(UI_EVENT_MOVE, x, y, 0));
    uint64_t at[40];
    int steps = 0;
    for (; steps < 40 && scene->app.camera.bits.to > 9; steps++) {
        view_map_zoom(&scene->app, 1);
        draw(scene);
        at[steps] = scene->app.camera.at;
        check_under_pointer(scene, x, y);
    }
    while (steps-- > 0) {
        assert_true(drawn_of(scene)->look == APP_LOOK_BYTES || scene->app.camera.at / 16 == at[steps] / 16);
        view_map_zoom(&scene->app, -1);
        draw(scene);
        if (scene->app.camera.bits.to < 46.9) check_under_pointer(scene, x, y);
    }
    assert_true(scene->app.camera.bits.to == APP_BITS_MAX);
}

static void test_zoom_keeps_the_address(void **state) {
    (void)state;
    struct scene *scene = open_scene("records");
    draw(scene);
    struct ui_rect list = drawn_of(scene)->cells, strip = drawn_of(scene)->strip;
    for (int y = list.y + 3; y < ui_rect_bottom(list) - 12; y += 7) zoom_there_and_back(scene, list.x + 250, y);
    for (int y = list.y + 3; y < ui_rect_bottom(list) - 12; y += 31) zoom_there_and_back(scene, list.x + 380, y);
    for (int y = strip.y + 1; y < ui_rect_bottom(strip) - 4; y += 43) zoom_there_and_back(scene, strip.x + 20, y);
    close_scene(scene);
}

// Zooming among the pages at many places, in steps and halves of them, in and out.
static void test_zoom_among_pages(void **state) {
    (void)state;
    struct scene *scene = open_scene("records");
    uint64_t seed = 99;
    draw(scene);
    for (int round = 0; round < 60; round++) {
        uint64_t addr = scene->touched[made_random(&seed) % scene->touched_count];
        app_camera_zoom(&scene->app, 16 + (double)(made_random(&seed) % 110) / 10, addr, 40, 0);
        draw(scene);
        struct ui_rect cells = drawn_of(scene)->cells;
        int x = cells.x + (int)(made_random(&seed) % (unsigned)cells.w);
        int y = cells.y + 60 + (int)(made_random(&seed) % 60);
        send(scene, ui_event_mouse(UI_EVENT_MOVE, x, y, 0));
        if (!map_flow_at(&scene->app.map_cache->flow, y - cells.y)) continue;
        uint64_t under;
        bool any = view_map_address_at(&scene->app, x, y, &under);
        send(scene, ui_event_wheel(x, y, 0.5));
        if (any) assert_true(drawn_of(scene)->look != APP_LOOK_PAGES || scene->app.camera.at == under);
        for (int step = 0; step < 12; step++) {
            check_under_pointer(scene, x, y);
            send(scene, ui_event_wheel(x, y, step % 4 < 2 ? 0.5 : -1));
        }
    }
    close_scene(scene);
}

// --- nothing touched vanishes

static void check_all_seen(struct scene *scene) {
    struct map_frame frame = {.app = &scene->app, .cache = scene->app.map_cache, .draw = scene->draw};
    const struct map_flow *flow = &scene->app.map_cache->flow;
    const struct map_grid *grid = &drawn_of(scene)->grid;
    const struct map_item *first = &flow->item[0], *last = &flow->item[flow->count - 1];
    for (size_t i = 0; i < scene->touched_count; i++) {
        uint64_t addr = scene->touched[i];
        if ((int64_t)addr < first->start || (int64_t)addr >= last->end) continue;
        const struct map_item *item = map_flow_find(flow, addr);
        assert_non_null(item);
        assert_false(item->note);
        int column, row;
        map_grid_cell(grid, (uint64_t)((int64_t)addr - item->start), &column, &row);
        int64_t cell = item->start + (int64_t)map_grid_offset(grid, column, row);
        struct map_page page;
        const struct app_mapping *mapping = NULL;
        uint64_t from = cell < 0 ? 0 : (uint64_t)cell, to = (uint64_t)(cell + (int64_t)map_grid_cell_bytes(grid));
        assert_true(map_pages_strongest(&frame, from, to, &page, &mapping));
        assert_true(page.flags & MAP_PAGE_TOUCHED); // drawn as more than dots, on a pixel at least
        assert_true(page.strength > 1 && grid->cell_w - grid->gap > 0 && grid->cell_h - grid->gap > 0);
    }
}

static void test_nothing_touched_vanishes(void **state) {
    (void)state;
    struct scene *scene = open_scene("records");
    uint64_t seed = 4242;
    for (int hilbert = 0; hilbert <= 1; hilbert++) {
        view_map_set_hilbert(&scene->app, hilbert);
        for (int round = 0; round < 120; round++) {
            uint64_t addr = scene->touched[made_random(&seed) % scene->touched_count];
            app_camera_zoom(&scene->app, 14 + (double)(made_random(&seed) % 139) / 10, addr,
                            (double)(made_random(&seed) % 500), 0);
            draw(scene);
            assert_int_equal(drawn_of(scene)->look, APP_LOOK_PAGES);
            check_all_seen(scene);
        }
    }
    close_scene(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zoom_keeps_the_address),
        cmocka_unit_test(test_zoom_among_pages),
        cmocka_unit_test(test_nothing_touched_vanishes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
