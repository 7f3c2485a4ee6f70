// disasm: the instructions of a range, from the bytes of the moment.
#include "inspect.h"

#include "disasm.h"
#include "dwarf_lines.h"
#include "inspect_help.h"
#include "source_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char inspect_help_disasm[] =
    "The instructions of each range, from the bytes of the moment, in Intel's syntax; jumps, calls and\n"
    "operands relative to the PC with the symbol they mean; between them the source lines, with their\n"
    "text where the file is here and older than the program. Bytes that cannot be decoded are .byte,\n"
    "and it goes on behind them; bytes that are not known are said to be so. Without a length: a symbol\n"
    "is disassembled whole, from an address 16 instructions.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect disasm trace.vmv main\n"
    "  vmvis-inspect disasm trace.vmv 0x55d0c3a41180,64 --at frame:12 --json\n";

enum { FROM_ADDRESS = 16, NAME_WIDTH = 512 };

struct disasm_put {
    struct inspect *in;
    uint32_t space;
    uint64_t left;
    const struct elf_symbol *function; // of the line before
    const char *file;
    uint32_t line;
    struct source_text *sources;
};

// "name+0x10", "name@plt"; false: it has no name.
static bool target_text(struct disasm_put *put, const struct disasm_line *line, char *out, size_t size) {
    struct decode_symbol symbol;
    out[0] = '\0';
    if (line->target_kind == DISASM_NO_TARGET) return false;
    if (line->slot)
        return snprintf(out, size, "%s@%s", line->slot, line->target_kind == DISASM_DATA ? "got" : "plt") > 0;
    if (!decode_symbol_at(put->in->decode, put->space, line->target, &symbol)) return false;
    char *plain = decode_demangle(symbol.name);
    unsigned long long offset = line->target - symbol.addr;
    snprintf(out, size, offset ? "%s+0x%llx" : "%s", plain ? plain : symbol.name, offset);
    free(plain);
    return true;
}

static void put_hex(struct json *json, const struct disasm_line *line) {
    char hex[2 * 16 + 1] = "";
    for (uint64_t i = 0; i < line->length && i < 16; i++) snprintf(hex + 2 * i, 3, "%02x", line->bytes[i]);
    json_put_text(json, "bytes", hex);
}

// The text of a source line, where it is at hand: no control characters but tabs. NULL: it is not.
static const char *source_line(struct disasm_put *put, uint64_t addr, const struct dwarf_place *place) {
    const struct decode_module *module = decode_module_at(put->in->decode, put->space, addr);
    if (!module || !place->file || !place->line) return NULL;
    return source_text_line(put->sources, put->in->decode, module->object, place->file, place->line);
}

static void line_json(struct disasm_put *put, const struct disasm_line *line, const struct decode_symbol *function) {
    struct json *json = &put->in->json;
    char name[NAME_WIDTH];
    json_begin(json);
    json_put_hex(json, "addr", line->addr);
    json_put_unsigned(json, "len", line->length);
    if (line->bytes) {
        put_hex(json, line);
    } else {
        json_put_null(json, "bytes");
    }
    json_put_text(json, "text", line->text);
    json_put_known_hex(json, "target", line->target_kind != DISASM_NO_TARGET, line->target);
    json_put_text(json, "target_symbol", target_text(put, line, name, sizeof name) ? name : NULL);
    json_put_text(json, "function", function ? function->name : NULL);
    struct dwarf_place place = {0};
    decode_places(put->in->decode, put->space, line->addr, &place, 1);
    json_put_text(json, "file", place.file);
    json_put_known(json, "line", place.line != 0, place.line);
    json_put_text(json, "source", source_line(put, line->addr, &place));
    json_line(json);
}

// A line of its own where another source line begins.
static void source_text(struct disasm_put *put, uint64_t addr) {
    struct dwarf_place place = {0};
    if (!decode_places(put->in->decode, put->space, addr, &place, 1) || !place.file) return;
    if (place.file == put->file && place.line == put->line) return;
    put->file = place.file;
    put->line = place.line;
    const char *slash = strrchr(place.file, '/'), *text = source_line(put, addr, &place);
    inspect_out_format(&put->in->out, "                      %s:%u", slash ? slash + 1 : place.file, place.line);
    if (text) inspect_out_text(&put->in->out, "  ");
    for (; text && *text; text++)
        inspect_out_bytes(&put->in->out, (unsigned char)*text < 32 || *text == 127 ? " " : text, 1);
    inspect_out_text(&put->in->out, "\n");
}

static void line_text(struct disasm_put *put, const struct disasm_line *line, const struct decode_symbol *function) {
    struct inspect_out *out = &put->in->out;
    char name[NAME_WIDTH], bytes[3 * 16 + 1] = "";
    unsigned long long offset = function ? line->addr - function->addr : 0;
    if (function && function->symbol != put->function) {
        char *plain = decode_demangle(function->name);
        inspect_out_format(out, "%s%s:\n", put->function ? "\n" : "", plain ? plain : function->name);
        free(plain);
    }
    put->function = function ? function->symbol : NULL;
    source_text(put, line->addr);
    for (uint64_t i = 0; line->bytes && i < line->length; i++) snprintf(bytes + 3 * i, 4, "%02x ", line->bytes[i]);
    inspect_out_format(out, "%012llx  %s%-6llx  ", (unsigned long long)line->addr, function ? "+" : " ", offset);
    if (!line->bytes) {
        inspect_out_format(out, "%llu bytes are not known\n", (unsigned long long)line->length);
        return;
    }
    inspect_out_format(out, "%-30s  %s", bytes, line->text);
    bool named = target_text(put, line, name, sizeof name);
    if (line->target_kind == DISASM_DATA) inspect_out_format(out, "  ; 0x%llx", (unsigned long long)line->target);
    if (named) inspect_out_format(out, "%s<%s>", line->target_kind == DISASM_DATA ? " " : "  ; ", name);
    inspect_out_text(out, "\n");
}

static bool put_line(void *user, const struct disasm_line *line) {
    struct disasm_put *put = user;
    struct decode_symbol function;
    bool named = decode_symbol_at(put->in->decode, put->space, line->addr, &function);
    if (put->in->options.json) {
        line_json(put, line, named ? &function : NULL);
    } else {
        line_text(put, line, named ? &function : NULL);
    }
    return --put->left > 0 && put->in->out.error == 0;
}

// Without a length: to the end of the symbol that it names, else some instructions.
static uint64_t range_end(const struct inspect_range *range, uint64_t *left) {
    bool plain = !range->whole && !strchr(range->text, ',');
    if (!plain) return range->addr + range->length;
    if (*left > FROM_ADDRESS) *left = FROM_ADDRESS;
    return UINT64_MAX - range->addr < 4096 ? UINT64_MAX : range->addr + 4096;
}

int inspect_disasm(struct inspect *in) {
    struct inspect_moment moment;
    struct inspect_ranges ranges;
    int status;
    if (in->options.place_count == 0)
        return inspect_fail(in, INSPECT_USAGE, "disasm needs a range: a symbol, or 0xADDR,LEN");
    if (!inspect_select(in, &moment, &status)) return status;
    if (!inspect_ranges_parse(in, moment.space->id, &ranges, &status)) return status;
    struct disasm_put put = {.in = in, .space = moment.space->id, .sources = source_text_create()};
    const char *error = "";
    status = INSPECT_OK;
    for (size_t i = 0; i < ranges.count && status == INSPECT_OK; i++) {
        put.left = in->options.limit;
        uint64_t addr = ranges.items[i].addr, end = range_end(&ranges.items[i], &put.left);
        if (!vmv_space_find(moment.space, addr))
            status = inspect_fail(in, INSPECT_ABSENT, "%s: %s: nothing is mapped there at this moment",
                                  in->options.trace, ranges.items[i].text);
        else if (put.left)
            error = decode_disasm(in->decode, put.space, addr, end, put_line, &put);
        if (error[0]) status = inspect_fail(in, INSPECT_ABSENT, "%s: %s", in->options.trace, error);
    }
    inspect_warn_debug(in, put.space);
    source_text_destroy(put.sources);
    inspect_ranges_free(&ranges);
    return status;
}
