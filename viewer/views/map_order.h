/* The order of pages within a row of the map, for the command that changes it. */
#ifndef MAP_ORDER_H
#define MAP_ORDER_H

#include "app.h"

bool view_map_hilbert(const struct app *app);
void view_map_set_hilbert(struct app *app, bool hilbert); /* false: linear */

#endif
