// Numbers and names as people read them. Buffers are always terminated; INSPECT_SHOW bytes hold any of them.
#ifndef INSPECT_SHOW_H
#define INSPECT_SHOW_H

#include "inspect_out.h"

enum { INSPECT_SHOW = 64 };
#define INSPECT_NONE "–"

struct shown { // by value, so that several may stand in one call
    char text[INSPECT_SHOW];
};

struct shown show_size(uint64_t bytes);                                      // "516 KiB", "2.96 MiB", "128 TiB"
struct shown show_time(uint64_t ns);                                         // "4.881 453 s": rounded down to µs
struct shown show_time_ns(uint64_t ns);                                      // "4.881 453 210 s"
struct shown show_span(uint64_t ns);                                         // "125 µs", "895 ms", "3.87 s"
struct shown show_count(uint64_t count);                                     // "37 128"
struct shown show_ago(uint64_t now, uint64_t then);                          // "3.87 s ago"; "now"; "in 2 ms"
struct shown show_plural(uint64_t count, const char *one, const char *many); // "1 frame", "37 128 frames"

// Length of the well-formed UTF-8 character at the start of `text`, 0 if there is none.
size_t inspect_utf8_length(const char *text, size_t length);
// How many columns a text takes in a terminal: one a character.
size_t inspect_width(const char *text);
// Copies a name from a trace, with everything that could disturb a terminal or a line as \ooo, as /proc/PID/maps does.
// Cuts at the end of the buffer.
void inspect_plain(char *out, size_t size, const char *text);

#endif
