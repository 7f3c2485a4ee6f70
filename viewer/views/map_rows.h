/* The look of pages while it is drawn: what its files share. */
#ifndef MAP_ROWS_H
#define MAP_ROWS_H

#include "map.h"

struct map_cell {                      /* one cell of a row */
    const struct app_mapping *mapping; /* NULL: not mapped */
    uint64_t addr;
    int block; /* mappings that touch and belong together have one outline; -1: none */
    struct map_page page;
};

struct map_label { /* at the right margin */
    int y;         /* top of its line of text */
    bool bar;      /* a kind bar before it, else a sign or nothing */
    const struct map_marker *marker;
    ui_color bar_color, color;
    char text[APP_NAME_SIZE + 32];
};
enum { MAP_LABELS = 160, MAP_HUGE_TEXTS = 32 };

struct map_huge_text {
    struct ui_rect rect;
    struct map_page page;
    uint64_t bytes, pages;
};

struct map_rows {
    struct map_frame *frame;
    struct map_grid grid;
    struct ui_rect area;  /* of all rows; cells begin at its left edge */
    struct ui_rect panel; /* with the addresses before and the names behind */
    uint32_t *image;      /* small cells: area.w x area.h pixels; NULL: cells are large */
    struct map_label label[MAP_LABELS];
    int label_count;
    int block_named; /* blocks up to it have their name */
    struct map_huge_text huge[MAP_HUGE_TEXTS];
    int huge_count;
    uint64_t address_above; /* as printed in the row before, UI_NO_ADDRESS: none */
    int address_bottom;
};

/* --- map_cells.c
 * ------------------------------------------------------------------------------------------------------- */

bool map_cells_small(const struct map_grid *grid);
struct ui_rect map_cells_rect(const struct map_rows *rows, int column, int y);
/* The cells of one row of a band. */
void map_cells_fill(struct map_rows *rows, const struct map_item *item, int row, struct map_cell *cell);
/* above, below: the rows next to it, NULL where a note or nothing is. */
void map_cells_paint(struct map_rows *rows, int y, const struct map_cell *above, const struct map_cell *row,
                     const struct map_cell *below);
void map_cells_outline(struct map_rows *rows, int y, const struct map_cell *above, const struct map_cell *row,
                       const struct map_cell *below);
void map_cells_huge_texts(struct map_rows *rows);
/* `cells` value of the dump: runs of equal cells. */
void map_cells_value(struct map_rows *rows, const struct map_cell *row);

/* --- map_margin.c
 * ------------------------------------------------------------------------------------------------------ */

void map_margin_address(struct map_rows *rows, uint64_t address, int y, bool wanted);
void map_margin_names(struct map_rows *rows, int y, const struct map_cell *row);
void map_margin_markers(struct map_rows *rows, const struct map_item *item);
void map_margin_selected(struct map_rows *rows, struct ui_rect cell);
void map_margin_draw(struct map_rows *rows);

/* --- map_notes.c
 * ------------------------------------------------------------------------------------------------------- */

void map_note_draw(struct map_rows *rows, const struct map_item *item);
/* To scale: how much is unmapped, in the middle of empty rows. */
void map_note_empty(struct map_rows *rows);
/* What a folded stretch holds, as in "31 rows, 7.75 MiB never touched". */
enum map_stretch { MAP_STRETCH_UNMAPPED, MAP_STRETCH_RESERVED, MAP_STRETCH_UNTOUCHED, MAP_STRETCH_UNKNOWN };
enum map_stretch map_note_text(struct map_frame *frame, const struct map_grid *grid, const struct map_item *item,
                               char *out, size_t size);

#endif
