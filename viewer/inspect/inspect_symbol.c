// symbol: names of addresses and addresses of names. sections: what lies where in a mapped object.
#include "inspect.h"

#include "dwarf_lines.h"
#include "inspect_help.h"
#include "inspect_table.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void build_id_text(const struct elf_file *elf, char out[65]) {
    out[0] = '\0';
    for (size_t i = 0; i < elf->build_id_length; i++) snprintf(out + 2 * i, 3, "%02x", elf->build_id[i]);
}

const char inspect_help_symbol[] =
    "For each place the symbol that it belongs to, with the offset into it, its size and the object:\n"
    "from the symbol tables that travel in the trace, .gnu_debugdata, and a separate debug file if\n"
    "its build-id is the same; and the source line, where there is debug information. A NAME,\n"
    "NAME@VERSION or OBJECT:NAME gives its address.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect symbol trace.vmv 0x55d0c3a41180\n"
    "  vmvis-inspect symbol trace.vmv malloc libc.so.6:free --json\n";

const char inspect_help_sections[] =
    "The sections of each mapped program and library that take memory, where they lie at the moment;\n"
    "flags as readelf -S prints them. With a range, those that it touches.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect sections trace.vmv\n"
    "  vmvis-inspect sections trace.vmv libc.so.6 --at start\n";

// ------------------------------------------------------------------------------------------------- symbol

// "name@VERSION+0x10"; malloc.
static char *symbol_text(const struct decode_symbol *symbol, uint64_t addr) {
    char *plain = decode_demangle(symbol->name), *text = NULL, offset[24] = "";
    if (addr != symbol->addr) snprintf(offset, sizeof offset, "+0x%llx", (unsigned long long)(addr - symbol->addr));
    if (asprintf(&text, "%s%s%s%s", plain ? plain : symbol->name, symbol->version ? "@" : "",
                 symbol->version ? symbol->version : "", offset) < 0)
        text = NULL;
    free(plain);
    return text;
}

enum { PLACES = 32 };

static void place_json(struct json *json, const struct dwarf_place *place) {
    json_put_text(json, "file", place ? place->file : NULL);
    json_put_known(json, "line", place && place->line, place ? place->line : 0);
}

// The innermost place is the address's; "inlined" lists the functions that it was inlined into, outwards.
static void places_json(struct inspect *in, uint32_t space, uint64_t addr) {
    struct json *json = &in->json;
    struct dwarf_place places[PLACES];
    size_t count = decode_places(in->decode, space, addr, places, PLACES);
    place_json(json, count ? &places[0] : NULL);
    json_key(json, "inlined");
    json_array(json);
    for (size_t i = 0; i < count && count > 1; i++) {
        json_begin(json);
        json_put_text(json, "function", places[i].function);
        place_json(json, &places[i]);
        json_end(json);
    }
    json_array_end(json);
}

static void symbol_json(struct inspect *in, uint32_t space, uint64_t addr, const struct decode_symbol *symbol) {
    struct json *json = &in->json;
    char build_id[65];
    char *plain = decode_demangle(symbol->name);
    json_begin(json);
    json_put_hex(json, "addr", addr);
    json_put_text(json, "name", symbol->name);
    json_put_text(json, "demangled", plain);
    json_put_text(json, "version", symbol->version);
    json_put_unsigned(json, "offset", addr - symbol->addr);
    json_put_unsigned(json, "size", symbol->size);
    json_put_text(json, "object", symbol->module->object->path);
    build_id_text(symbol->module->object->elf, build_id);
    json_put_text(json, "build_id", build_id[0] ? build_id : NULL);
    places_json(in, space, addr);
    json_line(json);
    free(plain);
}

static void symbol_row(struct inspect *in, struct table *table, uint32_t space, uint64_t addr,
                       const struct decode_symbol *symbol) {
    struct dwarf_place place;
    char *text = symbol_text(symbol, addr);
    table_cell(table, "0x%llx", (unsigned long long)addr);
    table_name(table, text ? text : symbol->name);
    table_cell(table, "%llu", (unsigned long long)symbol->size);
    table_name(table, symbol->module->object->path);
    free(text);
    if (decode_places(in->decode, space, addr, &place, 1) && place.file) {
        const char *slash = strrchr(place.file, '/');
        table_cell(table, "%s:%u", slash ? slash + 1 : place.file, place.line);
    } else {
        table_cell(table, "%s", "");
    }
}

static void nameless_put(struct inspect *in, struct table *table, uint32_t space, uint64_t addr) {
    const struct decode_module *module = decode_module_at(in->decode, space, addr);
    if (in->options.json) {
        json_begin(&in->json);
        json_put_hex(&in->json, "addr", addr);
        json_put_null(&in->json, "name");
        json_put_text(&in->json, "object", module ? module->object->path : NULL);
        places_json(in, space, addr);
        json_line(&in->json);
        return;
    }
    table_cell(table, "0x%llx", (unsigned long long)addr);
    table_cell(table, "%s", module ? "no symbol reaches there" : "in no program or library");
    table_cell(table, "%s", "");
    table_name(table, module ? module->object->path : "");
    table_cell(table, "%s", "");
}

static int symbol_all(struct inspect *in, const struct inspect_ranges *ranges, uint32_t space, struct table *table) {
    uint64_t found = 0;
    for (size_t i = 0; i < ranges->count && i < in->options.limit; i++) {
        struct decode_symbol symbol;
        uint64_t addr = ranges->items[i].addr;
        if (!decode_symbol_at(in->decode, space, addr, &symbol)) {
            nameless_put(in, table, space, addr);
            continue;
        }
        found++;
        if (in->options.json) {
            symbol_json(in, space, addr, &symbol);
        } else {
            symbol_row(in, table, space, addr, &symbol);
        }
    }
    return found
               ? INSPECT_OK
               : inspect_fail(in, INSPECT_ABSENT, "%s: %s: no symbol there", in->options.trace, ranges->items[0].text);
}

int inspect_symbol(struct inspect *in) {
    struct inspect_moment moment;
    struct inspect_ranges ranges;
    struct table table;
    int status;
    if (in->options.place_count == 0)
        return inspect_fail(in, INSPECT_USAGE, "symbol needs a place: 0xADDR, or the NAME of a symbol");
    if (!inspect_select(in, &moment, &status)) return status;
    if (!inspect_ranges_parse(in, moment.space->id, &ranges, &status)) return status;
    table_begin(&table, "llrll", "ADDRESS|SYMBOL|SIZE|OBJECT|LINE");
    status = symbol_all(in, &ranges, moment.space->id, &table);
    inspect_warn_debug(in, moment.space->id);
    if (in->options.json || status != INSPECT_OK) {
        table_drop(&table);
    } else {
        table_end(&table, &in->out, 0);
    }
    inspect_ranges_free(&ranges);
    return status;
}

// ------------------------------------------------------------------------------------------------- sections

// As readelf -S: W write, A alloc, X execute, M merge, S strings, T TLS, C compressed.
static const char *section_flags(const struct elf_section *section, char out[12]) {
    static const struct {
        uint64_t flag;
        char letter;
    } letters[] = {{SHF_WRITE, 'W'},   {SHF_ALLOC, 'A'}, {SHF_EXECINSTR, 'X'}, {SHF_MERGE, 'M'},
                   {SHF_STRINGS, 'S'}, {SHF_TLS, 'T'},   {SHF_COMPRESSED, 'C'}};
    size_t at = 0;
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if (section->flags & letters[i].flag) out[at++] = letters[i].letter;
    out[at] = '\0';
    return out;
}

static void section_put(struct inspect *in, struct table *table, const struct decode_module *module,
                        const struct elf_section *section) {
    char flags[12];
    uint64_t addr = module->bias + section->addr;
    section_flags(section, flags);
    if (in->options.json) {
        json_begin(&in->json);
        json_put_text(&in->json, "object", module->object->path);
        json_put_text(&in->json, "name", section->name);
        json_put_hex(&in->json, "addr", addr);
        json_put_unsigned(&in->json, "size", section->size);
        json_put_text(&in->json, "flags", flags);
        json_line(&in->json);
        return;
    }
    table_cell(table, "0x%llx", (unsigned long long)addr);
    table_cell(table, "%llu", (unsigned long long)section->size);
    table_cell(table, "%s", flags);
    table_name(table, section->name);
    table_name(table, module->object->path);
}

static bool overlaps(const struct inspect_ranges *ranges, uint64_t addr, uint64_t size) {
    if (ranges->count == 0) return true;
    for (size_t i = 0; i < ranges->count; i++) {
        const struct inspect_range *range = &ranges->items[i];
        if (addr < range->addr + range->length && range->addr < addr + (size ? size : 1)) return true;
    }
    return false;
}

static uint64_t sections_put(struct inspect *in, struct table *table, uint32_t space,
                             const struct inspect_ranges *ranges) {
    size_t count;
    uint64_t put = 0;
    const struct decode_module *modules = decode_modules(in->decode, space, &count);
    for (size_t i = 0; i < count; i++) {
        const struct elf_file *elf = modules[i].object->elf;
        for (size_t s = 1; s < elf->section_count && put < in->options.limit; s++) {
            const struct elf_section *section = &elf->sections[s];
            if (!(section->flags & SHF_ALLOC)) continue;
            if (!overlaps(ranges, modules[i].bias + section->addr, section->size)) continue;
            section_put(in, table, &modules[i], section);
            put++;
        }
    }
    return put;
}

int inspect_sections(struct inspect *in) {
    struct inspect_moment moment;
    struct inspect_ranges ranges;
    struct table table;
    int status;
    if (!inspect_select(in, &moment, &status)) return status;
    if (!inspect_ranges_parse(in, moment.space->id, &ranges, &status)) return status;
    inspect_ranges_widen(moment.space, &ranges);
    table_begin(&table, "lrlll", "ADDRESS|SIZE|FLAGS|SECTION|OBJECT");
    uint64_t put = sections_put(in, &table, moment.space->id, &ranges);
    if (in->options.json || put == 0) {
        table_drop(&table);
    } else {
        table_end(&table, &in->out, 0);
    }
    const char *what = ranges.count ? ranges.items[0].text : "no program or library is mapped";
    status = put ? INSPECT_OK : inspect_fail(in, INSPECT_ABSENT, "%s: no section there: %s", in->options.trace, what);
    inspect_ranges_free(&ranges);
    return status;
}
