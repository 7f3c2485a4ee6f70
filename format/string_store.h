// Stable, shared copies of texts: the same text always gives the same pointer, valid as long as the store.
#ifndef VMV_STRING_STORE_H
#define VMV_STRING_STORE_H

#include <stddef.h>

struct vmv_string_store;

// A store is shared by counting: spaces copied from each other, and all spaces of a world, hold one together. It is
// meant for one thread at a time.
struct vmv_string_store *vmv_strings_create(void);
struct vmv_string_store *vmv_strings_hold(struct vmv_string_store *store);
void vmv_strings_release(struct vmv_string_store *store); // accepts NULL

const char *vmv_strings_intern(struct vmv_string_store *store, const char *text); // NULL as ""
const char *vmv_strings_intern_bytes(struct vmv_string_store *store, const char *text, size_t length);
size_t vmv_strings_memory(const struct vmv_string_store *store); // bytes held

#endif
