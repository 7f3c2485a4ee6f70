#include "dwarf_die.h"

#include <dwarf.h>
#include <stddef.h>

enum { REFERENCES_MOST = 8, RANGES_MOST = 1 << 20 };
enum { FORM_GNU_REF_ALT = 0x1f20, FORM_REF_SUP4 = 0x1c, FORM_REF_SUP8 = 0x24 }; // into another file

bool die_unsigned(Dwarf_Die die, Dwarf_Half attribute, uint64_t *value) {
    Dwarf_Attribute attr = NULL;
    Dwarf_Unsigned number = 0;
    Dwarf_Signed negative = 0;
    if (dwarf_attr(die, attribute, &attr, NULL) != DW_DLV_OK) return false;
    bool good = dwarf_formudata(attr, &number, NULL) == DW_DLV_OK;
    if (!good && dwarf_formsdata(attr, &negative, NULL) == DW_DLV_OK && negative >= 0) {
        number = (Dwarf_Unsigned)negative;
        good = true;
    }
    dwarf_dealloc_attribute(attr);
    *value = number;
    return good;
}

bool die_offset(Dwarf_Die die, Dwarf_Half attribute, uint64_t *offset) {
    Dwarf_Attribute attr = NULL;
    Dwarf_Off found = 0;
    if (dwarf_attr(die, attribute, &attr, NULL) != DW_DLV_OK) return false;
    bool good = dwarf_global_formref(attr, &found, NULL) == DW_DLV_OK;
    dwarf_dealloc_attribute(attr);
    *offset = found;
    return good;
}

bool die_string(Dwarf_Die die, Dwarf_Half attribute, const char **text) {
    Dwarf_Attribute attr = NULL;
    char *found = NULL;
    if (dwarf_attr(die, attribute, &attr, NULL) != DW_DLV_OK) return false;
    bool good = dwarf_formstring(attr, &found, NULL) == DW_DLV_OK && found;
    dwarf_dealloc_attribute(attr);
    if (good) *text = found;
    return good;
}

Dwarf_Half die_tag(Dwarf_Die die) {
    Dwarf_Half tag = 0;
    return dwarf_tag(die, &tag, NULL) == DW_DLV_OK ? tag : 0;
}

Dwarf_Die die_reference(Dwarf_Debug debug, Dwarf_Die die, Dwarf_Half attribute) {
    Dwarf_Attribute attr = NULL;
    Dwarf_Half form = 0;
    Dwarf_Off offset = 0;
    Dwarf_Die found = NULL;
    if (dwarf_attr(die, attribute, &attr, NULL) != DW_DLV_OK) return NULL;
    bool good = dwarf_whatform(attr, &form, NULL) == DW_DLV_OK && form != FORM_GNU_REF_ALT && form != FORM_REF_SUP4 &&
                form != FORM_REF_SUP8 && form != DW_FORM_ref_sig8 &&
                dwarf_global_formref(attr, &offset, NULL) == DW_DLV_OK;
    dwarf_dealloc_attribute(attr);
    if (good && dwarf_offdie_b(debug, offset, 1, &found, NULL) == DW_DLV_OK) return found;
    return NULL;
}

static Dwarf_Die origin_of(Dwarf_Debug debug, Dwarf_Die die) {
    Dwarf_Die origin = die_reference(debug, die, DW_AT_abstract_origin);
    return origin ? origin : die_reference(debug, die, DW_AT_specification);
}

static void take_names(Dwarf_Die die, const char **name, const char **linkage) {
    if (!*name) die_string(die, DW_AT_name, name);
    if (!*linkage && !die_string(die, DW_AT_linkage_name, linkage)) die_string(die, DW_AT_MIPS_linkage_name, linkage);
}

void die_names(Dwarf_Debug debug, Dwarf_Die die, const char **name, const char **linkage) {
    *name = *linkage = NULL;
    take_names(die, name, linkage);
    Dwarf_Die at = origin_of(debug, die);
    for (int left = REFERENCES_MOST; at && left && !(*name && *linkage); left--) {
        take_names(at, name, linkage);
        Dwarf_Die next = origin_of(debug, at);
        dwarf_dealloc_die(at);
        at = next;
    }
    if (at) dwarf_dealloc_die(at);
}

// ------------------------------------------------------------------------------------------------- ranges

// .debug_rnglists, DWARF 5
static void ranges_of_lists(Dwarf_Attribute attr, Dwarf_Half form, Dwarf_Unsigned value, die_range *each, void *user) {
    Dwarf_Rnglists_Head head = NULL;
    Dwarf_Unsigned count = 0, offset = 0;
    if (dwarf_rnglists_get_rle_head(attr, form, value, &head, &count, &offset, NULL) != DW_DLV_OK) return;
    for (Dwarf_Unsigned i = 0; i < count && i < RANGES_MOST; i++) {
        unsigned length = 0, kind = 0;
        Dwarf_Unsigned raw[2], low = 0, high = 0;
        Dwarf_Bool unavailable = 0;
        if (dwarf_get_rnglists_entry_fields_a(head, i, &length, &kind, &raw[0], &raw[1], &unavailable, &low, &high,
                                              NULL) != DW_DLV_OK)
            break;
        if (kind == DW_RLE_end_of_list) break;
        bool base = kind == DW_RLE_base_address || kind == DW_RLE_base_addressx;
        if (!base && !unavailable && high > low) each(user, low, high);
    }
    dwarf_dealloc_rnglists_head(head);
}

// .debug_ranges, up to DWARF 4
static void ranges_of_table(Dwarf_Debug debug, Dwarf_Die die, Dwarf_Off offset, uint64_t base, die_range *each,
                            void *user) {
    Dwarf_Ranges *ranges = NULL;
    Dwarf_Signed count = 0;
    Dwarf_Off real = 0;
    if (dwarf_get_ranges_b(debug, offset, die, &real, &ranges, &count, NULL, NULL) != DW_DLV_OK) return;
    for (Dwarf_Signed i = 0; i < count && i < RANGES_MOST && ranges[i].dwr_type != DW_RANGES_END; i++) {
        if (ranges[i].dwr_type == DW_RANGES_ADDRESS_SELECTION) {
            base = ranges[i].dwr_addr2;
        } else if (ranges[i].dwr_addr2 > ranges[i].dwr_addr1) {
            each(user, base + ranges[i].dwr_addr1, base + ranges[i].dwr_addr2);
        }
    }
    dwarf_ranges_dealloc(debug, ranges, count);
}

static void ranges_of_attribute(Dwarf_Debug debug, Dwarf_Die die, uint64_t base, die_range *each, void *user) {
    Dwarf_Attribute attr = NULL;
    Dwarf_Half form = 0, version = 0, offset_size = 0;
    Dwarf_Unsigned value = 0;
    Dwarf_Off offset = 0;
    if (dwarf_attr(die, DW_AT_ranges, &attr, NULL) != DW_DLV_OK) return;
    dwarf_whatform(attr, &form, NULL);
    dwarf_get_version_of_die(die, &version, &offset_size);
    bool has = form == DW_FORM_rnglistx ? dwarf_formudata(attr, &value, NULL) == DW_DLV_OK
                                        : dwarf_global_formref(attr, &offset, NULL) == DW_DLV_OK;
    if (has && version >= 5) ranges_of_lists(attr, form, form == DW_FORM_rnglistx ? value : offset, each, user);
    if (has && version < 5) ranges_of_table(debug, die, offset, base, each, user);
    dwarf_dealloc_attribute(attr);
}

void die_ranges(Dwarf_Debug debug, Dwarf_Die die, uint64_t base, die_range *each, void *user) {
    Dwarf_Addr low = 0, high = 0;
    Dwarf_Half form = 0;
    enum Dwarf_Form_Class class = DW_FORM_CLASS_UNKNOWN;
    bool has_low = dwarf_lowpc(die, &low, NULL) == DW_DLV_OK;
    if (has_low && dwarf_highpc_b(die, &high, &form, &class, NULL) == DW_DLV_OK) {
        if (class == DW_FORM_CLASS_CONSTANT) high += low;
        if (high > low) each(user, low, high);
        return;
    }
    ranges_of_attribute(debug, die, base, each, user);
}
