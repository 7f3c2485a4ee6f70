// Making an index: strings once each, line sequences and scopes in order.
#include "dwarf_index.h"
#include "dwarf_index_format.h"

#include "chunk.h"

#include <stdlib.h>
#include <string.h>

static void *grown(void *memory, size_t *room, size_t count, size_t item) {
    if (count < *room) return memory;
    *room = *room * 2 + 1024;
    memory = realloc(memory, *room * item);
    if (!memory) abort(); // in the child process: nothing but the index is lost
    return memory;
}

// ------------------------------------------------------------------------------------------------- strings

static size_t bucket_of(const struct dwarf_builder *builder, const char *text) {
    size_t at = (size_t)vmv_chunk_hash(text, strlen(text)) & (builder->bucket_count - 1);
    while (builder->buckets[at] != DWARF_NONE && strcmp(builder->index.strings[builder->buckets[at]], text) != 0)
        at = (at + 1) & (builder->bucket_count - 1);
    return at;
}

static void rehash(struct dwarf_builder *builder) {
    if (builder->index.string_count * 2 < builder->bucket_count) return;
    builder->bucket_count = builder->bucket_count ? builder->bucket_count * 2 : 4096;
    builder->buckets = realloc(builder->buckets, builder->bucket_count * sizeof *builder->buckets);
    if (!builder->buckets) abort();
    memset(builder->buckets, 0xff, builder->bucket_count * sizeof *builder->buckets);
    for (uint32_t i = 0; i < builder->index.string_count; i++)
        builder->buckets[bucket_of(builder, builder->index.strings[i])] = i;
}

uint32_t dwarf_builder_string(struct dwarf_builder *builder, const char *text) {
    struct dwarf_index *index = &builder->index;
    if (!text || index->string_count >= DWARF_NONE - 1) return DWARF_NONE;
    rehash(builder);
    size_t at = bucket_of(builder, text);
    if (builder->buckets[at] != DWARF_NONE) return builder->buckets[at];
    index->strings = grown(index->strings, &builder->string_room, index->string_count, sizeof *index->strings);
    index->strings[index->string_count] = vmv_arena_strdup(&index->arena, text, strlen(text));
    builder->buckets[at] = (uint32_t)index->string_count;
    return (uint32_t)index->string_count++;
}

// ------------------------------------------------------------------------------------------------- rows, scopes

void dwarf_builder_row(struct dwarf_builder *builder, const struct dwarf_row *row) {
    struct dwarf_index *index = &builder->index;
    index->rows = grown(index->rows, &builder->row_room, index->row_count, sizeof *index->rows);
    index->rows[index->row_count++] = *row;
}

void dwarf_builder_scope(struct dwarf_builder *builder, const struct dwarf_scope *scope) {
    struct dwarf_index *index = &builder->index;
    index->scopes = grown(index->scopes, &builder->scope_room, index->scope_count, sizeof *index->scopes);
    index->scopes[index->scope_count++] = *scope;
}

uint32_t dwarf_builder_type(struct dwarf_builder *builder) {
    struct dwarf_index *index = &builder->index;
    index->types = grown(index->types, &builder->type_room, index->type_count, sizeof *index->types);
    index->types[index->type_count] = (struct dwarf_type){.name = DWARF_NONE, .of = DWARF_NONE};
    return (uint32_t)index->type_count++;
}

uint32_t dwarf_builder_member(struct dwarf_builder *builder, const struct dwarf_member *member) {
    struct dwarf_index *index = &builder->index;
    index->members = grown(index->members, &builder->member_room, index->member_count, sizeof *index->members);
    index->members[index->member_count] = *member;
    return (uint32_t)index->member_count++;
}

void dwarf_builder_variable(struct dwarf_builder *builder, const struct dwarf_variable *variable) {
    struct dwarf_index *index = &builder->index;
    index->variables =
        grown(index->variables, &builder->variable_room, index->variable_count, sizeof *index->variables);
    index->variables[index->variable_count++] = *variable;
}

static int variable_order(const void *left, const void *right) {
    const struct dwarf_variable *a = left, *b = right;
    if (a->addr != b->addr) return a->addr < b->addr ? -1 : 1;
    return a->name < b->name ? -1 : a->name > b->name;
}

static int scope_order(const void *left, const void *right) {
    const struct dwarf_scope *a = left, *b = right;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    if (a->depth != b->depth) return a->depth < b->depth ? -1 : 1;
    return a->high > b->high ? -1 : a->high < b->high;
}

struct sequence { // rows[first, first + count) end with one that knows nothing
    uint64_t addr;
    size_t first, count;
};

static int sequence_order(const void *left, const void *right) {
    const struct sequence *a = left, *b = right;
    if (a->addr != b->addr) return a->addr < b->addr ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

static struct sequence *find_sequences(const struct dwarf_index *index, size_t *count) {
    struct sequence *sequences = NULL;
    size_t room = 0, first = 0;
    *count = 0;
    for (size_t i = 0; i < index->row_count; i++) {
        if (index->rows[i].file != DWARF_NONE) continue;
        sequences = grown(sequences, &room, *count, sizeof *sequences);
        sequences[(*count)++] = (struct sequence){index->rows[first].addr, first, i + 1 - first};
        first = i + 1;
    }
    if (*count) qsort(sequences, *count, sizeof *sequences, sequence_order);
    return sequences;
}

static bool is_in_order(const struct dwarf_row *rows, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (rows[i].addr < rows[i - 1].addr) return false;
    return true;
}

// One table by address. Sequences that lie within others (functions that the linker left out begin at 0 or at the place
// of another) are dropped; of several rows at one address the last holds.
static void order_rows(struct dwarf_index *index) {
    size_t count, kept = 0;
    uint64_t end = 0;
    struct sequence *sequences = find_sequences(index, &count);
    struct dwarf_row *rows = malloc((index->row_count + 1) * sizeof *rows);
    if (!rows) abort();
    for (size_t i = 0; i < count; i++) {
        const struct dwarf_row *from = &index->rows[sequences[i].first];
        if (sequences[i].addr < end || sequences[i].addr == 0 || !is_in_order(from, sequences[i].count)) continue;
        for (size_t k = 0; k < sequences[i].count; k++) {
            bool again = kept && rows[kept - 1].addr == from[k].addr;
            rows[again ? kept - 1 : kept++] = from[k];
        }
        end = from[sequences[i].count - 1].addr;
    }
    free(sequences);
    free(index->rows);
    index->rows = rows;
    index->row_count = kept;
}

// ------------------------------------------------------------------------------------------------- encoding

static void encode_string_number(struct vmv_out *out, uint32_t number) {
    vmv_out_varint(out, number == DWARF_NONE ? 0 : (uint64_t)number + 1);
}

static void encode_rows(const struct dwarf_index *index, struct vmv_out *out) {
    struct dwarf_row last = {0};
    vmv_out_varint(out, index->row_count);
    for (size_t i = 0; i < index->row_count; i++) {
        const struct dwarf_row *row = &index->rows[i];
        vmv_out_varint(out, row->addr - last.addr);
        encode_string_number(out, row->file);
        vmv_out_zigzag(out, (int64_t)row->line - (int64_t)last.line);
        vmv_out_varint(out, row->column);
        last = *row;
    }
}

static void encode_types(const struct dwarf_index *index, struct vmv_out *out) {
    vmv_out_varint(out, index->type_count);
    for (size_t i = 0; i < index->type_count; i++) {
        const struct dwarf_type *type = &index->types[i];
        vmv_out_u8(out, (uint8_t)(type->kind | (type->declared_only ? 0x80 : 0)));
        encode_string_number(out, type->name);
        encode_string_number(out, type->of);
        vmv_out_varint(out, type->size);
        vmv_out_varint(out, type->count);
        vmv_out_varint(out, type->member_count ? type->first : 0);
        vmv_out_varint(out, type->member_count);
    }
}

static void encode_members(const struct dwarf_index *index, struct vmv_out *out) {
    vmv_out_varint(out, index->member_count);
    for (size_t i = 0; i < index->member_count; i++) {
        const struct dwarf_member *member = &index->members[i];
        encode_string_number(out, member->name);
        encode_string_number(out, member->type);
        vmv_out_zigzag(out, member->value);
        vmv_out_varint(out, member->offset);
        vmv_out_varint(out, member->bit_offset);
        vmv_out_varint(out, member->bit_size);
        vmv_out_u8(out, member->is_base);
    }
}

static void encode_variables(const struct dwarf_index *index, struct vmv_out *out) {
    uint64_t last = 0;
    vmv_out_varint(out, index->variable_count);
    for (size_t i = 0; i < index->variable_count; i++) {
        const struct dwarf_variable *variable = &index->variables[i];
        vmv_out_varint(out, variable->addr - last);
        encode_string_number(out, variable->name);
        encode_string_number(out, variable->linkage);
        encode_string_number(out, variable->type);
        last = variable->addr;
    }
}

static void encode_scopes(const struct dwarf_index *index, struct vmv_out *out) {
    uint64_t last = 0;
    vmv_out_varint(out, index->scope_count);
    for (size_t i = 0; i < index->scope_count; i++) {
        const struct dwarf_scope *scope = &index->scopes[i];
        vmv_out_varint(out, scope->low - last);
        vmv_out_varint(out, scope->high - scope->low);
        encode_string_number(out, scope->name);
        encode_string_number(out, scope->linkage);
        vmv_out_varint(out, scope->depth);
        if (scope->depth) {
            encode_string_number(out, scope->call_file);
            vmv_out_varint(out, scope->call_line);
        }
        last = scope->low;
    }
}

void dwarf_builder_encode(struct dwarf_builder *builder, const uint8_t *build_id, size_t build_id_length,
                          struct vmv_out *out) {
    struct dwarf_index *index = &builder->index;
    size_t begin = out->length;
    order_rows(index);
    if (index->scope_count) qsort(index->scopes, index->scope_count, sizeof *index->scopes, scope_order);
    vmv_out_bytes(out, dwarf_index_magic, sizeof dwarf_index_magic);
    vmv_out_varint(out, build_id_length);
    vmv_out_bytes(out, build_id, build_id_length);
    vmv_out_string(out, index->missing ? index->missing : "");
    vmv_out_varint(out, index->string_count);
    for (size_t i = 0; i < index->string_count; i++) vmv_out_string(out, index->strings[i]);
    encode_rows(index, out);
    encode_scopes(index, out);
    if (index->variable_count) qsort(index->variables, index->variable_count, sizeof *index->variables, variable_order);
    encode_types(index, out);
    encode_members(index, out);
    encode_variables(index, out);
    vmv_out_u64(out, vmv_chunk_hash(out->data + begin, out->length - begin));
}

void dwarf_builder_free(struct dwarf_builder *builder) {
    free(builder->index.strings);
    free(builder->index.rows);
    free(builder->index.scopes);
    free(builder->index.types);
    free(builder->index.members);
    free(builder->index.variables);
    free(builder->buckets);
    vmv_arena_free(&builder->index.arena);
}
