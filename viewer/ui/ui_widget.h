/* Parts of the picture that look the same everywhere. Drawn right away; what they remember is the caller's. Functions
 * that take a draw list only paint; those that take a context also answer to the pointer. */
#ifndef UI_WIDGET_H
#define UI_WIDGET_H

#include "ui_context.h"

/* --- paint only ------------------------------------------------------------------------------------------------ */

/* Outlined cap 13 high with the key's name, its text on the line of S text at y. Returns the x after it. */
int ui_key_cap(struct ui_draw *draw, int x, int y, const char *name, ui_color color);
int ui_key_cap_width(const char *name);
/* "zoom" hint: caps for each of the space-separated keys, then what they do, faint. Returns the x after, with the gap
 * to the next one included. */
int ui_key_hint(struct ui_draw *draw, int x, int y, const char *keys, const char *what);

/* Title in S, faint, capitals (made from ASCII letters), followed by a hair line up to `right` (may be NULL), which
 * stands at the right end. What follows a newline in the title keeps its letters: "struct
account". 12 high. */
void ui_section_title(struct ui_draw *draw, int x, int y, int width, const char *title, const char *right);

/* Legend entry: 10 x 10 of colour in the pattern, then text in dim. Returns the x after, gap included. */
int ui_legend_entry(struct ui_draw *draw, int x, int y, enum ui_pattern pattern, ui_color color, const char *text);

/* Background of a panel; focused: 1-px white 55 % along its top. */
void ui_panel_background(struct ui_draw *draw, struct ui_rect rect, ui_color color, bool focused);

/* Selected thing: 1-px white box 1 px outside of cell. Hover: 1-px white 80 % around. */
void ui_selection_box(struct ui_draw *draw, struct ui_rect cell);
void ui_hover_box(struct ui_draw *draw, struct ui_rect cell);

/* --- cards ----------------------------------------------------------------------------------------------------- */

/* Where a card of w x h goes: 12 px right of and below the pointer; on the other side where it would leave the bounds;
 * never over the pointer as long as the bounds have room for that. Pure. */
struct ui_rect ui_card_place(struct ui_rect bounds, int pointer_x, int pointer_y, int w, int h);
/* Raised, with a 1-px rule2 edge. */
void ui_card_draw(struct ui_draw *draw, struct ui_rect rect);

/* One line of a card: optional sign, then text. Patterns show the state in its colour. */
struct ui_card_line {
    const char *text;
    ui_color color;
    bool has_sign;
    enum ui_pattern sign;
    ui_color sign_color;
};
/* Place and draw a card of S lines beside the pointer; returns where. */
struct ui_rect ui_card(struct ui_draw *draw, struct ui_rect bounds, int pointer_x, int pointer_y,
                       const struct ui_card_line *lines, size_t count);

/* --- answering to the pointer ---------------------------------------------------------------------------------- */

/* Tabs, S, in a rect 20 high; the active one white with a 2-px underline. What does not fit becomes an ellipsis, which
 * leads to the first hidden tab. Returns the tab that is now current. */
int ui_tabs(struct ui_context *context, ui_id id, struct ui_rect rect, const char *const *names, int count,
            int current);

/* "label value [K]": a setting in a panel header; key may be NULL. Returns signals; *x moves on. */
unsigned ui_choice(struct ui_context *context, ui_id id, int *x, int y, const char *label, const char *value,
                   const char *key);

/* Row of a list: background of selected (raised2, 2-px white left edge) or hovered rows, and the area. */
unsigned ui_list_row(struct ui_context *context, ui_id id, struct ui_rect rect, bool selected);

/* Scroll region: begin pushes the clip and answers the wheel; content is drawn at rect.y - offset; end pops the clip
 * and draws the bar (2 px wide, at the right edge) when there is more than fits. */
struct ui_scroll {
    int offset;  /* pixels scrolled off the top; kept within the content */
    int content; /* height of the content, set by begin */
    int grab;    /* private: offset when the bar was grabbed */
};
/* Returns the y at which the content begins. */
int ui_scroll_begin(struct ui_context *context, ui_id id, struct ui_rect rect, int content, struct ui_scroll *scroll);
void ui_scroll_end(struct ui_context *context, ui_id id, struct ui_rect rect, struct ui_scroll *scroll);
/* Scroll as little as needed to show `height` pixels from `top` of the content. */
void ui_scroll_show(struct ui_scroll *scroll, int view_height, int top, int height);

/* Border between two panels: a 1-px hair with a 5-px grip around it. Moves *size (of the panel before it, or after it
 * when `reversed`) within min .. max. true while it changes. */
bool ui_splitter(struct ui_context *context, ui_id id, struct ui_rect line, bool reversed, int *size, int min, int max);

/* --- text input ------------------------------------------------------------------------------------------------ */

#define UI_INPUT_BYTES 512
struct ui_text_input {
    char text[UI_INPUT_BYTES]; /* UTF-8, terminated */
    size_t length;             /* bytes */
    size_t caret;              /* bytes */
    size_t mark;               /* other end of the selection; equals caret when there is none */
    int scroll;                /* cells scrolled off the left */
};

enum ui_input_result { UI_INPUT_CHANGED = 1, UI_INPUT_SUBMITTED = 2, UI_INPUT_CANCELLED = 4 };

void ui_text_input_set(struct ui_text_input *input, const char *text);
/* Apply a key to the text; what it did, 0 if it is not for a text line (then nothing happened). Copy, cut and paste
 * are the caller's: see ui_text_input_selection and ui_text_input_insert. */
unsigned ui_text_input_key(struct ui_text_input *input, const struct ui_input_event *event, bool *used);
void ui_text_input_insert(struct ui_text_input *input, const char *text);
/* The selected bytes: start and length. */
size_t ui_text_input_selection(const struct ui_text_input *input, size_t *length);

/* Draw and handle the line: takes the keys of the frame while focused (context->focus == id), a press sets focus and
 * caret. The hint is shown, faint, while empty. Returns enum ui_input_result bits. */
unsigned ui_text_line(struct ui_context *context, ui_id id, struct ui_rect rect, int style, struct ui_text_input *input,
                      const char *hint);

#endif
