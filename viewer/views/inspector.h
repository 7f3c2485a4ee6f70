/* What the tabs of the inspector share: a column of text that grows downwards. */
#ifndef INSPECTOR_H
#define INSPECTOR_H

#include "views.h"

#include <stdarg.h>

struct page_writer { /* where the next line goes */
    struct app *app;
    int x, y, w; /* text is cut at x + w */
};

#define INSPECTOR_LINE 14
#define INSPECTOR_VALUE 78 /* pixels from a fact's name to its value */

/* Subject in L, then a square of colour and a few words in S. */
void inspector_subject(struct page_writer *page, const char *subject, bool sign, ui_color color, const char *words);
void inspector_section(struct page_writer *page, const char *title, const char *right);
/* "name   value": wraps the value if need be. Lines that begin unknown are faint. */
void inspector_fact(struct page_writer *page, const char *name, ui_color color, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void inspector_line(struct page_writer *page, ui_color color, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "5627 b7a8 2000 to 5627 b7d7 9000" */
void inspector_range(struct page_writer *page, uint64_t start, uint64_t end);
void inspector_gap(struct page_writer *page, int pixels);

/* The tabs; each draws from page->y on. */
void inspector_details(struct page_writer *page);
void inspector_bytes(struct page_writer *page);
void inspector_code(struct page_writer *page);
void inspector_threads(struct page_writer *page);
/* Details of the whole space. */
void inspector_space(struct page_writer *page);
/* What an address is, in words: a section for each. */
void inspector_words(struct page_writer *page, uint64_t addr);
void inspector_backtrace(struct page_writer *page, int32_t tid);
/* inspector_events.c: facts from the events that concern [start, end). */
void inspector_origin(struct page_writer *page, uint64_t start, uint64_t end);
void inspector_touches(struct page_writer *page, uint64_t start, uint64_t end);

/* The certainty of the bytes [addr, addr + len) as one line: "exact: captured in this frame". Returns its colour and
 * the pattern that shows it. */
ui_color inspector_knowledge(struct app *app, uint64_t addr, uint64_t len, char *out, size_t size,
                             enum ui_pattern *pattern);

#endif
