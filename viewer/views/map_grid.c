#include "map_grid.h"

#include "map_hilbert.h"

#include <math.h>

enum { CELL_LEAST = 2, GAP_FROM = 4, SQUARE_BITS = 4, UNIT_BITS_MOST = 35 };

uint64_t map_grid_cell_bytes(const struct map_grid *grid) { return grid->page << grid->unit_bits; }
uint64_t map_grid_row_bytes(const struct map_grid *grid) { return map_grid_cell_bytes(grid) << grid->column_bits; }
uint64_t map_grid_band_bytes(const struct map_grid *grid) { return map_grid_row_bytes(grid) << grid->square_bits; }
int map_grid_columns(const struct map_grid *grid) { return 1 << grid->column_bits; }
int map_grid_band_rows(const struct map_grid *grid) { return 1 << grid->square_bits; }
int map_grid_width(const struct map_grid *grid) { return grid->cell_w << grid->column_bits; }
int map_grid_band_height(const struct map_grid *grid) { return grid->cell_h << grid->square_bits; }

/* Columns so that cells are as square as powers of two allow, but wide enough to be seen. */
static unsigned choose_columns(int width, double side) {
    long bits = lround(log2((double)width / side));
    if (bits < 0) bits = 0;
    while (bits > 0 && (width >> bits) < CELL_LEAST) bits--;
    return (unsigned)bits;
}

static int choose_height(const struct map_grid *grid, double bits, int height) {
    double high = (double)height * (double)map_grid_row_bytes(grid) / exp2(bits);
    int cell = high < 1 ? 1 : high > height ? height : (int)lround(high);
    int off = cell > grid->cell_w ? cell - grid->cell_w : grid->cell_w - cell;
    return off * 8 <= grid->cell_w ? grid->cell_w : cell;
}

struct map_grid map_grid_make(double bits, int width, int height, uint32_t page_size, bool hilbert) {
    struct map_grid grid = {.page = page_size ? page_size : 4096};
    if (width < CELL_LEAST) width = CELL_LEAST;
    if (height < CELL_LEAST) height = CELL_LEAST;
    double area = (double)width * height * (double)grid.page / exp2(bits); /* square pixels of one page */
    while (area < CELL_LEAST * CELL_LEAST && grid.unit_bits < UNIT_BITS_MOST) {
        area *= 2;
        grid.unit_bits++;
    }
    grid.column_bits = choose_columns(width, sqrt(area));
    grid.cell_w = width >> grid.column_bits;
    grid.cell_h = choose_height(&grid, bits, height);
    grid.gap = grid.cell_w >= GAP_FROM && grid.cell_h >= GAP_FROM;
    if (hilbert) grid.square_bits = grid.column_bits < SQUARE_BITS ? grid.column_bits : SQUARE_BITS;
    return grid;
}

void map_grid_shift(struct map_grid *grid, uint64_t addr, int column) {
    uint64_t cell = map_grid_cell_bytes(grid), row = map_grid_row_bytes(grid);
    grid->phase = 0;
    if (grid->square_bits || column < 0 || column >= map_grid_columns(grid)) return;
    grid->phase = (addr / cell * cell - (uint64_t)column * cell) & (row - 1);
}

int64_t map_grid_band_start(const struct map_grid *grid, uint64_t addr) {
    uint64_t band = map_grid_band_bytes(grid);
    if (addr < grid->phase) return (int64_t)grid->phase - (int64_t)band;
    return (int64_t)(addr - ((addr - grid->phase) & (band - 1)));
}

uint64_t map_grid_offset(const struct map_grid *grid, int column, int row) {
    uint64_t place = (uint64_t)column;
    if (grid->square_bits) {
        unsigned bits = grid->square_bits;
        uint32_t mask = (1u << bits) - 1, square = (uint32_t)column >> bits;
        place = ((uint64_t)square << 2 * bits) + map_hilbert_place(bits, (uint32_t)column & mask, (uint32_t)row & mask);
    }
    return place * map_grid_cell_bytes(grid);
}

void map_grid_cell(const struct map_grid *grid, uint64_t offset, int *column, int *row) {
    uint64_t place = offset / map_grid_cell_bytes(grid);
    if (!grid->square_bits) {
        *column = (int)place;
        *row = 0;
        return;
    }
    unsigned bits = grid->square_bits;
    uint32_t x, y, square = (uint32_t)(place >> 2 * bits);
    map_hilbert_cell(bits, (uint32_t)place & ((1u << 2 * bits) - 1), &x, &y);
    *column = (int)((square << bits) + x);
    *row = (int)y;
}
