/* Hilbert's curve through a square of 2^bits x 2^bits cells. It begins at the upper left corner and ends at the upper
 * right one, so that squares side by side continue each other. Pure. */
#ifndef MAP_HILBERT_H
#define MAP_HILBERT_H

#include <stdint.h>

#define MAP_HILBERT_BITS_MAX 15

void map_hilbert_cell(unsigned bits, uint32_t place, uint32_t *x, uint32_t *y);
uint32_t map_hilbert_place(unsigned bits, uint32_t x, uint32_t y);

#endif
