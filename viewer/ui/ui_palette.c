#include "ui_palette.h"

static uint32_t channel(ui_color color, int shift) { return (color >> shift) & 0xff; }

static uint32_t mixed(uint32_t base, uint32_t over, uint32_t part, uint32_t whole) {
    return (base * (whole - part) + over * part + whole / 2) / whole;
}

static uint32_t held(int percent) { return percent < 0 ? 0 : percent > 100 ? 100 : (uint32_t)percent; }

ui_color ui_fade(ui_color color, int percent) {
    return UI_ALPHA(color, mixed(0, channel(color, 24), held(percent), 100));
}

ui_color ui_mix(ui_color base, ui_color over, int percent) {
    ui_color result = 0;
    for (int shift = 0; shift < 32; shift += 8)
        result |= mixed(channel(base, shift), channel(over, shift), held(percent), 100) << shift;
    return result;
}

ui_color ui_blend(ui_color base, ui_color over) {
    ui_color result = 0xff000000u;
    for (int shift = 0; shift < 24; shift += 8)
        result |= mixed(channel(base, shift), channel(over, shift), channel(over, 24), 255) << shift;
    return result;
}

ui_color ui_written_color(int step) {
    static const ui_color steps[] = {UI_WRITTEN_NOW, UI_WRITTEN_1, UI_WRITTEN_2, UI_WRITTEN_3, UI_WRITTEN_OLD};
    return steps[step < 0 ? 0 : step > 4 ? 4 : step];
}
