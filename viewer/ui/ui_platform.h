/* The window: shows a pixel buffer and brings input. platform.c is the only file of the project that knows SDL. */
#ifndef UI_PLATFORM_H
#define UI_PLATFORM_H

#include "ui_input.h"
#include "ui_raster.h"

struct ui_platform;

/* Open a window of the given logical size. scale 0: as the display asks; else forced. NULL on failure (no display),
 * with one line in error. */
struct ui_platform *ui_platform_create(const char *title, int width, int height, double scale, char *error,
                                       size_t error_size);
void ui_platform_destroy(struct ui_platform *platform);

/* Logical size and scale of the window as of the last event taken. */
void ui_platform_size(const struct ui_platform *platform, int *width, int *height);
double ui_platform_scale(const struct ui_platform *platform);

/* The buffer to paint, as large as the window in physical pixels; its contents stay until the next resize. Owned by
 * the platform. pixels is NULL when out of memory. */
struct ui_buffer *ui_platform_buffer(struct ui_platform *platform);
/* Show the buffer; waits for the display's refresh, or paces to 60 frames a second where there is none. */
void ui_platform_present(struct ui_platform *platform);

/* Take the next event. timeout_ms: 0 = only if one is there, < 0 = wait for ever. false: none came. */
bool ui_platform_wait(struct ui_platform *platform, int timeout_ms, struct ui_input_event *event);

/* Milliseconds of a clock that never runs backwards. */
double ui_platform_now(const struct ui_platform *platform);

void ui_platform_set_cursor(struct ui_platform *platform, enum ui_cursor cursor);
void ui_platform_set_title(struct ui_platform *platform, const char *title);
void ui_platform_set_fullscreen(struct ui_platform *platform, bool on);
bool ui_platform_fullscreen(const struct ui_platform *platform);

/* Clipboard as UTF-8. The text is free()d by the caller; NULL when empty. */
bool ui_platform_copy(struct ui_platform *platform, const char *text);
char *ui_platform_paste(struct ui_platform *platform);

#endif
