/* The look of the space while it is drawn: what its files share. */
#ifndef MAP_SPACE_H
#define MAP_SPACE_H

#include "map.h"

struct map_space {
    struct map_frame *frame;
    struct map_window window;
    struct ui_rect strip;                        /* inside of the scale strip */
    struct ui_rect area;                         /* of the list */
    int tie_x;                                   /* where ties end */
    int address_x, perm_x, name_x, bar_x, right; /* columns of the list */
    double bar_step;
    bool columns; /* address and perm are shown */
};

/* --- map_strip.c
 * ------------------------------------------------------------------------------------------------------- */

void map_strip_draw(struct map_space *space);
/* From the mappings on the strip to their rows. */
void map_ties_draw(struct map_space *space);
/* The slivers of mappings within `inside`; also those of the ladder's strips. dimmed: at 55 %. */
void map_slivers_draw(struct map_frame *frame, const struct map_window *window, struct ui_rect inside);

/* --- map_rows_list.c
 * ----------------------------------------------------------------------------------------------------- */

void map_list_draw(struct map_space *space);
/* The rectangle of an entry's bar; of a gap: of its row. */
struct ui_rect map_list_bar(const struct map_drawn *drawn, const struct app_regions *regions, uint32_t page_size,
                            const struct map_list *list, const struct map_entry *entry);

#endif
