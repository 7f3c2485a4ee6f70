// VMVIS_MARK("text") puts a mark on the timeline of a vmvis recording. Copy this file anywhere; it needs nothing else.
//
// The mark is a prctl that no kernel knows: without a recorder it fails with EINVAL and nothing happens, at the price
// of one system call. errno is left as it was. Works in C and in C++.
#ifndef VMVIS_MARK_H
#define VMVIS_MARK_H

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#define VMVIS_MARK_OPTION 0x564d5631 /* "VMV1" */

static inline void vmvis_mark(const char *text) {
    int saved = errno;
    prctl(VMVIS_MARK_OPTION, (unsigned long)text, (unsigned long)strlen(text), 0UL, 0UL);
    errno = saved;
}

#define VMVIS_MARK(text) vmvis_mark(text)

#endif
