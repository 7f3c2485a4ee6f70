#include "source_text.h"

#include "decode_private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILES = 64, LINE_MOST = 300 };
static const size_t FILE_MOST = 16 << 20;

struct file {
    char *path;
    char *bytes; // NULL: not at hand, or not the right one
    size_t length;
};

struct source_text {
    struct file files[FILES]; // read last
    size_t next;
    char line[LINE_MOST];
};

struct source_text *source_text_create(void) {
    return calloc(1, sizeof(struct source_text));
}

static void forget(struct file *file) {
    free(file->path);
    free(file->bytes);
    *file = (struct file){0};
}

void source_text_destroy(struct source_text *text) {
    if (!text) return;
    for (size_t i = 0; i < FILES; i++) forget(&text->files[i]);
    free(text);
}

// A file that changed after the object was written is of another time.
static bool is_older(struct decode *d, const struct decode_object *object, const char *path) {
    struct stat status;
    const struct vmv_object *of = object->number ? vmv_reader_object(timeline_reader(d->tl), object->number) : NULL;
    if (!of || !of->mtime_ns || path[0] != '/' || stat(path, &status) != 0) return false;
    bool plain = S_ISREG(status.st_mode) && (uint64_t)status.st_size <= FILE_MOST;
    return plain && status.st_mtim.tv_sec * 1000000000ll + status.st_mtim.tv_nsec <= of->mtime_ns;
}

static const struct file *file_of(struct source_text *text, struct decode *d, const struct decode_object *object,
                                  const char *path) {
    for (size_t i = 0; i < FILES; i++)
        if (text->files[i].path && strcmp(text->files[i].path, path) == 0) return &text->files[i];
    struct file *file = &text->files[text->next++ % FILES];
    forget(file);
    file->path = strdup(path);
    if (file->path && is_older(d, object, path)) file->bytes = (char *)decode_read_file(path, &file->length);
    return file;
}

const char *source_text_line(struct source_text *text, struct decode *d, const struct decode_object *object,
                             const char *path, uint32_t line) {
    const struct file *file = text && line ? file_of(text, d, object, path) : NULL;
    if (!file || !file->bytes) return NULL;
    const char *at = file->bytes, *end = file->bytes + file->length;
    for (uint32_t left = line - 1; left && at; left--) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (at) at++;
    }
    if (!at || at >= end) return NULL;
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    size_t length = (size_t)((newline ? newline : end) - at);
    if (length >= LINE_MOST) length = LINE_MOST - 1;
    memcpy(text->line, at, length);
    text->line[length] = 0;
    return text->line;
}
