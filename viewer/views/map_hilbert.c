#include "map_hilbert.h"

/* Turns the quarter of side `side` that (x, y) lies in, as the curve does. */
static void turn(uint32_t side, uint32_t *x, uint32_t *y, uint32_t right, uint32_t low) {
    if (low) return;
    if (right) {
        *x = side - 1 - *x;
        *y = side - 1 - *y;
    }
    uint32_t swap = *x;
    *x = *y;
    *y = swap;
}

void map_hilbert_cell(unsigned bits, uint32_t place, uint32_t *x, uint32_t *y) {
    *x = *y = 0;
    for (uint32_t side = 1; side < 1u << bits; side *= 2, place /= 4) {
        uint32_t right = 1 & (place / 2), low = 1 & (place ^ right);
        turn(side, x, y, right, low);
        *x += side * right;
        *y += side * low;
    }
}

uint32_t map_hilbert_place(unsigned bits, uint32_t x, uint32_t y) {
    uint32_t place = 0;
    for (uint32_t side = (1u << bits) / 2; side > 0; side /= 2) {
        uint32_t right = (x & side) > 0, low = (y & side) > 0;
        place += side * side * ((3 * right) ^ low);
        x &= side - 1;
        y &= side - 1;
        turn(side, &x, &y, right, low);
    }
    return place;
}
