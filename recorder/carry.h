// Another trace that begins where one stands: what is known at that moment is said again at its beginning.
#ifndef REC_CARRY_H
#define REC_CARRY_H

#include "writer.h"

// `from` writes to the file at `path`, which can be read; its open chunks are closed. Objects are the caller's to carry
// before, in the order of their numbers. `why` is told as the gap before. Contents that cannot be read are left out.
void carry_over(struct vmv_writer *to, struct vmv_writer *from, const char *path, uint64_t t, const char *why);

#endif
