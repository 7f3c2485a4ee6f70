/* Columns of the timeline and of sparklines, kept from picture to picture. */
#ifndef APP_CURVES_H
#define APP_CURVES_H

#include "app.h"

/* `count` columns that divide [from, to), of the process shown: where it changed its space by exec, each column is of
 * the space it had then. They live until the next call. NULL when out of memory. */
const struct timeline_column *app_curves_columns(struct app *app, uint64_t from, uint64_t to, size_t count);
/* Share of time running of a thread, as timeline_thread_columns. They live until the next call for the same tid, or
 * the next frame. NULL when out of memory. */
const float *app_curves_thread(struct app *app, int32_t tid, uint64_t from, uint64_t to, size_t count);
/* Residency of the mappings that begin in [start, end), over the whole recording. NULL: not yet known, another frame
 * will tell. They live as long as the app, or until too many others were asked for. */
#define APP_CURVES_SPARK 38
const struct timeline_region_column *app_curves_spark(struct app *app, uint64_t start, uint64_t end);
/* Pages of [start, end) that each frame of the process saw written, as app_mapping.written counts them; kept for one
 * range at a time (the inspector's chart). *done: that many frames are counted, from the first; not all of them: the
 * next picture goes on. NULL: the process has no frames. */
const uint32_t *app_curves_frames(struct app *app, uint64_t start, uint64_t end, size_t *done);
/* Faults of the space shown in (from, to], by their events; kept for one span at a time. */
uint64_t app_curves_faults(struct app *app, uint64_t from, uint64_t to);
void app_curves_free(struct app *app);

#endif
