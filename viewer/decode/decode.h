// What bytes mean. One context over a timeline, owned by the caller; it keeps what it has read of objects. Answers are
// about the moment the timeline stands at, and hold until it moves or the next call that says so.
#ifndef DECODE_H
#define DECODE_H

#include "elf_file.h"
#include "timeline.h"

struct decode;

struct decode *decode_create(struct timeline *tl); // NULL: out of memory
void decode_destroy(struct decode *d);             // accepts NULL
struct timeline *decode_timeline(const struct decode *d);
// Whether separate debug files and debug information are read (default: yes): that can take seconds, which a window has
// not. What is known already stays known.
void decode_allow_debug(struct decode *d, bool allow);

// --- objects: files that were mapped, and the vdso
struct decode_object {
    uint32_t number;      // OBJECT of the trace; 0: from memory
    const char *path;     // as mapped, or "[vdso]"
    struct elf_file *elf; // NULL: not ELF, not embedded, or damaged
    const char *trouble;  // why there is no elf, one line; NULL
    // Separate debug information: an object of the trace with the same build-id, or a local file whose build-id is
    // equal. NULL: none was found.
    struct elf_file *debug;
    const char *debug_path;
    bool debug_is_local; // a file of this machine
};
// Loads at the first call; the object belongs to the context. NULL: the trace has no such object.
const struct decode_object *decode_object(struct decode *d, uint32_t number);
// The same with its debug information looked for, too.
const struct decode_object *decode_object_debug(struct decode *d, const struct decode_object *object);

// --- modules: objects where they are mapped
struct decode_module {
    const struct decode_object *object; // its elf is not NULL
    uint64_t bias;                      // address = bias + address in the file
    uint64_t start, end;                // from its first to its last segment
    bool program;                       // the one that was executed
};
// Those of a space, by start. They hold until the mappings change or the space is another.
const struct decode_module *decode_modules(struct decode *d, uint32_t space, size_t *count);
const struct decode_module *decode_module_at(struct decode *d, uint32_t space, uint64_t addr); // NULL: none

// --- bytes
// Copies `length` bytes. False: some of them are not known; *known (may be NULL) says how many at the beginning are.
bool decode_read(struct decode *d, uint32_t space, uint64_t addr, void *out, size_t length, size_t *known);
bool decode_read_u64(struct decode *d, uint32_t space, uint64_t addr, uint64_t *value);
// Up to the first zero byte, at most size - 1 bytes. False: it does not end within known bytes.
bool decode_read_text(struct decode *d, uint32_t space, uint64_t addr, char *out, size_t size);

// --- symbols
struct decode_symbol {
    const char *name, *version; // as in the file, mangled
    uint64_t addr, size;        // where it is mapped
    const struct decode_module *module;
    const struct elf_symbol *symbol;
};
// The one that best names the address, from symbol tables and separate debug files.
bool decode_symbol_at(struct decode *d, uint32_t space, uint64_t addr, struct decode_symbol *out);
// By name, "NAME", "NAME@VERSION" or "OBJECT:NAME" with the last part of the object's path: the program's first, then
// those of libraries by address, global ones before local ones.
bool decode_symbol_named(struct decode *d, uint32_t space, const char *name, struct decode_symbol *out);
// The name as the source has it ("std::vector<int>::push_back(int const&)"), or the name itself. malloc.
char *decode_demangle(const char *name);

// A place as timeline_place() takes it, and "sym:NAME", "NAME" where it is a symbol, with "+N" behind.
bool decode_place(struct decode *d, uint32_t space, const char *text, uint64_t *addr, uint64_t *length);

#endif
