/* How pages lie in the map's look of pages: cells of equal size in rows of 2^n, rows in bands. In linear order a band
 * is one row; in Hilbert order it is as high as its squares, which stand side by side. Bands follow each other by
 * address, each 2^k bytes long. Pure arithmetic on addresses below 2^62 and pixels. */
#ifndef MAP_GRID_H
#define MAP_GRID_H

#include <stdbool.h>
#include <stdint.h>

struct map_grid {
    uint64_t page;        /* bytes */
    unsigned unit_bits;   /* a cell holds 2^unit_bits pages */
    unsigned column_bits; /* a row holds 2^column_bits cells */
    unsigned square_bits; /* Hilbert: squares of 2^square_bits cells a side; 0: linear */
    int cell_w, cell_h;   /* pixels from one cell to the next */
    int gap;              /* of these, left free between cells: 1, or 0 when cells are small */
    uint64_t phase;       /* bytes: bands begin at phase + i * band; less than a band */
};

/* The grid that shows about 2^bits bytes in width x height pixels: cells nearly square, 2 px at least. phase is 0. */
struct map_grid map_grid_make(double bits, int width, int height, uint32_t page_size, bool hilbert);

uint64_t map_grid_cell_bytes(const struct map_grid *grid);
uint64_t map_grid_row_bytes(const struct map_grid *grid);
uint64_t map_grid_band_bytes(const struct map_grid *grid);
int map_grid_columns(const struct map_grid *grid);
int map_grid_band_rows(const struct map_grid *grid);
int map_grid_width(const struct map_grid *grid);       /* pixels */
int map_grid_band_height(const struct map_grid *grid); /* pixels */

/* Bands from addr's on keep their length, but begin so that the cell of addr stands in `column` (linear order only). */
void map_grid_shift(struct map_grid *grid, uint64_t addr, int column);

/* Start of the band that holds addr; the first band may begin below 0. */
int64_t map_grid_band_start(const struct map_grid *grid, uint64_t addr);
/* Offset in bytes from the start of its band to a cell, and back. */
uint64_t map_grid_offset(const struct map_grid *grid, int column, int row);
void map_grid_cell(const struct map_grid *grid, uint64_t offset, int *column, int *row);

#endif
