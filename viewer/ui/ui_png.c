#include "ui_png.h"

#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void rgb_row(const uint32_t *pixels, int width, uint8_t *row) {
    for (int x = 0; x < width; x++) {
        row[3 * x] = (uint8_t)(pixels[x] >> 16);
        row[3 * x + 1] = (uint8_t)(pixels[x] >> 8);
        row[3 * x + 2] = (uint8_t)pixels[x];
    }
}

/* libpng leaves by longjmp: this function owns nothing that it would have to free. */
static bool write_image(png_structp png, png_infop info, FILE *file, const struct ui_buffer *buffer, uint8_t *row) {
    if (setjmp(png_jmpbuf(png))) return false;
    png_init_io(png, file);
    png_set_compression_level(png, 6);
    png_set_IHDR(png, info, (png_uint_32)buffer->width, (png_uint_32)buffer->height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (int y = 0; y < buffer->height; y++) {
        rgb_row(buffer->pixels + (size_t)y * (size_t)buffer->stride, buffer->width, row);
        png_write_row(png, row);
    }
    png_write_end(png, info);
    return true;
}

/* libpng would print these. */
static void keep_quiet(png_structp png, png_const_charp message) { (void)png, (void)message; }
static void leave(png_structp png, png_const_charp message) {
    (void)message;
    png_longjmp(png, 1);
}

/* A device or pipe that was named as the target stays. */
static bool is_regular(FILE *file) {
    struct stat status;
    return fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode);
}

static bool write_file(FILE *file, const struct ui_buffer *buffer) {
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, leave, keep_quiet);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    uint8_t *row = malloc((size_t)buffer->width * 3);
    bool written = info && row && write_image(png, info, file, buffer, row);
    free(row);
    png_destroy_write_struct(&png, &info);
    return written;
}

bool ui_png_write(const char *path, const struct ui_buffer *buffer, char *error, size_t error_size) {
    if (!buffer->pixels || buffer->width <= 0 || buffer->height <= 0) {
        snprintf(error, error_size, "%s: an empty picture cannot be written", path);
        return false;
    }
    FILE *file = fopen(path, "wb");
    if (!file) {
        snprintf(error, error_size, "%s: %s", path, strerror(errno));
        return false;
    }
    bool removable = is_regular(file);
    errno = 0;
    bool written = write_file(file, buffer);
    int why = errno;
    if (fclose(file) != 0 && written) {
        why = errno;
        written = false;
    }
    if (written) return true;
    snprintf(error, error_size, "%s: %s", path, why ? strerror(why) : "the picture could not be written");
    if (removable) unlink(path);
    return false;
}
