/* What the files of the timeline panel share: where its lanes lie, and time as pixels. */
#ifndef TIMELINE_PANEL_H
#define TIMELINE_PANEL_H

#include "views.h"

struct lane {
    int y, h; /* h 0: not shown; a hair line lies below each lane */
};

struct timeline_panel {
    struct ui_rect rect, gutter, area; /* area: right of the gutter, from the axis down to the last lane */
    bool short_names;                  /* narrow gutter: one word a lane, no tids */
    double from, to;                   /* ns shown */
    uint64_t begin, end;               /* the same, whole */
    struct lane axis, marks, virtual_size, memory, map, protect, thread, faults, frames;
    struct lane threads; /* all thread lanes together */
    int thread_height;   /* of one, hair line included */
    int threads_shown;
    int bottom;                                                      /* below the last lane */
    const struct timeline_column *column;                            /* one a pixel of area; NULL: none */
    uint64_t virtual_most, resident_most, written_most, faults_most; /* of the columns */
};

/* The pixel of a time (may lie outside of the area), and back. */
int timeline_x(const struct timeline_panel *panel, double t);
double timeline_t(const struct timeline_panel *panel, int x);

/* timeline_lanes.c */
void timeline_draw_curves(struct app *app, const struct timeline_panel *panel);
void timeline_draw_events(struct app *app, const struct timeline_panel *panel);
void timeline_draw_threads(struct app *app, const struct timeline_panel *panel);
/* timeline_marks.c */
void timeline_draw_axis(struct app *app, const struct timeline_panel *panel);
void timeline_draw_gaps(struct app *app, const struct timeline_panel *panel);
void timeline_draw_marks(struct app *app, const struct timeline_panel *panel);
/* timeline_gutter.c */
void timeline_draw_gutter(struct app *app, const struct timeline_panel *panel);

/* The lane of a tick, for names of events. */
#define TIMELINE_LANES 3
/* Whether an event without a process's space, or of one of its spaces, concerns the process shown. */
bool timeline_concerns(const struct app *app, const struct vmv_event *event);

#endif
