// A made-up program whose memory is known at every moment, recorded as the recorder would: whatever the timeline says
// must agree with it. Exact bytes are the bytes of that moment; stale bytes were right when they were captured and did
// not change before the moment from which on they may have.
#include "timeline_fixture.h"

enum { PAGES = 48, FRAMES = 200, MOMENTS = 4000, FILE_PAGES = 8, FRAME_MS = 20 };
#define FILE_BASE (ANON + 4096 * PAGE)

struct change { // of one page
    uint64_t t;
    uint8_t value;
    bool mapped;
};
struct page {
    struct change *changes;
    size_t count;
    bool resident, armed, dirty, zero; // zero: only read so far, the shared page of zeros
};
struct program {
    struct made made;
    struct page pages[PAGES + FILE_PAGES];
    uint64_t random;
    uint8_t next_value;
    bool blind; // inside a gap: no fault is recorded, and frames do not know what was written
};

static uint64_t roll(struct program *program, uint64_t sides) { return made_random(&program->random) % sides; }

static uint64_t addr_of(size_t page) { return page < PAGES ? ANON + page * PAGE : FILE_BASE + (page - PAGES) * PAGE; }

static void becomes(struct program *program, size_t index, uint8_t value, bool mapped) {
    struct page *page = &program->pages[index];
    page->changes = realloc(page->changes, (page->count + 1) * sizeof *page->changes);
    page->changes[page->count++] = (struct change){program->made.t, value, mapped};
}

static bool is_mapped(const struct page *page) { return page->changes[page->count - 1].mapped; }

// Records do not tell reads from writes where the page was not there.
static void fault(struct program *program, size_t index, uint8_t kind, uint8_t access) {
    if (kind == VMV_FAULT_FIRST_TOUCH && roll(program, 2)) access = VMV_ACCESS_UNKNOWN;
    made_event(&program->made, (struct vmv_event){.type = VMV_EV_FAULT,
                                                  .addr = addr_of(index) + 8,
                                                  .pc = 1,
                                                  .kind = kind,
                                                  .access = access,
                                                  .source = VMV_SOURCE_RECORDS});
}

static void reads(struct program *program, size_t index) {
    struct page *page = &program->pages[index];
    if (index >= PAGES || !is_mapped(page) || page->resident) return;
    if (!program->blind) fault(program, index, VMV_FAULT_FIRST_TOUCH, VMV_ACCESS_READ);
    page->resident = page->dirty = page->zero = true;
}

static void writes(struct program *program, size_t index) {
    struct page *page = &program->pages[index];
    if (!is_mapped(page)) return;
    bool faults = !page->resident || page->armed || page->zero;
    if (faults && !program->blind)
        fault(program, index, page->resident ? VMV_FAULT_WRITE : VMV_FAULT_FIRST_TOUCH, VMV_ACCESS_WRITE);
    page->resident = page->dirty = true;
    page->armed = page->zero = false;
    program->next_value = (uint8_t)(program->next_value % 250 + 1);
    becomes(program, index, program->next_value, true);
}

static void loses(struct program *program, size_t index) {
    struct page *page = &program->pages[index];
    page->resident = page->armed = page->dirty = page->zero = false;
}

static uint8_t fresh_value(size_t index) { return index < PAGES ? 0 : 'f'; }

static void unmaps(struct program *program, size_t index) {
    if (index >= PAGES || !is_mapped(&program->pages[index])) return;
    made_munmap(&program->made, addr_of(index), 1);
    loses(program, index);
    becomes(program, index, 0, false);
}

static void maps(struct program *program, size_t index) {
    if (index >= PAGES || is_mapped(&program->pages[index])) return;
    made_mmap(&program->made, addr_of(index), 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED);
    becomes(program, index, 0, true);
}

static void discards(struct program *program, size_t index) {
    if (!is_mapped(&program->pages[index])) return;
    made_event(&program->made,
               (struct vmv_event){.type = VMV_EV_MADVISE, .addr = addr_of(index), .len = PAGE, .prot = MADV_DONTNEED});
    loses(program, index);
    becomes(program, index, fresh_value(index), true);
}

static void runs(struct program *program, uint64_t until) {
    for (uint64_t t; (t = program->made.t + 1 + roll(program, 2 * MS)) < until;) {
        program->made.t = t;
        size_t index = roll(program, PAGES + FILE_PAGES);
        switch (roll(program, 16)) {
        case 0:
            unmaps(program, index);
            break;
        case 1:
        case 2:
            maps(program, index);
            break;
        case 3:
            discards(program, index);
            break;
        case 8:
        case 9:
            reads(program, index);
            break;
        case 4:
        case 5:
        case 6:
        case 7:
            writes(program, index);
            break;
        default:
            break;
        }
    }
}

static void captures(struct program *program, size_t index) {
    struct page *page = &program->pages[index];
    bool skip = !roll(program, 8);
    page->armed = true;
    page->dirty = false;
    if (page->zero) {
        made_pages(&program->made, addr_of(index), 1, VMV_PAGE_ZERO, VMV_PAGEF_WRITTEN);
        return;
    }
    made_pages(&program->made, addr_of(index), 1, VMV_PAGE_RESIDENT,
               VMV_PAGEF_WRITTEN | (skip ? VMV_PAGEF_SKIPPED : 0));
    if (!skip) made_content(&program->made, addr_of(index), page->changes[page->count - 1].value, VMV_CERT_EXACT);
}

static void frame(struct program *program, uint64_t t) {
    program->made.t = t;
    made_frame(&program->made, 0);
    for (size_t i = 0; i < PAGES + FILE_PAGES; i++)
        if (program->pages[i].dirty && !program->blind) captures(program, i);
}

static void begins(struct program *program, uint64_t seed) {
    char text[FILE_PAGES * PAGE];
    char path[] = "/tmp/vmvis-file-XXXXXX";
    int fd = mkstemp(path);
    unlink(path);
    memset(text, 'f', sizeof text);
    assert_int_equal(write(fd, text, sizeof text), (ssize_t)sizeof text);
    *program = (struct program){.made = made_begin("records"), .random = seed * 2654435761u + 1};
    struct vmv_object_identity identity = {
        .path = "/lib/x.so", .inode = 7, .size = sizeof text, .dev_major = 8, .dev_minor = 1};
    uint32_t object = vmv_writer_object(program->made.writer, &identity, fd);
    program->made.t = MS;
    made_space(&program->made, 1, 100, 0);
    made_mmap(&program->made, ANON, PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    made_map_file(&program->made, FILE_BASE, FILE_PAGES, MAP_PRIVATE, object, "/lib/x.so");
    for (size_t i = 0; i < PAGES + FILE_PAGES; i++) becomes(program, i, fresh_value(i), true);
}

static void records(struct program *program, uint64_t seed, bool gaps) {
    begins(program, seed);
    for (uint64_t i = 1; i <= FRAMES; i++) {
        uint64_t t = i * FRAME_MS * MS;
        if (gaps && i % 25 == 10) {
            made_event(&program->made,
                       (struct vmv_event){.type = VMV_EV_GAP, .to = t + 2 * FRAME_MS * MS + MS, .name = "lost"});
            program->blind = true;
        }
        if (i % 25 == 13) program->blind = false;
        runs(program, t);
        frame(program, t);
    }
    program->made.t += MS;
    made_finish(&program->made);
}

static const struct change *at_time(const struct page *page, uint64_t t) {
    const struct change *found = NULL;
    for (size_t i = 0; i < page->count && page->changes[i].t <= t; i++) found = &page->changes[i];
    return found;
}

struct tally {
    size_t exact, stale, unknown;
};

static void check_page(struct timeline *tl, const struct program *program, size_t index, uint64_t t,
                       struct tally *tally) {
    const struct page *page = &program->pages[index];
    const struct change *truth = at_time(page, t);
    struct timeline_page said = timeline_page(tl, 1, addr_of(index));
    struct timeline_run run;
    uint8_t byte;
    assert_int_equal(timeline_read(tl, 1, addr_of(index) + 100, &byte, 1, &run, 1), 1);
    assert_int_equal(run.mapped, truth && truth->mapped);
    if (!run.known) {
        tally->unknown++;
        return;
    }
    if (run.certainty == VMV_CERT_EXACT) {
        tally->exact++;
        if (byte != truth->value)
            fail_msg("page %zu at %.6f ms: exactly %d, but it is %d", index, (double)t / 1e6, byte, truth->value);
        return;
    }
    tally->stale++;
    assert_int_equal(run.certainty, VMV_CERT_STALE);
    uint64_t until = said.may_have_changed ? said.may_have_changed - 1 : t;
    const struct change *last = at_time(page, until < t ? until : t);
    if (!run.captured) { // the file's own: nobody knows since when, but it was so at a moment from `until` on
        bool was = !last || last->value == byte;
        for (size_t i = 0; i < page->count && page->changes[i].t <= t; i++)
            was |= page->changes[i].t > until && page->changes[i].value == byte;
        if (!was) fail_msg("page %zu at %.6f ms: not the file's", index, (double)t / 1e6);
        return;
    }
    const struct change *then = at_time(page, run.captured);
    assert_int_equal(byte, then->value);
    if (last && then != last && until >= run.captured)
        fail_msg("page %zu at %.6f ms: said to be unchanged until %.6f ms, but changed at %.6f ms", index,
                 (double)t / 1e6, (double)until / 1e6, (double)last->t / 1e6);
}

// --- counts of many pages at once are those of the pages one by one

static void add_page(struct timeline_census *census, const struct timeline_page *page) {
    bool counts = page->page.state == VMV_PAGE_RESIDENT || page->page.state == VMV_PAGE_ZERO ||
                  page->page.state == VMV_PAGE_SWAPPED;
    if (!counts) return;
    census->exact += page->certainty == VMV_CERT_EXACT;
    census->torn += page->certainty == VMV_CERT_TORN;
    census->stale += page->certainty == VMV_CERT_STALE || page->certainty == VMV_CERT_PARTIAL;
    census->unknown += page->certainty == VMV_CERT_UNKNOWN;
}

static void check_census(struct timeline *tl, const struct vmv_space *space, const struct vmv_mapping *map) {
    struct timeline_census at_once = {0}, one_by_one = {0};
    uint64_t addr = map->start;
    while (timeline_census(tl, space->id, &addr, map->end, &at_once)) continue;
    for (addr = map->start; vmv_space_page_next(space, &addr, map->end); addr += PAGE) {
        struct timeline_page page = timeline_page(tl, space->id, addr);
        add_page(&one_by_one, &page);
    }
    assert_memory_equal(&at_once, &one_by_one, sizeof at_once);
}

static void check_sums(const struct vmv_page_stretch *stretch) {
    struct vmv_page_sums sums = {0};
    for (size_t i = 0; i < stretch->count; i++) {
        const struct vmv_page *page = &stretch->pages[stretch->alike ? 0 : i];
        bool resident = page->state == VMV_PAGE_RESIDENT || page->state == VMV_PAGE_ZERO;
        bool kept = (resident || page->state == VMV_PAGE_SWAPPED) && vmv_page_kept(page);
        sums.known += page->state != VMV_PAGE_UNKNOWN || page->content != VMV_CONTENT_NONE;
        sums.resident += resident;
        sums.swapped += page->state == VMV_PAGE_SWAPPED;
        sums.written += page->written != 0;
        sums.kept += kept;
        if (stretch->written) assert_int_equal(stretch->written[i], page->written);
        if (page->written) assert_in_range(page->written, stretch->sums->written_low, stretch->sums->written_high);
        if (kept) assert_in_range(page->captured, stretch->sums->captured_low, stretch->sums->captured_high);
    }
    assert_memory_equal(&sums, stretch->sums, offsetof(struct vmv_page_sums, written_low));
}

static void check_counts(struct timeline *tl) {
    const struct vmv_world *world = timeline_world(tl);
    for (size_t s = 0; s < world->space_count; s++) {
        const struct vmv_space *space = world->spaces[s];
        struct vmv_page_stretch stretch = {0};
        for (size_t i = 0; i < space->map_count; i++) check_census(tl, space, &space->maps[i]);
        for (uint64_t addr = 0; vmv_space_stretch(space, addr, UINT64_C(1) << 56, &stretch);
             addr = stretch.addr + stretch.count * PAGE)
            if (stretch.sums) check_sums(&stretch);
    }
}

static struct tally check(uint64_t seed, bool gaps) {
    struct program program;
    struct tally tally = {0};
    records(&program, seed, gaps);
    struct timeline *tl = made_open(&program.made);
    made_remove(&program.made);
    for (int i = 0; i < MOMENTS; i++) {
        uint64_t t = MS + roll(&program, timeline_duration(tl) - MS);
        if (i % 5 == 0) t = (1 + roll(&program, FRAMES)) * FRAME_MS * MS; // right at a frame
        timeline_seek(tl, t);
        if (i % 8 < 2) check_counts(tl);
        check_page(tl, &program, roll(&program, PAGES + FILE_PAGES), t, &tally);
    }
    timeline_close(tl);
    for (size_t i = 0; i < PAGES + FILE_PAGES; i++) free(program.pages[i].changes);
    return tally;
}

static void says_nothing_wrong(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct tally tally = check(seed, false);
        assert_true(tally.exact > tally.unknown + tally.stale); // and does say something
    }
}

static void says_nothing_wrong_over_gaps(void **state) {
    (void)state;
    for (uint64_t seed = 11; seed <= 13; seed++) {
        struct tally tally = check(seed, true);
        assert_true(tally.exact > MOMENTS / 4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_nothing_wrong),
        cmocka_unit_test(says_nothing_wrong_over_gaps),
    };
    return cmocka_run_group_tests_name("timeline/truth", tests, NULL, NULL);
}
