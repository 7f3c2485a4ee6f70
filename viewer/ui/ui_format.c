#include "ui_format.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* --- addresses --- */

void ui_format_address(char *out, size_t size, uint64_t address) {
    char digits[17];
    int count = snprintf(digits, sizeof digits, "%012" PRIx64, address);
    char grouped[24];
    size_t at = 0;
    for (int i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 4 == 0) grouped[at++] = ' ';
        grouped[at++] = digits[i];
    }
    grouped[at] = '\0';
    snprintf(out, size, "%s", grouped);
}

void ui_format_address_copy(char *out, size_t size, uint64_t address) { snprintf(out, size, "0x%" PRIx64, address); }

void ui_format_offset(char *out, size_t size, uint64_t offset) { snprintf(out, size, "+%03" PRIx64, offset); }

/* --- quantities --- */

/* Decimals that make three significant digits of value < 1000. */
static int decimals_of(double value) { return value < 9.995 ? 2 : value < 99.95 ? 1 : 0; }

struct ui_quantity ui_quantity_size(uint64_t bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    struct ui_quantity quantity;
    int unit = 0;
    double value = (double)bytes;
    while (value >= 1023.5 && unit < 6) {
        value /= 1024;
        unit++;
    }
    /* 1023.5 KiB and the like would print as 1024 of the smaller unit; whole KiB below 1 MiB stay whole. */
    bool whole = unit == 0 || (unit == 1 && bytes % 1024 == 0);
    snprintf(quantity.number, sizeof quantity.number, "%.*f", whole ? 0 : decimals_of(value), value);
    snprintf(quantity.unit, sizeof quantity.unit, "%s", units[unit]);
    return quantity;
}

static void drop_zeros(char *number) {
    if (!strchr(number, '.')) return;
    size_t end = strlen(number);
    while (number[end - 1] == '0') end--;
    if (number[end - 1] == '.') end--;
    number[end] = '\0';
}

static const struct time_unit {
    double ns;
    double below; /* used for less than so many of it */
    const char *name;
} time_units[] = {{1, 999.5, "ns"},  {1e3, 999.5, "\xc2\xb5s"}, {1e6, 999.5, "ms"},
                  {1e9, 999.5, "s"}, {60e9, 99.95, "min"},      {3600e9, INFINITY, "h"}};

struct ui_quantity ui_quantity_span(int64_t ns) {
    struct ui_quantity quantity = {"0", "s"};
    if (ns == 0) return quantity;
    double size = fabs((double)ns);
    const struct time_unit *unit = time_units;
    while (size / unit->ns >= unit->below) unit++;
    double value = size / unit->ns;
    int decimals = unit->ns == 1 ? 0 : unit->ns > 1e9 ? 1 : decimals_of(value);
    snprintf(quantity.number, sizeof quantity.number, "%s%.*f", ns < 0 ? "-" : "", decimals, value);
    drop_zeros(quantity.number);
    snprintf(quantity.unit, sizeof quantity.unit, "%s", unit->name);
    return quantity;
}

void ui_format_size(char *out, size_t size, uint64_t bytes) {
    struct ui_quantity quantity = ui_quantity_size(bytes);
    snprintf(out, size, "%s %s", quantity.number, quantity.unit);
}

void ui_format_span(char *out, size_t size, int64_t ns) {
    struct ui_quantity quantity = ui_quantity_span(ns);
    snprintf(out, size, "%s %s", quantity.number, quantity.unit);
}

void ui_format_ago(char *out, size_t size, int64_t ns) {
    struct ui_quantity quantity = ui_quantity_span(ns);
    snprintf(out, size, "%s %s ago", quantity.number, quantity.unit);
}

/* --- counts --- */

void ui_format_count(char *out, size_t size, uint64_t count) {
    char digits[24], grouped[32];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    size_t at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) grouped[at++] = ' ';
        grouped[at++] = digits[i];
    }
    grouped[at] = '\0';
    snprintf(out, size, "%s", grouped);
}

void ui_format_signed(char *out, size_t size, int64_t count) {
    char text[UI_FORMAT_SIZE];
    uint64_t distance = count < 0 ? 0 - (uint64_t)count : (uint64_t)count;
    ui_format_count(text, sizeof text, distance);
    snprintf(out, size, "%s%s", count < 0 ? "-" : "", text);
}

/* --- times --- */

/* Seconds and decimals without the unit: "4.881 453". */
static void format_seconds(char *out, size_t size, int64_t ns, int digits) {
    uint64_t distance = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    uint64_t part = distance % 1000000000u;
    unsigned groups[3] = {(unsigned)(part / 1000000), (unsigned)(part / 1000 % 1000), (unsigned)(part % 1000)};
    char text[UI_FORMAT_SIZE], count[32];
    ui_format_count(count, sizeof count, distance / 1000000000u);
    int at = snprintf(text, sizeof text, "%s%s", ns < 0 ? "-" : "", count);
    for (int i = 0; i < 3 && i * 3 < digits; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%c%03u", i == 0 ? '.' : ' ', groups[i]);
    snprintf(out, size, "%s", text);
}

void ui_format_time(char *out, size_t size, int64_t ns, int digits) {
    if (ns == UI_NO_TIME) {
        snprintf(out, size, UI_NONE);
        return;
    }
    char seconds[UI_FORMAT_SIZE];
    format_seconds(seconds, sizeof seconds - 2, ns, digits);
    snprintf(out, size, "%.45s s", seconds);
}

void ui_format_interval(char *out, size_t size, int64_t from_ns, int64_t to_ns, int digits) {
    char from[UI_FORMAT_SIZE], to[UI_FORMAT_SIZE];
    if (from_ns == UI_NO_TIME)
        snprintf(from, sizeof from, UI_NONE);
    else
        format_seconds(from, sizeof from, from_ns, digits);
    ui_format_time(to, sizeof to, to_ns, digits);
    snprintf(out, size, "%s to %s", from, to);
}

void ui_format_percent(char *out, size_t size, double share) {
    double percent = share * 100;
    if (!isfinite(percent)) {
        snprintf(out, size, UI_NONE);
        return;
    }
    char number[UI_FORMAT_SIZE];
    int decimals = fabs(percent) >= 99.95 ? 0 : fabs(percent) >= 1 ? 1 : 2;
    snprintf(number, sizeof number, "%.*f", decimals, fmin(fmax(percent, -1e15), 1e15));
    drop_zeros(number);
    snprintf(out, size, "%s %%", number);
}
