/* Fonts: faces by fontconfig, glyphs by FreeType, kept for ever once made. */
#include "ui_arena.h"
#include "ui_text.h"

#include <fontconfig/fontconfig.h>
#include <ft2build.h>
#include FT_FREETYPE_H
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FAMILIES = 3,
    FAMILY_NAME_SIZE = 64,
    STYLES = 8,
    ASCII = 128,
    CACHE_MOST = 16384 /* glyphs beyond ASCII; hostile text gets boxes after that */
};

static const char *const families[FAMILIES] = {"JetBrains Mono", "DejaVu Sans Mono", "monospace"};

struct family {
    FT_Face face[2]; /* regular, bold; bold may be NULL */
    char name[FAMILY_NAME_SIZE];
};

struct slot {
    uint32_t code;
    int style;
    const struct ui_glyph *glyph; /* NULL: free */
};

struct ui_fonts {
    FT_Library library;
    struct family family[FAMILIES]; /* those that were found, in order */
    int family_count;
    double scale;
    struct ui_arena arena;
    const struct ui_glyph *ascii[STYLES][ASCII];
    struct slot *slots; /* open addressing, a power of two */
    size_t slot_count, slot_used;
    const struct ui_glyph *box[STYLES];
    struct ui_glyph nothing;
};

/* --- faces --- */

static bool same_family(FcPattern *match, const char *family) {
    FcChar8 *name;
    for (int i = 0; FcPatternGetString(match, FC_FAMILY, i, &name) == FcResultMatch; i++)
        if (FcStrCmpIgnoreCase(name, (const FcChar8 *)family) == 0) return true;
    return false;
}

static bool is_fixed_width(FcPattern *match) {
    int spacing = FC_PROPORTIONAL;
    FcPatternGetInteger(match, FC_SPACING, 0, &spacing);
    return spacing >= FC_DUAL;
}

/* The best match for a family, if it is that family; any fixed-width one for the generic name. */
static FcPattern *find_font(FcConfig *config, const char *family, bool bold) {
    FcPattern *wanted = FcPatternCreate();
    if (!wanted) return NULL;
    FcPatternAddString(wanted, FC_FAMILY, (const FcChar8 *)family);
    FcPatternAddInteger(wanted, FC_WEIGHT, bold ? FC_WEIGHT_BOLD : FC_WEIGHT_REGULAR);
    FcPatternAddInteger(wanted, FC_SLANT, FC_SLANT_ROMAN);
    FcPatternAddBool(wanted, FC_SCALABLE, FcTrue);
    FcConfigSubstitute(config, wanted, FcMatchPattern);
    FcDefaultSubstitute(wanted);
    FcResult result;
    FcPattern *match = FcFontMatch(config, wanted, &result);
    FcPatternDestroy(wanted);
    if (!match) return NULL;
    bool generic = strcmp(family, "monospace") == 0;
    if (generic ? is_fixed_width(match) : same_family(match, family)) return match;
    FcPatternDestroy(match);
    return NULL;
}

static FT_Face open_face(struct ui_fonts *fonts, FcPattern *match) {
    FcChar8 *path;
    int index = 0;
    FT_Face face;
    if (FcPatternGetString(match, FC_FILE, 0, &path) != FcResultMatch) return NULL;
    FcPatternGetInteger(match, FC_INDEX, 0, &index);
    if (FT_New_Face(fonts->library, (const char *)path, index, &face) != 0) return NULL;
    if (FT_IS_SCALABLE(face)) return face;
    FT_Done_Face(face);
    return NULL;
}

static void load_family(struct ui_fonts *fonts, FcConfig *config, const char *name) {
    struct family *family = &fonts->family[fonts->family_count];
    for (int bold = 0; bold < 2; bold++) {
        FcPattern *match = find_font(config, name, bold);
        if (!match) continue;
        family->face[bold] = open_face(fonts, match);
        FcPatternDestroy(match);
    }
    if (!family->face[0]) {
        if (family->face[1]) FT_Done_Face(family->face[1]);
        family->face[1] = NULL;
        return;
    }
    const char *own = family->face[0]->family_name;
    snprintf(family->name, sizeof family->name, "%s", own ? own : name);
    fonts->family_count++;
}

static bool load_families(struct ui_fonts *fonts, char *error, size_t error_size) {
    FcConfig *config = FcInitLoadConfigAndFonts();
    if (config) {
        for (int i = 0; i < FAMILIES; i++) load_family(fonts, config, families[i]);
        FcConfigDestroy(config);
    }
    if (fonts->family_count > 0) return true;
    snprintf(error, error_size, "no fixed-width font: install JetBrains Mono or DejaVu Sans Mono");
    return false;
}

struct ui_fonts *ui_fonts_create(double scale, char *error, size_t error_size) {
    struct ui_fonts *fonts = calloc(1, sizeof *fonts);
    if (!fonts || FT_Init_FreeType(&fonts->library) != 0) {
        snprintf(error, error_size, "no font engine: out of memory");
        free(fonts);
        return NULL;
    }
    fonts->scale = scale >= 0.25 && scale <= 16 ? scale : 1;
    if (load_families(fonts, error, error_size)) return fonts;
    ui_fonts_destroy(fonts);
    return NULL;
}

void ui_fonts_destroy(struct ui_fonts *fonts) {
    if (!fonts) return;
    for (int i = 0; i < fonts->family_count; i++)
        for (int bold = 0; bold < 2; bold++)
            if (fonts->family[i].face[bold]) FT_Done_Face(fonts->family[i].face[bold]);
    FT_Done_FreeType(fonts->library);
    ui_arena_free(&fonts->arena);
    free(fonts->slots);
    free(fonts);
}

double ui_fonts_scale(const struct ui_fonts *fonts) { return fonts->scale; }
const char *ui_fonts_family(const struct ui_fonts *fonts) { return fonts->family[0].name; }

/* --- glyphs --- */

/* From the top of the cell to the line that letters stand on, logical pixels. */
static int baseline(int style) {
    static const int lines[] = {10, 12, 15, 10};
    return lines[style & 3];
}

static struct ui_glyph *glyph_create(struct ui_fonts *fonts, int width, int height, uint8_t **coverage) {
    struct ui_glyph *glyph = ui_arena_alloc(&fonts->arena, sizeof *glyph);
    *coverage = ui_arena_alloc(&fonts->arena, (size_t)width * (size_t)height + 1);
    if (!glyph || !*coverage) return NULL;
    *glyph = (struct ui_glyph){.coverage = *coverage, .width = width, .height = height};
    return glyph;
}

static const struct ui_glyph *glyph_of_bitmap(struct ui_fonts *fonts, int style, FT_GlyphSlot slot) {
    const FT_Bitmap *bitmap = &slot->bitmap;
    uint8_t *coverage;
    struct ui_glyph *glyph = glyph_create(fonts, (int)bitmap->width, (int)bitmap->rows, &coverage);
    if (!glyph) return NULL;
    for (unsigned row = 0; row < bitmap->rows; row++)
        memcpy(coverage + (size_t)row * bitmap->width, bitmap->buffer + (ptrdiff_t)row * bitmap->pitch, bitmap->width);
    glyph->left = slot->bitmap_left;
    glyph->top = (int)lround(baseline(style) * fonts->scale) - slot->bitmap_top;
    return glyph;
}

static const struct ui_glyph *render(struct ui_fonts *fonts, FT_Face face, int style, FT_UInt index) {
    FT_F26Dot6 size = (FT_F26Dot6)lround(ui_font_size(style) * fonts->scale * 64);
    if (FT_Set_Char_Size(face, 0, size, 72, 72) != 0) return NULL;
    if (FT_Load_Glyph(face, index, FT_LOAD_TARGET_LIGHT) != 0) return NULL;
    if (FT_Render_Glyph(face->glyph, FT_RENDER_MODE_NORMAL) != 0) return NULL;
    if (face->glyph->bitmap.pixel_mode != FT_PIXEL_MODE_GRAY) return NULL;
    return glyph_of_bitmap(fonts, style, face->glyph);
}

/* A hollow box as high as a capital letter, for what no face can show. */
static const struct ui_glyph *make_box(struct ui_fonts *fonts, int style) {
    int cell = (int)lround(ui_cell_width(style) * fonts->scale);
    int width = cell > 3 ? cell - 2 : 1;
    int height = (int)lround(ui_font_size(style) * fonts->scale * 0.8);
    uint8_t *coverage;
    struct ui_glyph *box = glyph_create(fonts, width, height, &coverage);
    if (!box) return &fonts->nothing;
    memset(coverage, 0, (size_t)width * (size_t)height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            if (y == 0 || y == height - 1 || x == 0 || x == width - 1) coverage[y * width + x] = 160;
    box->left = 1;
    box->top = (int)lround(baseline(style) * fonts->scale) - height;
    return box;
}

static const struct ui_glyph *box_glyph(struct ui_fonts *fonts, int style) {
    if (!fonts->box[style]) fonts->box[style] = make_box(fonts, style);
    return fonts->box[style];
}

static const struct ui_glyph *make_glyph(struct ui_fonts *fonts, int style, uint32_t code) {
    if (code == ' ' || code == 0xa0) return &fonts->nothing;
    for (int i = 0; i < fonts->family_count && code >= 0x20; i++) {
        struct family *family = &fonts->family[i];
        FT_Face face = style & UI_BOLD && family->face[1] ? family->face[1] : family->face[0];
        FT_UInt index = FT_Get_Char_Index(face, code);
        const struct ui_glyph *glyph = index ? render(fonts, face, style, index) : NULL;
        if (glyph) return glyph;
    }
    return box_glyph(fonts, style);
}

/* The slot of a glyph, or the free one where it belongs; slots is never full. */
static struct slot *find_slot(const struct ui_fonts *fonts, int style, uint32_t code) {
    size_t mask = fonts->slot_count - 1;
    size_t at = (code * 8u + (unsigned)style) * 2654435761u & mask;
    while (fonts->slots[at].glyph && (fonts->slots[at].code != code || fonts->slots[at].style != style))
        at = (at + 1) & mask;
    return &fonts->slots[at];
}

static bool grow_slots(struct ui_fonts *fonts) {
    if (fonts->slot_used * 2 < fonts->slot_count) return true;
    struct slot *old = fonts->slots;
    size_t old_count = fonts->slot_count, count = old_count ? old_count * 2 : 256;
    struct slot *grown = calloc(count, sizeof *grown);
    if (!grown) return false;
    fonts->slots = grown;
    fonts->slot_count = count;
    for (size_t i = 0; i < old_count; i++)
        if (old[i].glyph) *find_slot(fonts, old[i].style, old[i].code) = old[i];
    free(old);
    return true;
}

static const struct ui_glyph *cached_glyph(struct ui_fonts *fonts, int style, uint32_t code) {
    if (!grow_slots(fonts)) return box_glyph(fonts, style);
    struct slot *slot = find_slot(fonts, style, code);
    if (slot->glyph) return slot->glyph;
    if (fonts->slot_used >= CACHE_MOST) return box_glyph(fonts, style);
    fonts->slot_used++;
    *slot = (struct slot){code, style, make_glyph(fonts, style, code)};
    return slot->glyph;
}

const struct ui_glyph *ui_fonts_glyph(struct ui_fonts *fonts, int style, uint32_t code) {
    style &= STYLES - 1;
    if (code >= ASCII) return cached_glyph(fonts, style, code);
    if (!fonts->ascii[style][code]) fonts->ascii[style][code] = make_glyph(fonts, style, code);
    return fonts->ascii[style][code];
}
