// What the files of the context share.
#ifndef DECODE_PRIVATE_H
#define DECODE_PRIVATE_H

#include "arena.h"
#include "cfi.h"
#include "decode.h"
#include "dwarf_index.h"
#include "elf_dynamic.h"

struct loaded_object {
    struct decode_object object;
    uint32_t space; // of a vdso: whose memory it was read from
    bool debug_tried, slots_tried;
    struct elf_slot *slots; // elf_dynamic_slots()
    size_t slot_count;
    struct cfi *cfi, *debug_cfi; // NULL: not read yet
    bool dwarf_tried;
    struct dwarf_index *dwarf;
    const char *dwarf_trouble;
    struct loaded_object *next;
};

struct decode {
    struct timeline *tl;
    struct vmv_arena arena; // paths and troubles, as long as the context
    struct loaded_object *objects;
    bool no_debug;
    struct { // the modules asked for last
        uint32_t space;
        uint64_t changes, t;
        bool valid;
        struct decode_module *items;
        size_t count, room;
    } modules;
};

const struct decode_object *decode_object_of_vdso(struct decode *d, uint32_t space, const struct vmv_mapping *mapping);
void decode_objects_free(struct decode *d);
// The separate debug file of an object, into object->debug.
void decode_find_debug(struct decode *d, struct decode_object *object);
struct loaded_object *decode_loaded(struct decode *d, const struct decode_object *object); // NULL: not of this context
// The slots of an object by address, with its own addresses; they belong to the context.
const struct elf_slot *decode_object_slots(struct decode *d, const struct decode_object *object, size_t *count);
// Call frame information of an object (`debug`: of its separate debug file); NULL: it has no such file.
const struct cfi *decode_object_cfi(struct decode *d, const struct decode_object *object, bool debug);
// A local file, wholly read. malloc; NULL: there is none, it is no regular file, or it is too large.
uint8_t *decode_read_file(const char *path, size_t *length);

#endif
