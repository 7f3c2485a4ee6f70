// The map's arithmetic: Hilbert's curve, grids of cells, rows and folds, the list of mappings, steps of the wheel.
#include "map.h"
#include "map_hilbert.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PAGE = 4096 };

static uint64_t random_of(uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

// --- Hilbert

static void test_hilbert_is_a_bijection(void **state) {
    (void)state;
    for (unsigned bits = 0; bits <= 7; bits++) {
        uint32_t side = 1u << bits, last_x = 0, last_y = 0;
        for (uint32_t place = 0; place < side * side; place++) {
            uint32_t x, y;
            map_hilbert_cell(bits, place, &x, &y);
            assert_true(x < side && y < side);
            assert_int_equal(map_hilbert_place(bits, x, y), place);
            if (place) assert_int_equal(abs((int)x - (int)last_x) + abs((int)y - (int)last_y), 1); // neighbours
            last_x = x, last_y = y;
        }
        assert_int_equal(last_x, side - 1); // the next square goes on beside it
        assert_int_equal(last_y, 0);
    }
}

// --- grids

static void test_grid_cells_and_addresses(void **state) {
    (void)state;
    for (int hilbert = 0; hilbert <= 1; hilbert++)
        for (double bits = 8; bits <= 47; bits += 0.7)
            for (int width = 20; width < 1800; width += 333) {
                struct map_grid grid = map_grid_make(bits, width, 560, PAGE, hilbert);
                assert_true(grid.cell_w >= 2 && grid.cell_h >= 1);
                assert_true(map_grid_width(&grid) <= width);
                uint64_t seed = 88172645463325252u;
                for (int i = 0; i < 50; i++) {
                    uint64_t addr = random_of(&seed) >> 17;
                    if (!hilbert) map_grid_shift(&grid, addr, i % map_grid_columns(&grid));
                    int64_t start = map_grid_band_start(&grid, addr);
                    uint64_t band = map_grid_band_bytes(&grid);
                    assert_true(start <= (int64_t)addr && addr - (uint64_t)start < band);
                    int column, row;
                    map_grid_cell(&grid, addr - (uint64_t)start, &column, &row);
                    assert_true(column >= 0 && column < map_grid_columns(&grid));
                    assert_true(row >= 0 && row < map_grid_band_rows(&grid));
                    if (!hilbert) assert_int_equal(column, i % map_grid_columns(&grid));
                    uint64_t cell = (uint64_t)start + map_grid_offset(&grid, column, row);
                    assert_true(cell <= addr && addr - cell < map_grid_cell_bytes(&grid));
                }
            }
}

static void test_grid_of_the_look(void **state) {
    (void)state;
    struct map_grid grid = map_grid_make(24, 576, 574, PAGE, false);
    assert_int_equal(grid.cell_w, 9);
    assert_int_equal(grid.cell_h, 9);
    assert_int_equal(map_grid_columns(&grid), 64);
    assert_int_equal(grid.gap, 1);
    assert_int_equal(grid.unit_bits, 0);
}

// --- rows and folds: random sets of things to be seen

struct seen_set {
    uint64_t addr[400];
    int count;
};

static bool set_next(void *user, uint64_t from, uint64_t end, uint64_t *found) {
    const struct seen_set *set = user;
    for (int i = 0; i < set->count; i++)
        if (set->addr[i] >= from && set->addr[i] < end) return *found = set->addr[i], true;
    return false;
}

static bool set_last(void *user, uint64_t from, uint64_t end, uint64_t *found) {
    const struct seen_set *set = user;
    for (int i = set->count; i-- > 0;)
        if (set->addr[i] >= from && set->addr[i] < end) return *found = set->addr[i], true;
    return false;
}

static int by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static struct seen_set make_set(uint64_t *seed) {
    struct seen_set set = {.count = 1 + (int)(random_of(seed) % 400)};
    uint64_t at = random_of(seed) >> 20;
    for (int i = 0; i < set.count; i++) {
        unsigned far = random_of(seed) % 40;
        at += random_of(seed) % (PAGE * (far == 0 ? UINT64_C(1) << 30 : far < 6 ? UINT64_C(1) << 12 : UINT64_C(8)));
        set.addr[i] = at < MAP_SPACE_END ? at : at % MAP_SPACE_END;
    }
    qsort(set.addr, (size_t)set.count, sizeof *set.addr, by_value);
    return set;
}

static void check_items(const struct map_flow *flow, const struct map_grid *grid, struct seen_set *set, int height) {
    int64_t band = (int64_t)map_grid_band_bytes(grid);
    for (size_t i = 0; i < flow->count; i++) {
        const struct map_item *item = &flow->item[i];
        uint64_t found, start = item->start < 0 ? 0 : (uint64_t)item->start;
        if (item->note) { // nothing to be seen is folded away
            assert_false(set_next(set, start, (uint64_t)item->end, &found));
            assert_int_equal(item->h, MAP_NOTE);
            assert_int_equal((item->end - item->start) % band, 0);
        } else {
            assert_true(set_next(set, start, (uint64_t)item->end, &found));
            assert_int_equal(item->end - item->start, band);
            assert_int_equal(item->h, map_grid_band_height(grid));
        }
        if (!i) continue; // one after the other, without a hole; notes are joined
        assert_int_equal(item->start, item[-1].end);
        assert_int_equal(item->y, item[-1].y + item[-1].h);
        assert_false(item->note && item[-1].note);
    }
    const struct map_item *first = &flow->item[0], *last = &flow->item[flow->count - 1];
    assert_true(first->y <= 0 || first->start <= 0);
    assert_true(last->y + last->h >= height || last->end >= (int64_t)MAP_SPACE_END);
}

static void test_flow_of_random_sets(void **state) {
    (void)state;
    uint64_t seed = 2463534242u;
    struct map_flow flow = {0};
    for (int round = 0; round < 300; round++) {
        struct seen_set set = make_set(&seed);
        struct map_source source = {&set, set_next, set_last, MAP_SPACE_END, true};
        struct map_grid grid =
            map_grid_make(14 + (double)(random_of(&seed) % 140) / 10, 576, 560, PAGE, round % 5 == 4);
        uint64_t at = round % 3 ? set.addr[random_of(&seed) % (unsigned)set.count] : random_of(&seed) % MAP_SPACE_END;
        map_grid_shift(&grid, at, (int)(random_of(&seed) % (unsigned)map_grid_columns(&grid)));
        double y = (double)(random_of(&seed) % 560), share = (double)(random_of(&seed) % 100) / 100;
        assert_true(map_flow_build(&flow, &grid, &source, at, y, share, 560));
        check_items(&flow, &grid, &set, 560);
        const struct map_item *item = map_flow_find(&flow, at); // what stands at y is what was asked for
        assert_non_null(item);
        assert_true(fabs(item->y + share * item->h - y) <= 1);
    }
    map_flow_free(&flow);
}

static void test_flow_to_scale(void **state) {
    (void)state;
    struct seen_set set = {.addr = {0x7f0000000000}, .count = 1};
    struct map_source source = {&set, set_next, set_last, MAP_SPACE_END, false};
    struct map_grid grid = map_grid_make(24, 576, 560, PAGE, false);
    struct map_flow flow = {0};
    assert_true(map_flow_build(&flow, &grid, &source, 0x7f0000000000, 100, 0, 560));
    for (size_t i = 0; i < flow.count; i++) assert_false(flow.item[i].note);
    map_flow_free(&flow);
}

// --- several pages in a cell

static void test_the_strongest_wins(void **state) {
    (void)state;
    struct map_page into = {0};
    struct map_page dots = {UI_RULE2, UI_PATTERN_DOT, 1, -1, MAP_PAGE_MAPPED};
    struct map_page unknown = {UI_DIM, UI_PATTERN_UNKNOWN, 1, -1, MAP_PAGE_MAPPED};
    struct map_page older = {UI_WRITTEN_OLD, UI_PATTERN_EXACT, 5, 4, MAP_PAGE_MAPPED | MAP_PAGE_TOUCHED};
    struct map_page now = {UI_WRITTEN_NOW, UI_PATTERN_STALE, 9, 0, MAP_PAGE_MAPPED | MAP_PAGE_TOUCHED};
    struct map_page guard = {UI_ATTENTION, UI_PATTERN_GUARD, 10, -1, MAP_PAGE_MAPPED};
    const struct map_page *order[] = {&dots, &unknown, &older, &now, &guard};
    for (int from = 0; from < 5; from++) // in any order of merging
        for (int to = 0; to < 5; to++) {
            into = (struct map_page){0};
            map_page_merge(&into, order[from]);
            map_page_merge(&into, order[to]);
            const struct map_page *strongest = order[from > to ? from : to];
            assert_int_equal(into.pattern, strongest->pattern);
            assert_int_equal(into.color, strongest->color);
            assert_int_equal(into.flags, order[from]->flags | order[to]->flags);
        }
}

// --- the list of mappings

struct made_regions {
    struct app_regions regions;
    struct vmv_mapping map[2000];
    struct app_mapping mapping[2000];
};

static void make_regions(struct made_regions *made, int count, uint64_t *seed) {
    uint64_t at = 0x10000;
    *made = (struct made_regions){.regions = {.count = (size_t)count}};
    made->regions.map = made->mapping;
    for (int i = 0; i < count; i++) {
        if (random_of(seed) % 3)
            at += PAGE * (1 + random_of(seed) % (random_of(seed) % 9 ? UINT64_C(100) : UINT64_C(1) << 28));
        uint64_t length = PAGE * (1 + random_of(seed) % 3000);
        made->map[i] = (struct vmv_mapping){.start = at, .end = at + length, .name = ""};
        made->mapping[i] = (struct app_mapping){.map = &made->map[i], .group = (int)(random_of(seed) % 3)};
        at += length;
    }
}

static void test_list_holds_every_mapping(void **state) {
    (void)state;
    struct made_regions *made = malloc(sizeof *made);
    struct map_list list = {0};
    uint64_t seed = 362436069;
    for (int round = 0; round < 60; round++) {
        make_regions(made, 1 + round * 30, &seed);
        struct map_window window = map_window_make(47, 0, 0, 554);
        assert_true(map_list_build(&list, &made->regions, &window, round % 2));
        size_t next = 0;
        for (size_t i = 0; i < list.count; i++) {
            const struct map_entry *entry = &list.entry[i];
            if (entry->kind == MAP_ENTRY_GAP) continue;
            assert_int_equal(entry->first, next);
            next += entry->count;
            assert_int_equal(map_list_find(&list, entry->start), i);
        }
        assert_int_equal(next, made->regions.count);
        assert_int_equal(list.entry[0].start, 0); // the space is covered from end to end
        assert_int_equal(list.entry[list.count - 1].end, MAP_SPACE_END);
        uint64_t at = made->map[random_of(&seed) % made->regions.count].start;
        map_list_place(&list, 560, at, 200, 0.5, round % 4 > 1);
        assert_true(list.row_h >= MAP_ROW_LEAST && list.row_h <= MAP_ROW_MOST);
        for (size_t i = 1; i < list.count; i++)
            assert_int_equal(map_list_y(&list, &list.entry[i]),
                             map_list_y(&list, &list.entry[i - 1]) + map_list_h(&list, &list.entry[i - 1]));
        assert_true(map_list_to_scale(&list, &made->regions, &window));
        next = 0;
        for (size_t i = 0; i < list.count; i++) {
            if (list.entry[i].kind == MAP_ENTRY_GAP) continue;
            next += list.entry[i].count;
            assert_true(list.entry[i].h > 0);
            if (list.count > 1) assert_true(list.entry[i].y + list.entry[i].h <= list.height);
        }
        assert_int_equal(next, made->regions.count);
    }
    map_list_free(&list);
    free(made);
}

static void test_rows_shrink_before_they_scroll(void **state) {
    (void)state;
    struct made_regions *made = malloc(sizeof *made);
    struct map_list list = {0};
    struct map_window window = map_window_make(47, 0, 0, 554);
    uint64_t seed = 77;
    double last = MAP_ROW_MOST;
    for (int count = 1; count < 100; count++) {
        make_regions(made, count, &seed);
        assert_true(map_list_build(&list, &made->regions, &window, false));
        map_list_place(&list, 560, 0, 0, 0, false);
        if (list.row_h > MAP_ROW_LEAST) assert_true(map_list_content(&list) <= 561);
        assert_true(list.row_h <= MAP_ROW_MOST);
        last = list.row_h;
    }
    assert_true(last == MAP_ROW_LEAST);
    map_list_free(&list);
    free(made);
}

static void test_bars(void **state) {
    (void)state;
    assert_int_equal(map_bar_width(PAGE, PAGE, 15), 10);
    assert_int_equal(map_bar_width(2 * PAGE, PAGE, 15), 25);
    assert_int_equal(map_bar_width(16384ull * PAGE, PAGE, 15), 220);
    double step = map_bar_step(280, 1ull << 46, PAGE, 15);
    assert_true(map_bar_width(1ull << 46, PAGE, step) <= 280);
}

// --- the scale strip and the wheel

static void test_window_keeps_its_address(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (int i = 0; i < 200; i++) {
        uint64_t at = random_of(&seed) % MAP_SPACE_END;
        struct map_window whole = map_window_make(47, at, 0.3, 554);
        double y = map_window_y(&whole, at);
        for (double bits = 47; bits >= 28; bits -= 0.5) { // in around a point: it stays within a pixel
            struct map_window window = map_window_make(bits, at, y / 554, 554);
            assert_true(fabs(map_window_y(&window, at) - y) < 0.5);
            assert_true(window.from >= 0 && window.from + window.length <= 0x1p47);
        }
    }
}

static void test_wheel_steps_are_reversible(void **state) {
    (void)state;
    for (double bits = 9.5; bits < 46.9; bits += 0.37) {
        double in = map_zoom_bits(bits, 1);
        assert_true(in <= bits);
        if (in > 9) assert_true(fabs(map_zoom_bits(in, -1) - bits) < 1e-6);
        assert_true(map_zoom_bits(bits, -1) > bits);
    }
    assert_true(map_zoom_bits(47, -3) == 47);
    assert_true(map_zoom_bits(9, 3) == 9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hilbert_is_a_bijection),
        cmocka_unit_test(test_grid_cells_and_addresses),
        cmocka_unit_test(test_grid_of_the_look),
        cmocka_unit_test(test_flow_of_random_sets),
        cmocka_unit_test(test_flow_to_scale),
        cmocka_unit_test(test_the_strongest_wins),
        cmocka_unit_test(test_list_holds_every_mapping),
        cmocka_unit_test(test_rows_shrink_before_they_scroll),
        cmocka_unit_test(test_bars),
        cmocka_unit_test(test_window_keeps_its_address),
        cmocka_unit_test(test_wheel_steps_are_reversible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
