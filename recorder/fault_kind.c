#include "fault_kind.h"

// A resident page that was armed (or is still the file's page of a private mapping) faults only because it is written.
static void settle_resident(const struct vmv_mapping *mapping, const struct vmv_page *page, struct vmv_event *fault) {
    bool writable = mapping->flags & VMV_MAP_W;
    bool zero_or_file = page->state == VMV_PAGE_ZERO || (page->flags & VMV_PAGEF_FILE);
    if (!writable || !(page->armed || zero_or_file)) return;
    fault->kind = VMV_FAULT_WRITE;
    if (fault->access == VMV_ACCESS_UNKNOWN) fault->access = VMV_ACCESS_WRITE;
}

// What may not be touched at all was not: the fault ends in a signal or in EFAULT.
static void settle_absent(const struct vmv_mapping *mapping, struct vmv_event *fault) {
    bool file = mapping->inode != 0;
    if (!(mapping->flags & (VMV_MAP_R | VMV_MAP_W | VMV_MAP_X))) return;
    fault->kind = file ? VMV_FAULT_FILE : VMV_FAULT_FIRST_TOUCH;
    if (fault->access != VMV_ACCESS_UNKNOWN) return;
    if (!(mapping->flags & VMV_MAP_W)) {
        bool fetch = (mapping->flags & VMV_MAP_X) && (fault->pc & ~4095ull) == (fault->addr & ~4095ull);
        fault->access = fetch ? VMV_ACCESS_EXEC : VMV_ACCESS_READ;
    }
}

void fault_kind_settle(const struct vmv_space *space, struct vmv_event *fault) {
    if (fault->kind != VMV_FAULT_UNKNOWN) return;
    const struct vmv_mapping *mapping = vmv_space_find(space, fault->addr);
    if (!mapping) {
        // Below a stack that grows: the touch itself makes the mapping.
        size_t next = vmv_space_lower_bound(space, fault->addr);
        if (next < space->map_count && (space->maps[next].flags & VMV_MAP_GROWSDOWN))
            fault->kind = VMV_FAULT_FIRST_TOUCH;
        return;
    }
    const struct vmv_page *page = vmv_space_page_peek(space, fault->addr);
    uint8_t state = page ? page->state : VMV_PAGE_UNKNOWN;
    if (state == VMV_PAGE_ZERO || state == VMV_PAGE_RESIDENT) {
        settle_resident(mapping, page, fault);
    } else if (state == VMV_PAGE_ABSENT || state == VMV_PAGE_UNKNOWN) {
        settle_absent(mapping, fault);
    }
}
