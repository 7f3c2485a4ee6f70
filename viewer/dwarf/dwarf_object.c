// The only file that knows how versions of libdwarf differ in this: Debian 12 has 20210528; from 0.2.0 on the names of
// the interface end with _a, and the object is asked for its size too.
#include "dwarf_object.h"

#include <dwarf.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef DW_LIBDWARF_VERSION_MAJOR
typedef Dwarf_Obj_Access_Interface_a access_interface;
typedef Dwarf_Obj_Access_Methods_a access_methods;
typedef Dwarf_Obj_Access_Section_a access_section;
typedef Dwarf_Unsigned section_number;
#else
typedef Dwarf_Obj_Access_Interface access_interface;
typedef Dwarf_Obj_Access_Methods access_methods;
typedef Dwarf_Obj_Access_Section access_section;
typedef Dwarf_Half section_number;
#endif

struct object {
    access_interface interface;
    struct elf_file *file;
};

static bool is_debug(const struct elf_section *section) {
    return strncmp(section->name, ".debug", 6) == 0 || strncmp(section->name, ".zdebug", 7) == 0;
}

// ".debug_info" for ".zdebug_info", whose bytes are handed over inflated. libdwarf keeps the names: these are not
// freed.
static const char *plain_name(const char *name) {
    char *plain = NULL;
    bool old = strncmp(name, ".zdebug", 7) == 0;
    return old && asprintf(&plain, ".%s", name + 2) > 0 ? plain : name;
}

static int section_info(void *user, section_number number, access_section *out, int *error) {
    const struct object *object = user;
    memset(out, 0, sizeof *out);
    if (number >= object->file->section_count) return DW_DLV_NO_ENTRY;
    const struct elf_section *section = &object->file->sections[number];
    size_t length = 0;
    if (is_debug(section)) elf_file_section_bytes(object->file, section, &length);
    out->name = plain_name(section->name);
    out->size = length;
    out->type = section->type;
    out->addr = section->addr;
    out->link = section->link;
    out->info = section->info;
    out->entrysize = section->entry_size;
    return DW_DLV_OK;
}

static int load(void *user, section_number number, Dwarf_Small **out, int *error) {
    const struct object *object = user;
    size_t length;
    if (number >= object->file->section_count) return DW_DLV_NO_ENTRY;
    const uint8_t *bytes = elf_file_section_bytes(object->file, &object->file->sections[number], &length);
    *out = (Dwarf_Small *)(uintptr_t)bytes;
    return bytes ? DW_DLV_OK : DW_DLV_NO_ENTRY;
}

static int relocate(void *user, section_number number, Dwarf_Debug debug, int *error) { return DW_DLV_NO_ENTRY; }

static Dwarf_Small length_size(void *user) { return 4; }

static Dwarf_Small pointer_size(void *user) { return 8; }

#ifdef DW_LIBDWARF_VERSION_MAJOR
static Dwarf_Small byte_order(void *user) { return DW_END_little; }
static Dwarf_Unsigned file_size(void *user) { return ((const struct object *)user)->file->length; }
#else
static Dwarf_Endianness byte_order(void *user) { return DW_OBJECT_LSB; }
#endif

static Dwarf_Unsigned section_count(void *user) { return ((const struct object *)user)->file->section_count; }

static const access_methods methods = {section_info,  byte_order, length_size, pointer_size,
#ifdef DW_LIBDWARF_VERSION_MAJOR
                                       file_size,
#endif
                                       section_count, load,       relocate};

// Called where no error is asked for, and nothing else is done about it: without a handler libdwarf aborts.
static void ignore_error(Dwarf_Error error, Dwarf_Ptr user) {}

Dwarf_Debug dwarf_object_open(struct elf_file *file, char *error, size_t error_size) {
    static struct object object; // libdwarf keeps it; a process reads one
    Dwarf_Debug debug = NULL;
    Dwarf_Error why = NULL;
    object.file = file;
    object.interface.object = &object;
    object.interface.methods = &methods;
    int result = file->is_64 && file->is_little
                     ? dwarf_object_init_b(&object.interface, ignore_error, NULL, DW_GROUPNUMBER_ANY, &debug, &why)
                     : DW_DLV_NO_ENTRY;
    if (result == DW_DLV_OK) return debug;
    snprintf(error, error_size, "%s", result == DW_DLV_ERROR ? dwarf_errmsg(why) : "no debug information");
    return NULL;
}

void dwarf_object_close(Dwarf_Debug debug) {
#ifdef DW_LIBDWARF_VERSION_MAJOR
    dwarf_object_finish(debug);
#else
    Dwarf_Error error;
    dwarf_object_finish(debug, &error);
#endif
}
