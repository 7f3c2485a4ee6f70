// Pages and bytes at the moment sought.
#include "timeline_internal.h"

#include <stdlib.h>
#include <string.h>

struct timeline_page timeline_page(struct timeline *tl, uint32_t space_id, uint64_t addr) {
    struct timeline_page result = {.certainty = VMV_CERT_UNKNOWN};
    const struct vmv_space *space = tl->at.world ? vmv_world_space(tl->at.world, space_id) : NULL;
    const struct vmv_mapping *map = space ? vmv_space_find(space, addr) : NULL;
    if (!map) return result;
    const struct vmv_page *page = vmv_space_page_peek(space, addr);
    struct verdict verdict = judge_page(tl, space, map, addr);
    if (page) result.page = *page;
    result.mapped = true;
    result.certainty = verdict.certainty;
    result.may_have_changed = verdict.may_have_changed;
    result.state = verdict.state;
    return result;
}

struct piece { // bytes of one page that are to be read
    uint64_t addr;
    size_t length;
    uint8_t *out;
};
struct run_list {
    struct timeline_run *runs;
    size_t count, room;
};

static bool same_origin(const struct timeline_run *a, const struct timeline_run *b) {
    return a->addr + a->length == b->addr && a->known == b->known && a->mapped == b->mapped &&
           a->certainty == b->certainty && a->captured == b->captured && a->from == b->from;
}

// False when there is no room for another run.
static bool add_run(struct run_list *list, struct timeline_run run) {
    if (!run.length) return true;
    if (list->count && same_origin(&list->runs[list->count - 1], &run)) {
        list->runs[list->count - 1].length += run.length;
        return true;
    }
    if (list->count == list->room) return false;
    list->runs[list->count++] = run;
    return true;
}

static struct timeline_run run_of(const struct piece *piece, const struct verdict *verdict) {
    struct timeline_run run = {.addr = piece->addr, .length = piece->length, .mapped = true, .known = verdict->known};
    if (!verdict->known) return run;
    run.certainty = verdict->certainty;
    run.captured = verdict->captured;
    run.from = verdict->from;
    return run;
}

static bool read_capture(struct timeline *tl, const struct piece *piece, const struct verdict *verdict) {
    if (verdict->content == VMV_CONTENT_ZERO) return true;
    uint8_t *page = malloc(tl->page_size);
    bool found = page && vmv_reader_page(tl->reader, verdict->content, page);
    if (found)
        memcpy(piece->out, page + (piece->addr & (tl->page_size - 1)), piece->length);
    else
        timeline_note_trouble(tl, vmv_reader_error(tl->reader));
    free(page);
    return found;
}

static bool add_unknown(struct run_list *list, const struct piece *piece, size_t from) {
    struct timeline_run run = {.addr = piece->addr + from, .length = piece->length - from, .mapped = true};
    return add_run(list, run);
}

// Bytes of a file: those embedded, then zeros up to the end of the page that holds the file's end. Bytes that were not
// embedded and pages beyond the end are unknown.
static bool read_object(struct timeline *tl, const struct vmv_mapping *map, const struct piece *piece,
                        const struct verdict *verdict, struct run_list *list) {
    const struct vmv_object *object = vmv_reader_object(tl->reader, map->object);
    uint64_t offset = map->offset + (piece->addr - map->start);
    uint64_t page_offset = offset & ~(uint64_t)(tl->page_size - 1);
    if (!object || page_offset >= object->size) return add_unknown(list, piece, 0);
    size_t want = object->size - offset < piece->length && object->size > offset ? (size_t)(object->size - offset)
                                                                                 : piece->length;
    if (offset >= object->size) want = 0;
    size_t got = want ? vmv_reader_object_bytes(tl->reader, map->object, offset, piece->out, want) : 0;
    struct piece part = {piece->addr, got == want ? piece->length : got, piece->out};
    return add_run(list, run_of(&part, verdict)) && (got == want || add_unknown(list, piece, got));
}

static bool read_piece(struct timeline *tl, const struct vmv_space *space, const struct vmv_mapping *map,
                       const struct piece *piece, struct run_list *list) {
    struct verdict verdict = judge_page(tl, space, map, piece->addr);
    if (!verdict.known) return add_unknown(list, piece, 0);
    if (verdict.from == TIMELINE_FROM_OBJECT) return read_object(tl, map, piece, &verdict, list);
    if (verdict.from == TIMELINE_FROM_CAPTURE && !read_capture(tl, piece, &verdict)) return add_unknown(list, piece, 0);
    return add_run(list, run_of(piece, &verdict));
}

// How many bytes up to `left` stand before the next mapping.
static uint64_t unmapped_length(const struct vmv_space *space, uint64_t addr, uint64_t left) {
    size_t next = space ? vmv_space_lower_bound(space, addr) : 0;
    if (!space || next >= space->map_count || space->maps[next].start <= addr) return left;
    uint64_t hole = space->maps[next].start - addr;
    return hole < left ? hole : left;
}

static uint64_t page_length(const struct vmv_space *space, uint64_t addr, uint64_t left) {
    uint64_t rest = space->page_size - (addr & (space->page_size - 1));
    return rest < left ? rest : left;
}

size_t timeline_read(struct timeline *tl, uint32_t space_id, uint64_t addr, void *out, size_t length,
                     struct timeline_run *runs, size_t room) {
    const struct vmv_space *space = tl->at.world ? vmv_world_space(tl->at.world, space_id) : NULL;
    struct run_list list = {runs, 0, room};
    memset(out, 0, length);
    if (length && addr > UINT64_MAX - (length - 1)) length = (size_t)(UINT64_MAX - addr) + 1;
    for (size_t done = 0; done < length;) {
        uint64_t at = addr + done;
        const struct vmv_mapping *map = space ? vmv_space_find(space, at) : NULL;
        uint64_t step = map ? page_length(space, at, length - done) : unmapped_length(space, at, length - done);
        struct piece piece = {at, (size_t)step, (uint8_t *)out + done};
        struct timeline_run hole = {.addr = at, .length = step};
        if (!(map ? read_piece(tl, space, map, &piece, &list) : add_run(&list, hole))) break;
        done += (size_t)step;
    }
    return list.count;
}
