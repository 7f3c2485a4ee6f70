/* Writes a buffer as a PNG file. */
#ifndef UI_PNG_H
#define UI_PNG_H

#include "ui_raster.h"

/* Opaque RGB, 8 bits; alpha is ignored. false on failure, with one line in error that names the path; an
 * incomplete regular file is removed. */
bool ui_png_write(const char *path, const struct ui_buffer *buffer, char *error, size_t error_size);

#endif
