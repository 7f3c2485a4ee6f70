// Lines of source files, where they are at hand and have not changed since the object was made.
#ifndef SOURCE_TEXT_H
#define SOURCE_TEXT_H

#include "decode.h"

struct source_text;

struct source_text *source_text_create(void);
void source_text_destroy(struct source_text *text); // accepts NULL
// Line `line` (from 1) of the file, without its end; it lives until the next call. NULL: the file is not here, is newer
// than the object, or has no such line.
const char *source_text_line(struct source_text *text, struct decode *d, const struct decode_object *object,
                             const char *file, uint32_t line);

#endif
