#include "inspect_show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Three significant digits, rounded down so that nothing seems larger than it is.
static void show_three(char *out, size_t size, double value, const char *unit) {
    int decimals = value >= 100 ? 0 : value >= 10 ? 1 : 2;
    double scale = decimals == 0 ? 1 : decimals == 1 ? 10 : 100;
    snprintf(out, size, "%.*f %s", decimals, (double)(uint64_t)(value * scale) / scale, unit);
}

struct shown show_size(uint64_t bytes) {
    static const char *const units[] = {"MiB", "GiB", "TiB", "PiB", "EiB"};
    struct shown shown;
    if (bytes < 1024) {
        snprintf(shown.text, sizeof shown.text, "%" PRIu64 " B", bytes);
    } else if (bytes < 1 << 20) {
        if (bytes % 1024 == 0) {
            snprintf(shown.text, sizeof shown.text, "%" PRIu64 " KiB", bytes / 1024);
        } else {
            show_three(shown.text, sizeof shown.text, (double)bytes / 1024, "KiB");
        }
    } else {
        int unit = 0;
        double value = (double)bytes / (1 << 20);
        for (; value >= 1024 && unit < 4; unit++) value /= 1024;
        show_three(shown.text, sizeof shown.text, value, units[unit]);
    }
    return shown;
}

struct shown show_time(uint64_t ns) {
    struct shown shown;
    snprintf(shown.text, sizeof shown.text, "%" PRIu64 ".%03u %03u s", ns / 1000000000, (unsigned)(ns / 1000000 % 1000),
             (unsigned)(ns / 1000 % 1000));
    return shown;
}

struct shown show_time_ns(uint64_t ns) {
    struct shown shown;
    snprintf(shown.text, sizeof shown.text, "%" PRIu64 ".%03u %03u %03u s", ns / 1000000000,
             (unsigned)(ns / 1000000 % 1000), (unsigned)(ns / 1000 % 1000), (unsigned)(ns % 1000));
    return shown;
}

static void show_unit(struct shown *shown, uint64_t ns, uint64_t unit, const char *name) {
    if (ns % unit == 0) {
        snprintf(shown->text, sizeof shown->text, "%" PRIu64 " %s", ns / unit, name);
    } else {
        show_three(shown->text, sizeof shown->text, (double)ns / (double)unit, name);
    }
}

struct shown show_span(uint64_t ns) {
    struct shown shown;
    if (ns < 1000) {
        snprintf(shown.text, sizeof shown.text, ns == 0 ? "0 s" : "%" PRIu64 " ns", ns);
    } else if (ns < 1000000) {
        show_unit(&shown, ns, 1000, "µs");
    } else if (ns < 1000000000) {
        show_unit(&shown, ns, 1000000, "ms");
    } else if (ns < UINT64_C(1000000000000)) {
        show_unit(&shown, ns, 1000000000, "s");
    } else if (ns < UINT64_C(3600) * 1000000000) {
        snprintf(shown.text, sizeof shown.text, "%" PRIu64 " min", ns / 60000000000);
    } else {
        snprintf(shown.text, sizeof shown.text, "%.1f h", (double)ns / 3.6e12);
    }
    return shown;
}

struct shown show_count(uint64_t count) {
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, count);
    struct shown shown;
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0) shown.text[at++] = ' ';
        shown.text[at++] = digits[i];
    }
    shown.text[at] = '\0';
    return shown;
}

struct shown show_ago(uint64_t now, uint64_t then) {
    struct shown shown;
    if (then == now) {
        snprintf(shown.text, sizeof shown.text, "now");
    } else if (then < now) {
        snprintf(shown.text, sizeof shown.text, "%.40s ago", show_span(now - then).text);
    } else {
        snprintf(shown.text, sizeof shown.text, "in %.40s", show_span(then - now).text);
    }
    return shown;
}

struct shown show_plural(uint64_t count, const char *one, const char *many) {
    struct shown shown;
    snprintf(shown.text, sizeof shown.text, "%.30s %.30s", show_count(count).text, count == 1 ? one : many);
    return shown;
}

static bool utf8_tail(const unsigned char *text, size_t count) {
    for (size_t i = 1; i < count; i++) {
        if ((text[i] & 0xc0) != 0x80) return false;
    }
    return true;
}

size_t inspect_utf8_length(const char *text, size_t length) {
    const unsigned char *c = (const unsigned char *)text;
    if (length == 0) return 0;
    if (c[0] < 0x80) return 1;
    size_t count = c[0] >= 0xf0 ? 4 : c[0] >= 0xe0 ? 3 : 2;
    if (c[0] < 0xc2 || c[0] > 0xf4 || count > length || !utf8_tail(c, count)) return 0;
    bool overlong = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90);
    bool surrogate = c[0] == 0xed && c[1] >= 0xa0;
    bool beyond = c[0] == 0xf4 && c[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : count;
}

size_t inspect_width(const char *text) {
    size_t width = 0;
    for (; *text != '\0'; text++) width += (*text & 0xc0) != 0x80;
    return width;
}

void inspect_plain(char *out, size_t size, const char *text) {
    size_t at = 0, length = strlen(text);
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)text[i];
        size_t valid = inspect_utf8_length(text + i, length - i);
        bool control = c < 0x20 || c == 0x7f || (c == 0xc2 && valid == 2 && (unsigned char)text[i + 1] < 0xa0);
        size_t need = valid == 0 || control ? 4 : valid;
        if (at + need >= size) break;
        if (need == 4 && (valid == 0 || control)) {
            snprintf(out + at, size - at, "\\%03o", c);
            i++;
        } else {
            memcpy(out + at, text + i, valid);
            i += valid;
        }
        at += need;
    }
    if (size > 0) out[at] = '\0';
}
