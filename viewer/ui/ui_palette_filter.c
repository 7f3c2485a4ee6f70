/* The palette's matching: a query against a title, and the best of a table. */
#include "ui_command.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A better way to match scores above every worse one; within one way, an earlier match scores higher. */
enum { SCORE_PREFIX = 4000, SCORE_WORDS = 3000, SCORE_WITHIN = 2000, SCORE_LETTERS = 1000 };

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c; }

static bool starts_word(const char *text, size_t at) {
    return at == 0 || text[at - 1] == ' ' || text[at - 1] == '-' || text[at - 1] == '_' || text[at - 1] == '/';
}

/* Mark bytes as matched; joined to the range before it if they follow. false: no range left. */
static bool add_range(struct ui_match *match, size_t start, size_t length) {
    if (match->ranges > 0) {
        uint16_t end = (uint16_t)(match->range[match->ranges - 1].start + match->range[match->ranges - 1].length);
        if (end == start) {
            match->range[match->ranges - 1].length = (uint16_t)(match->range[match->ranges - 1].length + length);
            return true;
        }
    }
    if (match->ranges == UI_MATCH_RANGES) return false;
    match->range[match->ranges].start = (uint16_t)start;
    match->range[match->ranges++].length = (uint16_t)length;
    return true;
}

/* Each word of the query begins a word of the text, in order. */
static bool match_words(const char *text, const char *query, struct ui_match *match) {
    size_t at = 0, size = strlen(text);
    match->ranges = 0;
    while (*query) {
        size_t word = strcspn(query, " ");
        while (at < size && !(starts_word(text, at) && strncasecmp(text + at, query, word) == 0)) at++;
        if (at >= size || !add_range(match, at, word)) return false;
        at += word;
        query += word + strspn(query + word, " ");
    }
    match->score = SCORE_WORDS - match->range[0].start;
    return true;
}

static bool match_within(const char *text, const char *query, struct ui_match *match) {
    const char *found = strcasestr(text, query);
    match->ranges = 0;
    if (!found) return false;
    match->score = SCORE_WITHIN - (int)(found - text);
    return add_range(match, (size_t)(found - text), strlen(query));
}

/* The letters of the query in order, word beginnings first where there is a choice. */
static bool match_letters(const char *text, const char *query, struct ui_match *match) {
    size_t at = 0, size = strlen(text), first = 0;
    match->ranges = 0;
    for (; *query; query++) {
        if (*query == ' ') continue;
        size_t next = at;
        while (next < size && lower(text[next]) != lower(*query)) next++;
        bool follows = next == at && at > 0;
        size_t word = next;
        while (!follows && word < size && !(starts_word(text, word) && lower(text[word]) == lower(*query))) word++;
        /* A word beginning is taken only if what is left of the query still matches behind it. */
        if (!follows && word < size) {
            const char *rest = query + 1;
            for (size_t i = word + 1; *rest && i < size; i++)
                if (*rest == ' ' || lower(text[i]) == lower(*rest)) rest++;
            if (!*rest) next = word;
        }
        if (next >= size || !add_range(match, next, 1)) return false;
        if (match->ranges == 1 && match->range[0].length == 1) first = next;
        at = next + 1;
    }
    match->score = SCORE_LETTERS - (int)first - 20 * match->ranges;
    return match->ranges > 0;
}

bool ui_match_text(const char *text, const char *query, struct ui_match *match) {
    match->ranges = 0;
    match->score = 0;
    query += strspn(query, " ");
    size_t length = strlen(query), size = strlen(text);
    if (length == 0) return true;
    if (size > 900 || length > size) return false;
    if (strncasecmp(text, query, length) == 0) {
        match->score = SCORE_PREFIX;
        return add_range(match, 0, length);
    }
    return match_words(text, query, match) || match_within(text, query, match) || match_letters(text, query, match);
}

/* Insert into the sorted matches, behind equals; the last one falls out when they are full. */
static void insert(struct ui_match *matches, size_t size, size_t count, const struct ui_match *match) {
    size_t filled = count < size ? count : size, at = filled;
    while (at > 0 && matches[at - 1].score < match->score) at--;
    if (at >= size) return;
    size_t moved = (filled < size ? filled : size - 1) - at;
    memmove(&matches[at + 1], &matches[at], moved * sizeof *matches);
    matches[at] = *match;
}

size_t ui_palette_filter(struct ui_commands commands, const char *query, struct ui_match *matches, size_t size) {
    size_t count = 0;
    for (size_t i = 0; i < commands.count; i++) {
        struct ui_match match;
        const char *title = commands.row[i].title;
        if (!title || !ui_match_text(title, query, &match)) continue;
        match.command = &commands.row[i];
        if (size > 0) insert(matches, size, count, &match);
        count++;
    }
    return count;
}
