// Times as people write them: "1.25s", "frame:12", "mark:NAME", "end".
#include "timeline_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct answer {
    uint64_t *t, *seq;
    bool *missing;
    char *error;
    size_t error_size;
};

static const char grammar[] = "a time is 1.25s, 350ms, 500us, 1250000000ns, frame:12, seq:N, mark:NAME, start or end";

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Digits at *text into *value, moving over them. False if there are none or too many.
static bool take_number(const char **text, uint64_t *value) {
    if (!is_digit(**text)) return false;
    *value = 0;
    for (; is_digit(**text); (*text)++) {
        uint64_t digit = (uint64_t)(**text - '0');
        if (*value > (UINT64_MAX - digit) / 10) return false;
        *value = *value * 10 + digit;
    }
    return true;
}

static bool wrong(struct answer *answer, const char *text, const char *why) {
    snprintf(answer->error, answer->error_size, "time \"%s\": %s", text, why);
    return false;
}

// ns a unit has; 0 if there is no such unit.
static uint64_t unit_ns(const char *unit) {
    if (!strcmp(unit, "s")) return 1000000000;
    if (!strcmp(unit, "ms")) return 1000000;
    if (!strcmp(unit, "us") || !strcmp(unit, "\302\265s") || !strcmp(unit, "\316\274s")) return 1000; // micro sign, mu
    if (!strcmp(unit, "ns")) return 1;
    return 0;
}

// The digits after the point, as ns. Digits that are finer than 1 ns must be zeros.
static bool fraction_ns(const char *digits, size_t count, uint64_t unit, uint64_t *ns) {
    *ns = 0;
    for (size_t i = 0; i < count; i++) {
        unit /= 10;
        if (!unit && digits[i] != '0') return false;
        *ns += (uint64_t)(digits[i] - '0') * unit;
    }
    return true;
}

static bool parse_span(struct answer *answer, const char *text) {
    const char *at = text, *fraction = NULL;
    uint64_t whole, part;
    if (!is_digit(*at)) return wrong(answer, text, grammar);
    if (!take_number(&at, &whole)) return wrong(answer, text, "too large");
    if (*at == '.') {
        fraction = ++at;
        while (is_digit(*at)) at++;
        if (at == fraction) return wrong(answer, text, "digits must follow the point");
    }
    uint64_t unit = unit_ns(at);
    if (!*at) return wrong(answer, text, "a unit must follow: s, ms, us or ns");
    if (!unit) return wrong(answer, text, "unknown unit; there are s, ms, us and ns");
    if (!fraction_ns(fraction, fraction ? (size_t)(at - fraction) : 0, unit, &part))
        return wrong(answer, text, "finer than 1 ns");
    if (whole > (UINT64_MAX - part) / unit) return wrong(answer, text, "too large");
    *answer->t = whole * unit + part;
    return true;
}

static bool parse_number(struct answer *answer, const char *text, const char *digits, uint64_t *number) {
    const char *at = digits;
    if (!take_number(&at, number) || *at) return wrong(answer, text, "a number must follow the colon");
    return true;
}

static bool find_frame(struct timeline *tl, struct answer *answer, const char *text) {
    uint64_t number;
    size_t count;
    if (!parse_number(answer, text, text + 6, &number)) return false;
    const struct timeline_frame *frames = timeline_frames(tl, &count);
    uint64_t low = count ? frames[0].n : 0, high = low;
    for (size_t i = 0; i < count; i++) {
        if (frames[i].n == number) {
            *answer->t = frames[i].t;
            return true;
        }
        if (frames[i].n < low) low = frames[i].n;
        if (frames[i].n > high) high = frames[i].n;
    }
    *answer->missing = true;
    if (count)
        snprintf(answer->error, answer->error_size, "no frame %" PRIu64 ": the trace has %" PRIu64 " to %" PRIu64,
                 number, low, high);
    else
        snprintf(answer->error, answer->error_size, "no frame %" PRIu64 ": the trace has no frames", number);
    return false;
}

static bool find_seq(struct timeline *tl, struct answer *answer, const char *text) {
    uint64_t number, t;
    if (!parse_number(answer, text, text + 4, &number)) return false;
    t = time_of_seq(tl, number);
    if (t == UINT64_MAX) {
        uint64_t end = seq_end(tl);
        *answer->missing = true;
        if (end)
            snprintf(answer->error, answer->error_size, "no event %" PRIu64 ": the last one is %" PRIu64, number,
                     end - 1);
        else
            snprintf(answer->error, answer->error_size, "no event %" PRIu64 ": the trace has no events", number);
        return false;
    }
    *answer->t = t;
    *answer->seq = number;
    return true;
}

static bool find_mark(struct timeline *tl, struct answer *answer, const char *name) {
    size_t count;
    const struct vmv_event *events = timeline_landmarks(tl, &count);
    for (size_t i = 0; i < count; i++) {
        if (events[i].type != VMV_EV_MARK || !events[i].name || strcmp(events[i].name, name) != 0) continue;
        *answer->t = events[i].t;
        return true;
    }
    *answer->missing = true;
    snprintf(answer->error, answer->error_size, "no mark \"%s\" in this trace", name);
    return false;
}

bool timeline_time(struct timeline *tl, const char *text, uint64_t *t, uint64_t *seq, bool *missing, char *error,
                   size_t error_size) {
    struct answer answer = {t, seq, missing, error, error_size};
    *seq = UINT64_MAX;
    *missing = false;
    if (!strcmp(text, "start")) {
        *t = 0;
        return true;
    }
    if (!strcmp(text, "end")) {
        *t = tl->duration;
        return true;
    }
    if (!strncmp(text, "frame:", 6)) return find_frame(tl, &answer, text);
    if (!strncmp(text, "seq:", 4)) return find_seq(tl, &answer, text);
    if (!strncmp(text, "mark:", 5)) return find_mark(tl, &answer, text + 5);
    return parse_span(&answer, text);
}
