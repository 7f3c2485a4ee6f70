/* A number on its way to another one, ease-out. Time is given by the caller in milliseconds, so that pictures and
 * tests are the same every time. */
#ifndef UI_ANIM_H
#define UI_ANIM_H

#include <stdbool.h>

#define UI_ZOOM_MS 120
#define UI_FADE_MS 120
#define UI_FIT_MS 180

struct ui_anim {
    double from, to;
    double start_ms, length_ms; /* length 0: at rest */
};

/* At rest at value. */
struct ui_anim ui_anim_at(double value);
/* Go to `to` within length_ms, from wherever it is now; length_ms <= 0 (motion off): be there at once. */
void ui_anim_go(struct ui_anim *anim, double to, double now_ms, double length_ms);
double ui_anim_value(const struct ui_anim *anim, double now_ms);
/* Still moving: another frame is needed. */
bool ui_anim_moving(const struct ui_anim *anim, double now_ms);
/* 0 .. 1 to 0 .. 1, fast first; clamped. */
double ui_ease_out(double t);

#endif
