/* The mappings of the space and moment shown, with names, counts and groups. */
#include "app_regions.h"
#include "app_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- counting pages --- */

uint64_t app_age_bound(int index) {
    uint64_t bound = 1000000;
    for (int i = 0; i < index / 2; i++) bound *= 10;
    return index % 2 ? bound * 3 : bound;
}

bool app_page_resident(const struct vmv_page *page) {
    return page->state == VMV_PAGE_RESIDENT || page->state == VMV_PAGE_ZERO;
}

uint64_t app_huge_bytes(uint32_t page_size) { return (uint64_t)page_size * (page_size / 8); }

bool app_page_written(const struct vmv_space *space, const struct vmv_page *page) {
    return page->written && space->last_frame_t && page->written >= space->last_frame_t;
}

struct ages {                  /* how old the last write of a page is, by the time of the write */
    uint64_t latest[APP_AGES]; /* ns, 1 or more: of class i + 1 and above are those written before it */
    struct app_ages *count;
};

static struct ages ages_of(const struct app *app, struct app_ages *count) {
    struct ages ages = {.count = count};
    for (int i = 0; i < APP_AGES; i++) ages.latest[i] = app->t > app_age_bound(i) ? app->t - app_age_bound(i) : 1;
    return ages;
}

static int age_class(const struct ages *ages, uint64_t written) {
    int i = APP_AGES;
    while (i > 0 && written >= ages->latest[i - 1]) i--;
    return i;
}

static void count_now(const struct vmv_space *space, struct app_mapping *mapping, const struct vmv_page *page,
                      uint64_t addr, uint64_t *block) {
    uint64_t huge_bytes = app_huge_bytes(space->page_size);
    if (!(page->flags & VMV_PAGEF_HUGE)) {
        mapping->written++;
    } else if (addr / huge_bytes != *block) {
        *block = addr / huge_bytes;
        mapping->written++;
        mapping->huge++;
    }
}

static void count_each(const struct vmv_space *space, struct app_mapping *mapping,
                       const struct vmv_page_stretch *stretch, const struct ages *ages) {
    uint64_t since = space->last_frame_t ? space->last_frame_t : UINT64_MAX, block = UINT64_MAX;
    for (size_t i = 0; i < stretch->count; i++) {
        const struct vmv_page *page = &stretch->pages[stretch->alike ? 0 : i];
        if (page->written >= since)
            count_now(space, mapping, page, stretch->addr + i * space->page_size, &block);
        else if (page->written)
            ages->count->count[age_class(ages, page->written)]++;
    }
}

static uint64_t count_from(const uint64_t *written, size_t count, uint64_t from) {
    uint64_t found = 0;
    for (size_t i = 0; i < count; i++) found += written[i] >= from;
    return found;
}

static uint64_t count_those_now(const struct vmv_space *space, struct app_mapping *mapping,
                                const struct vmv_page_stretch *stretch) {
    uint64_t since = space->last_frame_t, now = 0, block = UINT64_MAX;
    if (!since || stretch->sums->written_high < since) return 0;
    for (size_t i = 0; i < stretch->count; i++) {
        if (stretch->written[i] < since) continue;
        count_now(space, mapping, &stretch->pages[i], stretch->addr + i * space->page_size, &block);
        now++;
    }
    return now;
}

/* A whole stretch, from its sums and the times of its pages. */
static void count_by_age(const struct vmv_space *space, struct app_mapping *mapping,
                         const struct vmv_page_stretch *stretch, const struct ages *ages) {
    const struct vmv_page_sums *sums = stretch->sums;
    if (!sums->written) return;
    uint64_t since = space->last_frame_t ? space->last_frame_t : UINT64_MAX;
    uint64_t now = count_those_now(space, mapping, stretch), before = now;
    int youngest = age_class(ages, sums->written_high), oldest = age_class(ages, sums->written_low);
    for (int i = youngest; i < oldest; i++) {
        uint64_t all = now;
        if (ages->latest[i] < since) all = count_from(stretch->written, stretch->count, ages->latest[i]);
        ages->count->count[i] += all - before;
        before = all;
    }
    ages->count->count[oldest] += sums->written - before;
}

static void count_states(struct app_mapping *mapping, const struct vmv_page_stretch *stretch) {
    for (size_t i = 0; i < stretch->count; i++) {
        const struct vmv_page *page = &stretch->pages[stretch->alike ? 0 : i];
        mapping->known += page->state != VMV_PAGE_UNKNOWN || page->content != VMV_CONTENT_NONE;
        mapping->resident += app_page_resident(page);
    }
}

static void count_pages(struct app *app, struct app_mapping *mapping, const struct ages *ages) {
    struct vmv_page_stretch stretch;
    uint64_t addr = mapping->map->start;
    while (vmv_space_stretch(app->space, addr, mapping->map->end, &stretch)) {
        const struct vmv_page_sums *sums = stretch.sums;
        if (sums) {
            mapping->known += sums->known;
            mapping->resident += sums->resident;
        } else {
            count_states(mapping, &stretch);
        }
        if (sums && stretch.written)
            count_by_age(app->space, mapping, &stretch, ages);
        else
            count_each(app->space, mapping, &stretch, ages);
        addr = stretch.addr + stretch.count * app->space->page_size;
    }
}

/* --- groups --- */

static int rank_of(enum vmv_kind kind) {
    static const int rank[VMV_KIND_COUNT] = {
        [VMV_KIND_PROGRAM] = 0, [VMV_KIND_HEAP] = 1,    [VMV_KIND_STACK] = 2,  [VMV_KIND_ANONYMOUS] = 3,
        [VMV_KIND_FILE] = 4,    [VMV_KIND_LIBRARY] = 5, [VMV_KIND_KERNEL] = 6,
    };
    return kind < VMV_KIND_COUNT ? rank[kind] : VMV_KIND_COUNT;
}

struct sorted { /* a group while the list is made */
    struct app_group group;
    int tid;
    uint64_t start;
    int index;
};

static int compare_groups(const void *left, const void *right) {
    const struct sorted *a = left, *b = right;
    int by_rank = rank_of(a->group.kind) - rank_of(b->group.kind);
    if (by_rank) return by_rank;
    /* Stacks without a known thread come last. */
    unsigned at = (unsigned)a->tid - 1, bt = (unsigned)b->tid - 1;
    if (at != bt) return at < bt ? -1 : 1;
    return a->start < b->start ? -1 : a->start > b->start;
}

static void add_to_group(struct app_group *group, const struct app_mapping *mapping) {
    group->count++;
    group->bytes += mapping->map->end - mapping->map->start;
    group->resident += mapping->resident;
    group->written += mapping->written;
}

/* A guard is listed with its stack and has the stack's colour in lists. */
static enum vmv_kind group_kind(const struct app_mapping *mapping) {
    return mapping->guard ? VMV_KIND_STACK : mapping->kind;
}

static size_t gather_groups(struct app *app, struct sorted *sorted) {
    struct app_regions *regions = &app->regions;
    size_t count = 0;
    for (size_t i = 0; i < regions->count; i++) {
        struct app_mapping *mapping = &regions->map[i];
        char name[APP_NAME_SIZE];
        uint64_t id = app_name_group(mapping, app->world, name, sizeof name);
        size_t g = count;
        while (g-- > 0 && sorted[g].group.id != id) continue;
        if (g == SIZE_MAX) {
            g = count++;
            sorted[g] = (struct sorted){.group = {.id = id, .kind = group_kind(mapping)},
                                        .tid = mapping->tid,
                                        .start = mapping->map->start,
                                        .index = (int)g};
            snprintf(sorted[g].group.name, sizeof sorted[g].group.name, "%s", name);
        }
        mapping->group = (int)g;
        add_to_group(&sorted[g].group, mapping);
    }
    return count;
}

static void list_mappings(struct app_regions *regions, const struct sorted *sorted) {
    int *place = calloc(regions->group_count + 1, sizeof *place), next = 0;
    if (!place) return;
    for (size_t g = 0; g < regions->group_count; g++) place[sorted[g].index] = (int)g;
    for (size_t g = 0; g < regions->group_count; g++) {
        regions->group[g].first = next;
        next += regions->group[g].count;
        regions->group[g].count = 0;
    }
    for (size_t i = 0; i < regions->count; i++) {
        struct app_group *group = &regions->group[place[regions->map[i].group]];
        regions->map[i].group = (int)(group - regions->group);
        regions->order[group->first + group->count++] = (int)i;
    }
    free(place);
}

static void make_groups(struct app *app) {
    struct app_regions *regions = &app->regions;
    struct sorted *sorted = calloc(regions->count + 1, sizeof *sorted);
    regions->group = calloc(regions->count + 1, sizeof *regions->group);
    regions->order = calloc(regions->count + 1, sizeof *regions->order);
    if (!sorted || !regions->group || !regions->order) {
        free(sorted);
        return;
    }
    regions->group_count = gather_groups(app, sorted);
    qsort(sorted, regions->group_count, sizeof *sorted, compare_groups);
    for (size_t g = 0; g < regions->group_count; g++) regions->group[g] = sorted[g].group;
    list_mappings(regions, sorted);
    for (size_t g = 0; g < regions->group_count; g++) regions->group[g].single = regions->group[g].count == 1;
    free(sorted);
}

/* --- the whole --- */

static void clear(struct app_regions *regions) {
    free(regions->map);
    free(regions->group);
    free(regions->order);
    free(regions->ages);
    *regions = (struct app_regions){0};
}

void app_regions_invalidate(struct app *app) { app->regions.valid = false; }
void app_regions_free(struct app *app) { clear(&app->regions); }

static void add_mappings(struct app *app) {
    struct app_regions *regions = &app->regions;
    const struct vmv_space *space = app->space;
    struct ages ages = ages_of(app, regions->ages);
    for (size_t i = 0; i < space->map_count; i++) {
        struct app_mapping *mapping = &regions->map[regions->count++];
        mapping->map = &space->maps[i];
        mapping->kind = vmv_mapping_kind(space, mapping->map);
        const struct vmv_mapping *above = i + 1 < space->map_count ? &space->maps[i + 1] : NULL;
        app_name_mapping(mapping, app->world, space->id, above);
        count_pages(app, mapping, &ages);
        regions->bytes += mapping->map->end - mapping->map->start;
        regions->resident += mapping->resident;
        regions->written += mapping->written;
        regions->huge += mapping->huge;
    }
}

const struct app_regions *app_regions(struct app *app) {
    struct app_regions *regions = &app->regions;
    if (regions->valid) return regions;
    clear(regions);
    regions->valid = true;
    regions->ages = calloc(1, sizeof *regions->ages);
    if (!app->space || !regions->ages) return regions;
    regions->map = calloc(app->space->map_count + 1, sizeof *regions->map);
    if (!regions->map) return regions;
    add_mappings(app);
    make_groups(app);
    return regions;
}

size_t app_mapping_lower(struct app *app, uint64_t addr) {
    const struct app_regions *regions = app_regions(app);
    size_t low = 0, high = regions->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (regions->map[middle].map->end <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct app_mapping *app_mapping_at(struct app *app, uint64_t addr) {
    const struct app_regions *regions = app_regions(app);
    size_t i = app_mapping_lower(app, addr);
    return i < regions->count && regions->map[i].map->start <= addr ? &regions->map[i] : NULL;
}

const struct app_group *app_group_find(struct app *app, uint64_t id) {
    const struct app_regions *regions = app_regions(app);
    for (size_t i = 0; i < regions->group_count; i++)
        if (regions->group[i].id == id) return &regions->group[i];
    return NULL;
}

/* --- folding --- */

bool app_group_folded(const struct app *app, uint64_t id) {
    for (size_t i = 0; i < app->folded.count; i++)
        if (app->folded.id[i] == id) return true;
    return false;
}

void app_group_fold(struct app *app, uint64_t id, bool folded) {
    if (app_group_folded(app, id) == folded) return;
    if (!folded) {
        for (size_t i = 0; i < app->folded.count; i++)
            if (app->folded.id[i] == id) app->folded.id[i] = app->folded.id[--app->folded.count];
        return;
    }
    if (app->folded.count == app->folded.room) {
        size_t room = app->folded.room ? app->folded.room * 2 : 16;
        uint64_t *more = realloc(app->folded.id, room * sizeof *more);
        if (!more) return;
        app->folded.id = more;
        app->folded.room = room;
    }
    app->folded.id[app->folded.count++] = id;
}
