// Traces that were tampered with, hashes and all: whatever they hold, the timeline answers, and keeps within its
// memory.
#include "timeline_fixture.h"

enum { ROUNDS = 150, EVENTS = 3000 };

struct victim {
    uint8_t *bytes, *copy;
    size_t length, chunk_count;
    struct vmv_chunk *chunks;
    uint64_t random;
    char path[64];
};

static uint64_t roll(struct victim *victim, uint64_t sides) { return made_random(&victim->random) % sides; }

static uint64_t any_number(struct victim *victim) { return made_random(&victim->random) >> roll(victim, 64); }

static struct victim begin(void) {
    struct victim victim = {.random = 77};
    struct made made = made_begin_with("records", &(struct vmv_writer_options){.store = true});
    made_busy(&made, EVENTS, 41);
    made_finish(&made);
    struct timeline *tl = made_open(&made);
    const struct vmv_chunk *chunks = vmv_reader_chunks(timeline_reader(tl), &victim.chunk_count);
    victim.chunks = malloc(victim.chunk_count * sizeof *chunks);
    memcpy(victim.chunks, chunks, victim.chunk_count * sizeof *chunks);
    victim.length = vmv_reader_bytes(timeline_reader(tl));
    timeline_close(tl);
    victim.bytes = malloc(victim.length);
    victim.copy = malloc(victim.length);
    FILE *file = fopen(made.path, "rb");
    assert_int_equal(fread(victim.bytes, 1, victim.length, file), victim.length);
    fclose(file);
    strcpy(victim.path, made.path);
    return victim;
}

static void change_header(struct victim *victim, const struct vmv_chunk *chunk) {
    struct vmv_chunk_header header = chunk->header;
    switch (roll(victim, 5)) {
    case 0:
        header.first = any_number(victim);
        break;
    case 1:
        header.count = any_number(victim);
        break;
    case 2:
        header.t_first = any_number(victim);
        break;
    case 3:
        header.t_last = any_number(victim);
        break;
    default:
        header.type = (uint32_t)roll(victim, VMV_CHUNK_TYPE_COUNT);
        break;
    }
    vmv_chunk_header_encode(victim->copy + chunk->offset, &header);
}

static void change_payload(struct victim *victim, const struct vmv_chunk *chunk) {
    struct vmv_chunk_header header = chunk->header;
    uint8_t *payload = victim->copy + vmv_chunk_payload(chunk);
    if (!header.stored) return;
    for (int i = 0; i < 3; i++) payload[roll(victim, header.stored)] ^= (uint8_t)(1 << roll(victim, 8));
    header.hash = vmv_chunk_hash(payload, header.stored);
    vmv_chunk_header_encode(victim->copy + chunk->offset, &header);
}

static void tamper(struct victim *victim) {
    memcpy(victim->copy, victim->bytes, victim->length);
    for (uint64_t i = 1 + roll(victim, 6); i-- > 0;) {
        const struct vmv_chunk *chunk = &victim->chunks[roll(victim, victim->chunk_count)];
        if (roll(victim, 3))
            change_payload(victim, chunk);
        else
            change_header(victim, chunk);
    }
    size_t length = roll(victim, 6) ? victim->length : roll(victim, victim->length);
    FILE *file = fopen(victim->path, "wb");
    assert_int_equal(fwrite(victim->copy, 1, length, file), length);
    fclose(file);
}

static void ask_of_space(struct victim *victim, struct timeline *tl, uint32_t space) {
    const struct vmv_space *found = vmv_world_space(timeline_world(tl), space);
    uint64_t duration = timeline_duration(tl), t = timeline_now(tl);
    struct timeline_column columns[30];
    struct timeline_region_column regions[10];
    struct timeline_run runs[6];
    uint8_t bytes[3 * PAGE];
    timeline_columns(tl, space, 0, duration, columns, 30);
    timeline_columns(tl, space, t, t + MS, columns, 30);
    timeline_region_columns(tl, space, 0, UINT64_MAX, 0, duration, regions, 10);
    if (!found || !found->map_count) return;
    uint64_t addr = found->maps[roll(victim, found->map_count)].start;
    timeline_read(tl, space, addr - 100, bytes, sizeof bytes, runs, 6);
    for (uint64_t i = 0; i < 30; i++) timeline_page(tl, space, addr + i * PAGE);
}

static void walk(struct timeline *tl, uint64_t t) {
    struct timeline_filter filter = {.addr = HEAP, .end = HEAP + 64 * PAGE};
    struct timeline_cursor *cursor = timeline_cursor_create(tl, &filter);
    timeline_cursor_seek(cursor, t);
    for (int i = 0; i < 20; i++) timeline_cursor_next(cursor);
    for (int i = 0; i < 40; i++) timeline_cursor_previous(cursor);
    timeline_cursor_destroy(cursor);
}

static void ask(struct victim *victim, struct timeline *tl) {
    uint64_t duration = timeline_duration(tl), seq;
    float shares[10];
    size_t count;
    bool missing;
    char error[200];
    for (int i = 0; i < 5; i++) {
        uint64_t t = duration ? made_random(&victim->random) % duration : 0;
        assert_non_null(timeline_seek(tl, t));
        ask_of_space(victim, tl, 1 + (uint32_t)roll(victim, 4));
        assert_non_null(timeline_seek(tl, t - (t < 20 * MS ? t : 20 * MS)));
        assert_non_null(timeline_seek_seq(tl, any_number(victim)));
        walk(tl, t);
    }
    timeline_thread_columns(tl, 100, 0, duration, shares, 10);
    timeline_frames(tl, &count);
    timeline_landmarks(tl, &count);
    timeline_time(tl, "frame:3", &duration, &seq, &missing, error, sizeof error);
    assert_true(timeline_memory(tl) < 512 << 20);
}

static void answers_whatever_it_is_given(void **state) {
    (void)state;
    struct victim victim = begin();
    size_t opened = 0;
    for (int i = 0; i < ROUNDS; i++) {
        char error[300];
        tamper(&victim);
        struct timeline *tl = timeline_open(victim.path, error, sizeof error);
        if (!tl) continue;
        opened++;
        ask(&victim, tl);
        timeline_close(tl);
    }
    assert_true(opened > ROUNDS / 4);
    unlink(victim.path);
    free(victim.bytes);
    free(victim.copy);
    free(victim.chunks);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers_whatever_it_is_given)};
    return cmocka_run_group_tests_name("timeline/hostile", tests, NULL, NULL);
}
