// type: a type laid over memory, with values.
#include "inspect.h"

#include "inspect_help.h"
#include "type_value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char inspect_help_type[] =
    "A variable with its type and values at the moment, member by member, from debug information; or\n"
    "with --as NAME any type laid over any place: \"struct account\", \"account_t\", \"int\". Pointers show\n"
    "the symbol they point at; give what they point at as the next place. Bytes that are not known\n"
    "are ??. Of long arrays the first 64 elements are shown (--limit).\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect type trace.vmv accounts\n"
    "  vmvis-inspect type trace.vmv 0x55d0c4f1a2b0 --as 'struct account' --at 1.5s --json\n";

enum { ELEMENTS = 64, DEPTH_MOST = 24, TEXT = 300, PARTS_MOST = 100000, STRING_MOST = 256 };

struct type_put {
    struct inspect *in;
    uint32_t space;
    uint64_t elements; // of an array, at most
    uint64_t left;     // parts in all
};

static const char *certainty_of(struct type_put *put, uint64_t addr, uint64_t size) {
    enum { RUNS = 8, BYTES = 4096 };
    struct timeline_run runs[RUNS];
    uint8_t bytes[BYTES];
    uint64_t want = size < 1 ? 1 : size < BYTES ? size : BYTES;
    size_t count = timeline_read(put->in->tl, put->space, addr, bytes, want, runs, RUNS);
    uint8_t worst = VMV_CERT_EXACT;
    bool known = false, all = true;
    for (size_t i = 0; i < count; i++) {
        known |= runs[i].known;
        all &= runs[i].known;
        if (runs[i].known && runs[i].certainty != VMV_CERT_EXACT) worst = (uint8_t)runs[i].certainty;
    }
    return inspect_certainty(!known ? VMV_CERT_UNKNOWN : !all ? VMV_CERT_PARTIAL : worst);
}

// An array of characters as text: "abc", up to its first zero. False: it is none, or not known.
static bool text_value(struct type_put *put, const struct type_place *place, char *out, size_t size) {
    char bytes[STRING_MOST + 1];
    const struct dwarf_type *type = dwarf_index_type(place->index, dwarf_index_plain_type(place->index, place->type));
    if (!type || type->kind != DWARF_ARRAY || type_kind(place->index, type->of) != DWARF_CHAR) return false;
    size_t length = type->count < STRING_MOST ? (size_t)type->count : STRING_MOST, at = 0;
    if (!length || !decode_read(put->in->decode, put->space, place->addr, bytes, length, NULL)) return false;
    bytes[length] = 0;
    at += (size_t)snprintf(out + at, size - at, "\"");
    for (const char *c = bytes; *c && at + 6 < size; c++) {
        bool plain = *c >= 32 && *c < 127 && *c != '"' && *c != '\\';
        at += (size_t)snprintf(out + at, size - at, plain ? "%c" : "\\x%02x", (unsigned char)*c);
    }
    snprintf(out + at, size - at, "\"");
    return true;
}

static bool value_of(struct type_put *put, const struct type_place *place, char *out, size_t size) {
    return text_value(put, place, out, size) || type_value(put->in->decode, put->space, place, out, size);
}

static bool has_parts(struct type_put *put, const struct type_place *place) {
    char text[TEXT];
    return type_part_count(place) && !text_value(put, place, text, sizeof text);
}

static uint64_t shown_parts(const struct type_put *put, const struct type_place *place) {
    uint64_t count = type_part_count(place);
    bool array = type_kind(place->index, place->type) == DWARF_ARRAY;
    return array && count > put->elements ? put->elements : count;
}

// ------------------------------------------------------------------------------------------------- JSON

static void put_json(struct type_put *put, const struct type_place *place, const char *name, int depth) {
    struct json *json = &put->in->json;
    char type[TEXT], value[TEXT], part_name[TEXT];
    uint64_t size = type_size(place->index, place->type);
    type_name(place->index, place->type, type, sizeof type);
    bool known = value_of(put, place, value, sizeof value);
    json_begin(json);
    json_put_hex(json, "addr", place->addr);
    json_put_text(json, "name", name);
    json_put_text(json, "type", type);
    json_put_unsigned(json, "size", size);
    if (place->bit_size) {
        json_put_unsigned(json, "bit_offset", place->bit_offset);
        json_put_unsigned(json, "bit_size", place->bit_size);
    }
    json_put_text(json, "value", known ? value : NULL);
    json_put_text(json, "certainty", certainty_of(put, place->addr, size));
    json_key(json, "members");
    json_array(json);
    uint64_t count = has_parts(put, place) && depth < DEPTH_MOST ? shown_parts(put, place) : 0;
    for (uint64_t i = 0; i < count && put->left; i++, put->left--) {
        struct type_place part;
        if (type_part(place, i, &part, part_name, sizeof part_name)) put_json(put, &part, part_name, depth + 1);
    }
    json_array_end(json);
    json_end(json);
}

// ------------------------------------------------------------------------------------------------- text

static void put_text(struct type_put *put, const struct type_place *place, const char *name, uint64_t start,
                     int depth) {
    struct inspect_out *out = &put->in->out;
    char type[TEXT], value[TEXT], part_name[TEXT];
    type_name(place->index, place->type, type, sizeof type);
    inspect_out_format(out, "%6llu", (unsigned long long)(place->addr - start));
    if (place->bit_size) inspect_out_format(out, ":%-2u", place->bit_offset);
    inspect_out_fill(out, ' ', (size_t)(place->bit_size ? 1 : 4) + 2 * (size_t)depth);
    inspect_out_format(out, "%s %s", type, name);
    if (place->bit_size) inspect_out_format(out, " : %u", place->bit_size);
    if (!has_parts(put, place)) {
        bool shown = value_of(put, place, value, sizeof value), empty = !type_size(place->index, place->type);
        inspect_out_format(out, " = %s\n", shown ? value : empty ? "{}" : "??");
        return;
    }
    inspect_out_text(out, "\n");
    uint64_t count = depth < DEPTH_MOST ? shown_parts(put, place) : 0;
    for (uint64_t i = 0; i < count && put->left && out->error == 0; i++, put->left--) {
        struct type_place part;
        if (type_part(place, i, &part, part_name, sizeof part_name)) put_text(put, &part, part_name, start, depth + 1);
    }
    if (count < type_part_count(place))
        inspect_out_format(out, "%*s... %llu more\n", 12 + 2 * depth, "",
                           (unsigned long long)(type_part_count(place) - count));
}

// ------------------------------------------------------------------------------------------------- what

static const char *without_prefix(const char *text) { return strncmp(text, "sym:", 4) == 0 ? text + 4 : text; }

// The type of a place: of --as, of the variable of that name, or of the one that the address lies in.
static int find_place(struct type_put *put, const struct inspect_range *range, struct type_place *place,
                      const char **name) {
    struct inspect *in = put->in;
    *name = range->text;
    if (in->options.as) {
        if (type_named(in->decode, put->space, in->options.as, place)) {
            place->addr = range->addr;
            return INSPECT_OK;
        }
        return inspect_fail(in, INSPECT_ABSENT,
                            "%s: no type %.100s is known; debug information is needed, as gcc -g makes it",
                            in->options.trace, in->options.as);
    }
    if (type_of_variable(in->decode, put->space, without_prefix(range->text), place) && place->addr == range->addr)
        return INSPECT_OK;
    if (type_of_address(in->decode, put->space, range->addr, place, name)) return INSPECT_OK;
    return inspect_fail(in, INSPECT_ABSENT, "%s: %s: no variable with a known type; name a type with --as",
                        in->options.trace, range->text);
}

static int put_place(struct type_put *put, const struct inspect_range *range) {
    struct type_place place;
    const char *name;
    int status = find_place(put, range, &place, &name);
    if (status != INSPECT_OK) return status;
    if (put->in->options.json) {
        put_json(put, &place, name, 0);
        inspect_out_text(&put->in->out, "\n");
        put->in->json.comma = false;
    } else {
        inspect_out_format(&put->in->out, "0x%llx, %llu bytes, %s\n", (unsigned long long)place.addr,
                           (unsigned long long)type_size(place.index, place.type),
                           certainty_of(put, place.addr, type_size(place.index, place.type)));
        put_text(put, &place, name ? name : "", place.addr, 0);
    }
    return INSPECT_OK;
}

int inspect_type(struct inspect *in) {
    struct inspect_moment moment;
    struct inspect_ranges ranges;
    int status;
    if (in->options.place_count == 0)
        return inspect_fail(in, INSPECT_USAGE, "type needs a place: a variable, or 0xADDR with --as TYPE");
    if (!inspect_select(in, &moment, &status)) return status;
    if (!inspect_ranges_parse(in, moment.space->id, &ranges, &status)) return status;
    uint64_t limit = in->options.limit == UINT64_MAX ? ELEMENTS : in->options.limit;
    struct type_put put = {.in = in, .space = moment.space->id, .elements = limit, .left = PARTS_MOST};
    for (size_t i = 0; i < ranges.count && status == INSPECT_OK; i++) status = put_place(&put, &ranges.items[i]);
    inspect_warn_debug(in, moment.space->id);
    inspect_ranges_free(&ranges);
    return status;
}
