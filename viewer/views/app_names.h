/* Names of mappings and groups; see app_regions.c. */
#ifndef APP_NAMES_H
#define APP_NAMES_H

#include "app.h"

/* Copies a name from a trace with control characters as '?'. Cuts at the end of the buffer. */
void app_plain(char *out, size_t size, const char *text);
/* Last part of a path; other names as they are. */
void app_base_name(char *out, size_t size, const char *path);
/* "rw-" */
void app_permissions(uint32_t flags, char out[4]);
bool app_mapping_is_file(const struct vmv_mapping *map);

/* Fill name, short_name, guard, reserved and tid; map and kind are set. above: the mapping after it, or NULL. */
void app_name_mapping(struct app_mapping *mapping, const struct vmv_world *world, uint32_t space,
                      const struct vmv_mapping *above);
/* The group a named mapping belongs to: its name, and an id that stays the same over time. */
uint64_t app_name_group(const struct app_mapping *mapping, const struct vmv_world *world, char *name, size_t size);

#endif
