// Which files have executable mappings in a space: those are its libraries.
#include "space_private.h"

#include <stdlib.h>
#include <string.h>

static int order(const struct vmv_exec_file *file, const struct vmv_mapping *map) {
    if (file->inode != map->inode) return file->inode < map->inode ? -1 : 1;
    if (file->dev_major != map->dev_major) return file->dev_major < map->dev_major ? -1 : 1;
    if (file->dev_minor != map->dev_minor) return file->dev_minor < map->dev_minor ? -1 : 1;
    return 0;
}

static size_t place(const struct vmv_exec_files *files, const struct vmv_mapping *map) {
    size_t low = 0, high = files->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (order(&files->list[middle], map) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool vmv_exec_files_has(const struct vmv_exec_files *files, const struct vmv_mapping *map) {
    size_t at = place(files, map);
    return at < files->count && order(&files->list[at], map) == 0;
}

static void insert(struct vmv_exec_files *files, size_t at, const struct vmv_mapping *map) {
    if (files->count == files->room) {
        files->room = files->room ? files->room * 2 : 16;
        files->list = realloc(files->list, files->room * sizeof *files->list);
        if (!files->list) abort();
    }
    memmove(&files->list[at + 1], &files->list[at], (files->count - at) * sizeof *files->list);
    files->list[at] = (struct vmv_exec_file){map->inode, map->dev_major, map->dev_minor, 0};
    files->count++;
}

void vmv_exec_files_note(struct vmv_exec_files *files, const struct vmv_mapping *map, int mappings) {
    if (!(map->flags & VMV_MAP_X) || !map->inode) return;
    size_t at = place(files, map);
    if (at == files->count || order(&files->list[at], map) != 0) insert(files, at, map);
    files->list[at].mappings += (uint64_t)(int64_t)mappings;
    if (files->list[at].mappings) return;
    files->count--;
    memmove(&files->list[at], &files->list[at + 1], (files->count - at) * sizeof *files->list);
}
