/* Numbers, drawn: groups a few pixels apart, what repeats in ghost, units in faint. */
#include "ui_format.h"

#include <inttypes.h>
#include <string.h>

int ui_group_gap(int style) { return (style & 3) == UI_L ? 5 : 3; }

int ui_address_width(int style) { return 12 * ui_cell_width(style) + 2 * ui_group_gap(style); }

/* Hex digits in groups of four from the right, the first `ghosts` of them in ghost. Returns the x after. */
static int draw_digits(struct ui_draw *draw, int x, int y, int style, ui_color color, const char *digits, int ghosts) {
    int count = (int)strlen(digits);
    for (int from = 0, to; from < count; from = to) {
        if (from > 0 && (count - from) % 4 == 0) x = ui_add(x, ui_group_gap(style));
        to = from + 1;
        while (to < count && (count - to) % 4 != 0 && (to < ghosts) == (from < ghosts)) to++;
        ui_color shade = from < ghosts ? UI_ALPHA(UI_GHOST, color >> 24) : color;
        x = ui_draw_text_n(draw, x, y, style, shade, digits + from, (size_t)(to - from));
    }
    return x;
}

static void name_value(struct ui_draw *draw, int x, int y, int style, const char *name, const char *digits) {
    int width = ui_add(ui_text_width(style, digits), 3 * ui_group_gap(style));
    if (ui_draw_visible(draw, ui_rect(x, y, width, ui_cell_height(style)))) ui_draw_value(draw, name, "%s", digits);
}

int ui_draw_address(struct ui_draw *draw, int x, int y, int style, ui_color color, uint64_t address, uint64_t above) {
    char digits[17], others[17];
    int count = snprintf(digits, sizeof digits, "%012" PRIx64, address);
    int ghosts = 0;
    if (above != UI_NO_ADDRESS && snprintf(others, sizeof others, "%012" PRIx64, above) == count)
        while (ghosts < count && digits[ghosts] == others[ghosts]) ghosts++;
    name_value(draw, x, y, style, "address", digits);
    return draw_digits(draw, x, y, style, color, digits, ghosts);
}

int ui_draw_register(struct ui_draw *draw, int x, int y, int style, ui_color color, uint64_t value) {
    char digits[17];
    snprintf(digits, sizeof digits, "%016" PRIx64, value);
    int zeros = 0;
    while (zeros < 15 && digits[zeros] == '0') zeros++;
    name_value(draw, x, y, style, "register", digits);
    return draw_digits(draw, x, y, style, color, digits, zeros);
}

int ui_draw_quantity(struct ui_draw *draw, int x, int y, int style, ui_color color, struct ui_quantity quantity) {
    x = ui_draw_text(draw, x, y, style, color, quantity.number);
    if (!quantity.unit[0]) return x;
    ui_color faint = UI_ALPHA(UI_FAINT, color >> 24);
    return ui_draw_text(draw, ui_add(x, ui_group_gap(style)), y, style & 3, faint, quantity.unit);
}

int ui_draw_quantity_right(struct ui_draw *draw, int x_right, int y, int style, ui_color color,
                           struct ui_quantity quantity, int unit_cells) {
    int unit_x = ui_add(x_right, -unit_cells * ui_cell_width(style));
    ui_draw_text(draw, unit_x, y, style & 3, UI_ALPHA(UI_FAINT, color >> 24), quantity.unit);
    return ui_draw_text_right(draw, ui_add(unit_x, -ui_group_gap(style)), y, style, color, quantity.number);
}

int ui_draw_time(struct ui_draw *draw, int x, int y, int style, ui_color color, int64_t ns, int digits) {
    if (ns == UI_NO_TIME) return ui_draw_text(draw, x, y, style, UI_FAINT, UI_NONE);
    char text[UI_FORMAT_SIZE], exact[UI_FORMAT_SIZE];
    ui_format_time(text, sizeof text, ns, digits);
    snprintf(exact, sizeof exact, "%" PRId64, ns);
    name_value(draw, x, y, style, "time", exact);
    /* All up to the milliseconds in color; each later group, and the unit, dimmer. */
    const char *point = strchr(text, '.');
    size_t head = point ? (size_t)(point - text) + 4 : strlen(text) - 2;
    x = ui_draw_text_n(draw, x, y, style, color, text, head);
    for (const char *group = text + head; *group; group += strcspn(group, " ")) {
        group++;
        bool unit = *group == 's';
        ui_color shade = UI_ALPHA(unit ? UI_FAINT : group < text + head + 4 ? UI_DIM : UI_FAINT, color >> 24);
        x = ui_draw_text_n(draw, ui_add(x, ui_group_gap(style)), y, style & 3, shade, group, strcspn(group, " "));
    }
    return x;
}

int ui_draw_label(struct ui_draw *draw, int x, int y, int style, ui_color color, const char *label, const char *value) {
    x = ui_draw_text(draw, x, y, style & 3, UI_ALPHA(UI_FAINT, color >> 24), label);
    return ui_draw_text(draw, ui_add(x, ui_cell_width(style)), y, style, color, value);
}
