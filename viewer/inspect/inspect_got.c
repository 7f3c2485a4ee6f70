// got: the slots through which objects reach each other, and what they are bound to.
#include "inspect.h"

#include "got.h"
#include "inspect_help.h"
#include "inspect_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char inspect_help_got[] =
    "The slots of the global offset tables: one for each function or object that a program or library\n"
    "takes from another. Each with its symbol, what it holds at the moment, and the symbol there. A\n"
    "slot of lazy binding holds the way to the dynamic linker until its first call: compare moments\n"
    "with --at. bound since: the capture in which it was first seen bound.\n"
    "A place chooses: an object by its name or an address in it, a slot by its address or ,LEN.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect got trace.vmv ls --at start\n"
    "  vmvis-inspect got trace.vmv libc.so.6 --json\n";

// What the target is: "name+0x10", "" if it has no name. malloc.
static char *target_name(struct inspect *in, uint32_t space, const struct got_slot *slot) {
    struct decode_symbol symbol;
    char *text = NULL;
    const char *plt = slot->known ? decode_plt_name(in->decode, space, slot->target) : NULL;
    if (plt) return asprintf(&text, "%s@plt", plt) < 0 ? NULL : text;
    if (!slot->known || !decode_symbol_at(in->decode, space, slot->target, &symbol)) return NULL;
    unsigned long long offset = slot->target - symbol.addr;
    int length = offset ? asprintf(&text, "%s+0x%llx", symbol.name, offset) : asprintf(&text, "%s", symbol.name);
    return length < 0 ? NULL : text;
}

static void slot_json(struct inspect *in, const struct decode_module *module, const struct got_slot *slot,
                      const char *target) {
    struct json *json = &in->json;
    json_begin(json);
    json_put_hex(json, "slot", slot->addr);
    json_put_text(json, "symbol", slot->symbol[0] ? slot->symbol : NULL);
    json_put_known_hex(json, "target", slot->known, slot->target);
    json_put_text(json, "target_symbol", target);
    json_put_bool(json, "bound", slot->bound);
    json_put_known(json, "bound_at", slot->bound_at != 0, slot->bound_at);
    json_put_bool(json, "lazy", slot->lazy);
    json_put_text(json, "object", module->object->path);
    json_line(json);
}

static void slot_row(struct table *table, const struct got_slot *slot, const char *target) {
    table_cell(table, "0x%llx", (unsigned long long)slot->addr);
    table_name(table, slot->symbol[0] ? slot->symbol : "(chosen at start)");
    if (slot->known) {
        table_cell(table, "0x%llx", (unsigned long long)slot->target);
    } else {
        table_cell(table, "not known");
    }
    table_name(table, target ? target : slot->known && !slot->target ? "nothing" : "");
    table_cell(table, "%s", slot->bound ? "bound" : slot->known ? "unbound" : "");
    if (slot->bound_at) {
        table_cell(table, "%.6f s", (double)slot->bound_at / 1e9);
    } else {
        table_cell(table, "%s", "");
    }
}

static bool is_wanted(const struct inspect_ranges *ranges, const struct decode_module *module,
                      const struct got_slot *slot) {
    if (ranges->count == 0) return true;
    for (size_t i = 0; i < ranges->count; i++) {
        const struct inspect_range *range = &ranges->items[i];
        bool object = range->whole && range->addr >= module->start && range->addr < module->end;
        if (object || (slot->addr + 8 > range->addr && slot->addr < range->addr + range->length)) return true;
    }
    return false;
}

static uint64_t module_put(struct inspect *in, struct table *table, uint32_t space, const struct decode_module *module,
                           const struct inspect_ranges *ranges, uint64_t left) {
    size_t count;
    uint64_t put = 0;
    struct got_slot *slots = decode_got(in->decode, space, module, &count);
    decode_got_history(in->decode, space, slots, count);
    for (size_t i = 0; i < count && put < left; i++) {
        if (!is_wanted(ranges, module, &slots[i])) continue;
        char *target = target_name(in, space, &slots[i]);
        if (in->options.json) {
            slot_json(in, module, &slots[i], target);
        } else {
            slot_row(table, &slots[i], target);
        }
        free(target);
        put++;
    }
    free(slots);
    return put;
}

static uint64_t modules_put(struct inspect *in, uint32_t space, const struct inspect_ranges *ranges) {
    size_t count;
    uint64_t put = 0;
    const struct decode_module *modules = decode_modules(in->decode, space, &count);
    for (size_t i = 0; i < count && put < in->options.limit; i++) {
        struct table table;
        table_begin(&table, "llllll", "SLOT|SYMBOL|HOLDS|WHICH IS|STATE|BOUND SINCE");
        uint64_t here = module_put(in, &table, space, &modules[i], ranges, in->options.limit - put);
        if (here && !in->options.json) inspect_out_format(&in->out, "%s%s\n", put ? "\n" : "", modules[i].object->path);
        if (here && !in->options.json) {
            table_end(&table, &in->out, 0);
        } else {
            table_drop(&table);
        }
        put += here;
    }
    return put;
}

int inspect_got(struct inspect *in) {
    struct inspect_moment moment;
    struct inspect_ranges ranges;
    int status;
    if (!inspect_select(in, &moment, &status)) return status;
    if (!inspect_ranges_parse(in, moment.space->id, &ranges, &status)) return status;
    uint64_t put = modules_put(in, moment.space->id, &ranges);
    const char *what = ranges.count ? ranges.items[0].text : "nothing is linked dynamically";
    status = put ? INSPECT_OK : inspect_fail(in, INSPECT_ABSENT, "%s: no slot there: %s", in->options.trace, what);
    inspect_ranges_free(&ranges);
    return status;
}
