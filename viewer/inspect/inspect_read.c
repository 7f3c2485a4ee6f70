// read: the bytes of ranges at a moment, as far as they are known, with when they were captured and how certain they
// are.
#include "inspect.h"

#include "inspect_show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { READ_BLOCK = 1 << 18, READ_RUNS = 256, READ_ROW = 16 };
#define READ_MOST (UINT64_C(4) << 30) // bytes of one range

struct read_block { // the bytes at hand
    uint8_t bytes[READ_BLOCK];
    struct timeline_run runs[READ_RUNS];
};

struct read_sum {                    // of all runs of a range
    uint64_t known, unknown, mapped; // bytes
    uint64_t captured;               // ns: the oldest
    uint8_t worst;                   // enum vmv_certainty
    bool any;
};

typedef bool read_visit(void *user, const struct timeline_run *run, const uint8_t *bytes);

// Calls `visit` for each run of the range with its bytes (zeros where unknown) until it returns false. A run that is
// longer than a block comes in pieces.
static void read_walk(struct inspect *in, uint32_t space, const struct inspect_range *range, struct read_block *block,
                      read_visit *visit, void *user) {
    uint64_t done = 0;
    while (done < range->length && in->out.error == 0) {
        uint64_t left = range->length - done, addr = range->addr + done;
        size_t want = left < READ_BLOCK ? (size_t)left : READ_BLOCK;
        size_t count = timeline_read(in->tl, space, addr, block->bytes, want, block->runs, READ_RUNS);
        uint64_t reached = 0;
        for (size_t i = 0; i < count && block->runs[i].length <= want - reached; i++) {
            if (!visit(user, &block->runs[i], block->bytes + reached)) return;
            reached += block->runs[i].length;
        }
        if (reached == 0) return;
        done += reached;
    }
}

// Worse is greater.
static int certainty_rank(uint8_t certainty) {
    static const int ranks[] = {4, 0, 1, 3, 2}; // unknown, exact, stale, torn, partial
    return certainty < sizeof ranks / sizeof ranks[0] ? ranks[certainty] : 4;
}

static void sum_add(struct read_sum *sum, const struct timeline_run *run) {
    if (run->mapped) sum->mapped += run->length;
    if (!run->known) {
        sum->unknown += run->length;
        return;
    }
    sum->known += run->length;
    if (!sum->any || run->captured < sum->captured) sum->captured = run->captured;
    if (!sum->any || certainty_rank((uint8_t)run->certainty) > certainty_rank(sum->worst))
        sum->worst = (uint8_t)run->certainty;
    sum->any = true;
}

static const char *sum_certainty(const struct read_sum *sum) {
    if (!sum->any) return "unknown";
    return sum->unknown > 0 ? "partial" : inspect_certainty(sum->worst);
}

// --- JSON: one object a range; the hexadecimal digits are written as they come

static void json_put_hex_run(struct inspect_out *out, const uint8_t *bytes, const struct timeline_run *run) {
    static const char digits[] = "0123456789abcdef";
    for (uint64_t i = 0; i < run->length && out->error == 0; i++) {
        char pair[2] = {'?', '?'};
        if (run->known) {
            pair[0] = digits[bytes[i] >> 4];
            pair[1] = digits[bytes[i] & 15];
        }
        inspect_out_bytes(out, pair, 2);
    }
}

struct run_list {
    struct timeline_run *items;
    size_t count, room;
};

static bool run_joins(const struct timeline_run *low, const struct timeline_run *high) {
    return low->addr + low->length == high->addr && low->known == high->known && low->mapped == high->mapped &&
           low->certainty == high->certainty && low->captured == high->captured && low->from == high->from;
}

static void run_list_add(struct run_list *list, const struct timeline_run *run) {
    if (list->count > 0 && run_joins(&list->items[list->count - 1], run)) {
        list->items[list->count - 1].length += run->length;
        return;
    }
    if (list->count == list->room) {
        list->room = list->room == 0 ? 16 : list->room * 2;
        list->items = realloc(list->items, list->room * sizeof *list->items);
        if (list->items == NULL) abort();
    }
    list->items[list->count++] = *run;
}

static const char *run_origin(const struct timeline_run *run) {
    if (!run->mapped) return "unmapped";
    if (!run->known) return "unknown";
    return run->from == TIMELINE_FROM_OBJECT ? "file" : run->from == TIMELINE_FROM_ZERO ? "zero" : "capture";
}

static void json_put_runs(struct json *json, const struct run_list *list) {
    json_key(json, "runs");
    json_array(json);
    for (size_t i = 0; i < list->count; i++) {
        const struct timeline_run *run = &list->items[i];
        json_begin(json);
        json_put_hex(json, "addr", run->addr);
        json_put_unsigned(json, "len", run->length);
        json_put_text(json, "from", run_origin(run));
        json_put_known(json, "captured_at", run->known, run->captured);
        json_put_text(json, "certainty", run->known ? inspect_certainty((uint8_t)run->certainty) : "unknown");
        json_end(json);
    }
    json_array_end(json);
}

struct read_json {
    struct inspect_out *out;
    struct read_sum sum;
    struct run_list runs;
};

static bool visit_json(void *user, const struct timeline_run *run, const uint8_t *bytes) {
    struct read_json *state = user;
    json_put_hex_run(state->out, bytes, run);
    sum_add(&state->sum, run);
    run_list_add(&state->runs, run);
    return true;
}

static void read_json(struct inspect *in, uint32_t space, const struct inspect_range *range, struct read_block *block) {
    struct json *json = &in->json;
    struct read_json state = {.out = &in->out};
    json_begin(json);
    json_put_hex(json, "addr", range->addr);
    json_put_unsigned(json, "len", range->length);
    json_key(json, "hex");
    json_quote(json);
    read_walk(in, space, range, block, visit_json, &state);
    json_unquote(json);
    json_put_known(json, "captured_at", state.sum.any, state.sum.captured);
    json_put_text(json, "certainty", sum_certainty(&state.sum));
    json_put_runs(json, &state.runs);
    json_line(json);
    free(state.runs.items);
}

// --- text

static void text_run(struct inspect_out *out, const struct timeline_run *run, uint64_t now) {
    inspect_out_format(out, "%012" PRIx64 "  %s: ", run->addr, show_size(run->length).text);
    if (!run->mapped) {
        inspect_out_text(out, "not mapped\n");
    } else if (!run->known) {
        inspect_out_text(out, "not known: never captured\n");
    } else if (run->from == TIMELINE_FROM_ZERO) {
        inspect_out_format(out, "%s, zeros: never written\n", inspect_certainty((uint8_t)run->certainty));
    } else if (run->from == TIMELINE_FROM_OBJECT) {
        inspect_out_format(out, "%s, as in the mapped file\n", inspect_certainty((uint8_t)run->certainty));
    } else {
        inspect_out_format(out, "%s, captured at %s", inspect_certainty((uint8_t)run->certainty),
                           show_time(run->captured).text);
        inspect_out_format(out, " (%s)\n", show_ago(now, run->captured).text);
    }
}

// One row of 16 bytes as hexdump -C prints it; bytes outside the run are left blank.
static void text_row(struct inspect_out *out, uint64_t row, const struct timeline_run *run, const uint8_t *bytes) {
    char text[READ_ROW + 1];
    size_t shown = 0;
    inspect_out_format(out, "%012" PRIx64 " ", row);
    for (uint64_t i = 0; i < READ_ROW; i++) {
        uint64_t addr = row + i;
        bool inside = addr - run->addr < run->length;
        if (i % 8 == 0) inspect_out_bytes(out, " ", 1);
        if (!inside) {
            inspect_out_text(out, "   ");
        } else if (!run->known) {
            inspect_out_text(out, "?? ");
        } else {
            inspect_out_format(out, "%02x ", bytes[addr - run->addr]);
        }
        uint8_t c = inside && run->known ? bytes[addr - run->addr] : 0;
        text[i] = !inside ? ' ' : !run->known ? '?' : c >= 0x20 && c < 0x7f ? (char)c : '.';
        if (inside) shown = (size_t)i + 1;
    }
    text[shown] = '\0';
    inspect_out_format(out, " |%s|\n", text);
}

// Whether the whole row lies in the run and repeats the one before.
static bool row_repeats(uint64_t row, const struct timeline_run *run, const uint8_t *bytes) {
    if (row < run->addr + READ_ROW || row - run->addr + READ_ROW > run->length) return false;
    uint64_t at = row - run->addr;
    return !run->known || memcmp(bytes + at, bytes + at - READ_ROW, READ_ROW) == 0;
}

static void text_rows(struct inspect_out *out, const struct timeline_run *run, const uint8_t *bytes) {
    bool folded = false;
    uint64_t last = run->addr + (run->length - 1);
    for (uint64_t row = run->addr / READ_ROW * READ_ROW; row <= last && out->error == 0; row += READ_ROW) {
        bool repeats = row_repeats(row, run, bytes);
        if (!repeats) text_row(out, row, run, bytes);
        if (repeats && !folded) inspect_out_text(out, "*\n");
        folded = repeats;
        if (row > UINT64_MAX - READ_ROW) return;
    }
}

struct read_text {
    struct inspect_out *out;
    uint64_t now;
    struct timeline_run before; // a run that continues it is not announced again
};

static bool visit_text(void *user, const struct timeline_run *run, const uint8_t *bytes) {
    struct read_text *state = user;
    bool again = state->before.length > 0 && run_joins(&state->before, run);
    if (!again) text_run(state->out, run, state->now);
    if (run->mapped) text_rows(state->out, run, bytes);
    state->before = *run;
    return true;
}

static void read_text(struct inspect *in, const struct inspect_moment *moment, const struct inspect_range *range,
                      struct read_block *block) {
    struct read_text state = {.out = &in->out, .now = moment->t};
    read_walk(in, moment->space->id, range, block, visit_text, &state);
}

// --- raw: all or nothing

struct read_raw {
    struct inspect_out *out; // NULL: only looks whether all is known
    uint64_t unknown;        // address of the first byte that is not
    bool refused;
};

static bool visit_raw(void *user, const struct timeline_run *run, const uint8_t *bytes) {
    struct read_raw *state = user;
    if (state->out != NULL) {
        inspect_out_bytes(state->out, bytes, (size_t)run->length);
    } else if (!run->known) {
        state->unknown = run->addr;
        state->refused = true;
    }
    return !state->refused;
}

static int read_raw(struct inspect *in, const struct inspect_moment *moment, const struct inspect_ranges *ranges,
                    struct read_block *block) {
    struct read_raw state = {0};
    for (size_t i = 0; i < ranges->count && !state.refused; i++) {
        read_walk(in, moment->space->id, &ranges->items[i], block, visit_raw, &state);
    }
    if (state.refused) {
        return inspect_fail(in, INSPECT_ABSENT,
                            "%s: the byte at 0x%" PRIx64 " is not known at %s; read it without --raw to see what is",
                            in->options.trace, state.unknown, show_time_ns(moment->t).text);
    }
    state.out = &in->out;
    for (size_t i = 0; i < ranges->count; i++) {
        read_walk(in, moment->space->id, &ranges->items[i], block, visit_raw, &state);
    }
    return INSPECT_OK;
}

// --- all of them

static bool range_mapped(const struct vmv_space *space, const struct inspect_range *range) {
    size_t i = vmv_space_lower_bound(space, range->addr);
    return i < space->map_count && space->maps[i].start <= range->addr + (range->length - 1);
}

// Ranges in which nothing is mapped are left out, and the status says so.
static int read_ranges(struct inspect *in, const struct inspect_moment *moment, const struct inspect_ranges *ranges,
                       struct read_block *block) {
    int status = INSPECT_OK;
    for (size_t i = 0; i < ranges->count; i++) {
        const struct inspect_range *range = &ranges->items[i];
        if (!range_mapped(moment->space, range)) {
            status = inspect_fail(in, INSPECT_ABSENT,
                                  "%s: nothing is mapped at %.200s at %s; vmvis-inspect maps lists the mappings",
                                  in->options.trace, range->text, show_time_ns(moment->t).text);
        } else if (in->options.json) {
            read_json(in, moment->space->id, range, block);
        } else {
            if (i > 0) inspect_out_bytes(&in->out, "\n", 1);
            read_text(in, moment, range, block);
        }
    }
    return status;
}

// A name stands for its first mapping here: one dump of all of them would hide where one ends.
static void read_note_more(struct inspect *in, const struct vmv_space *space, const struct inspect_ranges *ranges) {
    for (size_t i = 0; i < ranges->count; i++) {
        size_t count = inspect_range_mappings(space, &ranges->items[i]);
        if (count < 2) continue;
        inspect_warn(
            "%s: %.200s: there are %zu mappings of that name, this is the first; vmvis-inspect maps lists them",
            in->options.trace, ranges->items[i].text, count);
    }
}

static int read_check(struct inspect *in, const struct inspect_ranges *ranges) {
    if (ranges->count == 0) {
        return inspect_fail(in, INSPECT_USAGE, "read what? vmvis-inspect read TRACE PLACE,LEN; read --help says more");
    }
    for (size_t i = 0; i < ranges->count; i++) {
        if (ranges->items[i].length <= READ_MOST) continue;
        return inspect_fail(
            in, INSPECT_USAGE,
            "%.200s: %s is more than read prints of one range (%s); vmvis-inspect pages shows what is known there",
            ranges->items[i].text, show_size(ranges->items[i].length).text, show_size(READ_MOST).text);
    }
    return INSPECT_OK;
}

int inspect_read(struct inspect *in) {
    int status = INSPECT_OK;
    struct inspect_moment moment;
    struct inspect_ranges ranges;
    if (!inspect_select(in, &moment, &status)) return status;
    if (!inspect_ranges_parse(in, moment.space->id, &ranges, &status)) return status;
    struct read_block *block = malloc(sizeof *block);
    if (block == NULL) abort();
    status = read_check(in, &ranges);
    if (status == INSPECT_OK) {
        read_note_more(in, moment.space, &ranges);
        status = in->options.raw ? read_raw(in, &moment, &ranges, block) : read_ranges(in, &moment, &ranges, block);
    }
    free(block);
    inspect_ranges_free(&ranges);
    return status;
}
