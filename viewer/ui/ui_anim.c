#include "ui_anim.h"

struct ui_anim ui_anim_at(double value) {
    return (struct ui_anim){.from = value, .to = value};
}

double ui_ease_out(double t) {
    if (!(t > 0)) return 0;
    if (t >= 1) return 1;
    double rest = 1 - t;
    return 1 - rest * rest * rest;
}

void ui_anim_go(struct ui_anim *anim, double to, double now_ms, double length_ms) {
    double from = ui_anim_value(anim, now_ms);
    if (!(length_ms > 0) || from == to) {
        *anim = ui_anim_at(to);
        return;
    }
    *anim = (struct ui_anim){from, to, now_ms, length_ms};
}

double ui_anim_value(const struct ui_anim *anim, double now_ms) {
    if (!ui_anim_moving(anim, now_ms)) return anim->to;
    double part = ui_ease_out((now_ms - anim->start_ms) / anim->length_ms);
    return anim->from + (anim->to - anim->from) * part;
}

bool ui_anim_moving(const struct ui_anim *anim, double now_ms) {
    return anim->length_ms > 0 && now_ms < anim->start_ms + anim->length_ms;
}
