// Names of addresses, addresses of names.
#include "decode_private.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

enum { MANGLED_MAX = 16384 }; // bytes: a longer name is shown as it is, since demangling can grow without bound

static void fill(struct decode_symbol *out, const struct decode_module *module, const struct elf_symbol *symbol) {
    *out = (struct decode_symbol){.name = symbol->name,
                                  .version = symbol->version,
                                  .addr = module->bias + symbol->addr,
                                  .size = symbol->size,
                                  .module = module,
                                  .symbol = symbol};
}

bool decode_symbol_at(struct decode *d, uint32_t space, uint64_t addr, struct decode_symbol *out) {
    const struct decode_module *module = decode_module_at(d, space, addr);
    if (!module) return false;
    decode_object_debug(d, module->object);
    uint64_t at = addr - module->bias;
    const struct elf_file *debug = module->object->debug;
    const struct elf_symbol *symbol = elf_file_symbol(module->object->elf, at);
    const struct elf_symbol *other = debug ? elf_file_symbol(debug, at) : NULL;
    // the debug file's table has all; the versions stand in the object's
    if (other && (!symbol || other->addr > symbol->addr || (other->size && !symbol->size))) symbol = other;
    if (!symbol) return false;
    fill(out, module, symbol);
    return true;
}

static const struct elf_symbol *named_in(struct decode *d, const struct decode_module *module, const char *name) {
    const struct elf_symbol *symbol = elf_file_symbol_named(module->object->elf, name);
    if (symbol) return symbol;
    decode_object_debug(d, module->object);
    return module->object->debug ? elf_file_symbol_named(module->object->debug, name) : NULL;
}

static bool is_last_part(const char *path, const char *part, size_t length) {
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    return strncmp(last, part, length) == 0 && !last[length];
}

static int preference(const struct decode_module *module, const struct elf_symbol *symbol) {
    bool local = symbol->bind == 0; // STB_LOCAL
    return (module->program ? 2 : 1) + (local ? 0 : 4);
}

bool decode_symbol_named(struct decode *d, uint32_t space, const char *name, struct decode_symbol *out) {
    size_t count;
    const struct decode_module *modules = decode_modules(d, space, &count);
    const char *colon = strchr(name, ':');
    if (colon && colon[1] == ':') colon = NULL; // C++
    int best = 0;
    for (size_t i = 0; i < count; i++) {
        bool wanted = !colon || is_last_part(modules[i].object->path, name, (size_t)(colon - name));
        const struct elf_symbol *symbol = wanted ? named_in(d, &modules[i], colon ? colon + 1 : name) : NULL;
        if (!symbol || preference(&modules[i], symbol) <= best) continue;
        best = preference(&modules[i], symbol);
        fill(out, &modules[i], symbol);
    }
    return best > 0;
}

char *decode_demangle(const char *name) {
    char *plain = NULL;
    bool mangled = strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0;
    if (mangled && strnlen(name, MANGLED_MAX) < MANGLED_MAX)
        plain = cplus_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
    return plain ? plain : strdup(name);
}

static bool place_of_symbol(struct decode *d, uint32_t space, const char *name, uint64_t *addr, uint64_t *length) {
    struct decode_symbol symbol;
    if (!decode_symbol_named(d, space, name, &symbol)) return false;
    *addr = symbol.addr;
    *length = symbol.size;
    return true;
}

bool decode_place(struct decode *d, uint32_t space, const char *text, uint64_t *addr, uint64_t *length) {
    bool asked = strncmp(text, "sym:", 4) == 0;
    if (!asked && timeline_place(d->tl, space, text, addr, length)) return true;
    const char *name = asked ? text + 4 : text, *plus = strrchr(name, '+');
    if (place_of_symbol(d, space, name, addr, length)) return true;
    char *end, *base = plus && isdigit((unsigned char)plus[1]) ? strndup(name, (size_t)(plus - name)) : NULL;
    if (!base) return false;
    uint64_t offset = strtoull(plus + 1, &end, 0);
    bool found = !*end && place_of_symbol(d, space, base, addr, length) && offset <= UINT64_MAX - *addr;
    free(base);
    *length = 0;
    if (found) *addr += offset;
    return found;
}
