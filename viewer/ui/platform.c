/* SDL: window, pixels, input. No other file includes it. */
#include "ui_platform.h"
#include "ui_text.h"

#include <SDL.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_WIDTH = 640, LEAST_HEIGHT = 400, FRAME_MS = 16 };

struct ui_platform {
    SDL_Window *window;
    SDL_Renderer *renderer;
    SDL_Texture *texture; /* as large as the buffer; NULL: to be made */
    struct ui_buffer buffer;
    double forced_scale; /* 0: as the display asks */
    double scale;        /* physical per logical pixel */
    double density;      /* physical pixels per unit of window coordinates */
    int width, height;   /* logical */
    bool vsync;
    double presented_ms;
    SDL_Cursor *cursors[UI_CURSOR_COUNT];
    enum ui_cursor cursor;
};

double ui_platform_now(const struct ui_platform *platform) {
    (void)platform;
    return (double)SDL_GetPerformanceCounter() * 1000.0 / (double)SDL_GetPerformanceFrequency();
}

/* --- sizes --- */

/* What the display asks for, in quarters; where the window system has no density of its own, from its DPI. */
static double display_scale(SDL_Window *window, double density) {
    float dpi = 0;
    if (density > 1.01) return density;
    int display = SDL_GetWindowDisplayIndex(window);
    if (display < 0 || SDL_GetDisplayDPI(display, NULL, &dpi, NULL) != 0) return 1;
    double scale = floor(dpi / 96.0 * 4 + 0.5) / 4;
    return scale < 1.5 ? 1 : scale > 4 ? 4 : scale;
}

static bool resize_buffer(struct ui_platform *platform, int width, int height) {
    struct ui_buffer *buffer = &platform->buffer;
    if (buffer->pixels && buffer->width == width && buffer->height == height) return false;
    free(buffer->pixels);
    buffer->pixels = calloc((size_t)width * (size_t)height, sizeof *buffer->pixels);
    buffer->width = buffer->stride = width;
    buffer->height = height;
    if (platform->texture) SDL_DestroyTexture(platform->texture);
    platform->texture = NULL;
    return true;
}

/* Read the window's size; true when it, or the scale, is another one than before. */
static bool measure(struct ui_platform *platform) {
    int window_width, window_height, width, height;
    SDL_GetWindowSize(platform->window, &window_width, &window_height);
    if (SDL_GetRendererOutputSize(platform->renderer, &width, &height) != 0) return false;
    if (width <= 0 || height <= 0 || window_width <= 0) return false;
    double scale = platform->scale;
    platform->density = (double)width / window_width;
    platform->scale =
        platform->forced_scale > 0 ? platform->forced_scale : display_scale(platform->window, platform->density);
    platform->width = ui_max(1, (int)(width / platform->scale));
    platform->height = ui_max(1, (int)(height / platform->scale));
    return resize_buffer(platform, width, height) || scale != platform->scale;
}

void ui_platform_size(const struct ui_platform *platform, int *width, int *height) {
    *width = platform->width;
    *height = platform->height;
}

double ui_platform_scale(const struct ui_platform *platform) { return platform->scale; }
struct ui_buffer *ui_platform_buffer(struct ui_platform *platform) {
    return &platform->buffer;
}

/* --- life --- */

static bool is_set(const char *name) {
    const char *value = getenv(name);
    return value && value[0];
}

/* Without a display SDL would fall back on a driver whose window nobody can see: only one that was asked for is
 * taken. */
static bool init_video(void) {
    bool chosen = is_set("SDL_VIDEODRIVER");
    if (!chosen && !is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY")) {
        SDL_SetError("neither DISPLAY nor WAYLAND_DISPLAY is set");
        return false;
    }
    if (SDL_Init(SDL_INIT_VIDEO) != 0) return false;
    const char *driver = SDL_GetCurrentVideoDriver();
    if (chosen || (driver && (strcmp(driver, "x11") == 0 || strcmp(driver, "wayland") == 0))) return true;
    SDL_SetError("the display \"%s\" cannot be opened", getenv(is_set("DISPLAY") ? "DISPLAY" : "WAYLAND_DISPLAY"));
    return false;
}

static bool create_window(struct ui_platform *platform, const char *title, int width, int height) {
    SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "nearest");
    SDL_SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "1");
    SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");
    if (!init_video()) return false;
    Uint32 flags = SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI;
    platform->window = SDL_CreateWindow(title, SDL_WINDOWPOS_UNDEFINED, SDL_WINDOWPOS_UNDEFINED, width, height, flags);
    if (!platform->window) return false;
    platform->renderer = SDL_CreateRenderer(platform->window, -1, SDL_RENDERER_PRESENTVSYNC);
    if (!platform->renderer) platform->renderer = SDL_CreateRenderer(platform->window, -1, SDL_RENDERER_SOFTWARE);
    if (!platform->renderer) return false;
    SDL_RendererInfo info;
    platform->vsync =
        SDL_GetRendererInfo(platform->renderer, &info) == 0 && (info.flags & SDL_RENDERER_PRESENTVSYNC) != 0;
    return true;
}

/* The window was made before its scale was known: make it as large as was asked for in logical pixels. */
static void fit_window(struct ui_platform *platform, int width, int height) {
    measure(platform);
    double units = platform->scale / (platform->density > 0 ? platform->density : 1);
    SDL_SetWindowMinimumSize(platform->window, (int)(LEAST_WIDTH * units), (int)(LEAST_HEIGHT * units));
    if (fabs(units - 1) > 0.01) SDL_SetWindowSize(platform->window, (int)(width * units), (int)(height * units));
    measure(platform);
}

struct ui_platform *ui_platform_create(const char *title, int width, int height, double scale, char *error,
                                       size_t error_size) {
    struct ui_platform *platform = calloc(1, sizeof *platform);
    if (!platform) {
        snprintf(error, error_size, "no window: out of memory");
        return NULL;
    }
    platform->forced_scale = scale;
    if (create_window(platform, title, width, height)) {
        fit_window(platform, width, height);
        SDL_StartTextInput();
        return platform;
    }
    snprintf(error, error_size, "no window: %s (--screenshot and --script work without a display)", SDL_GetError());
    ui_platform_destroy(platform);
    return NULL;
}

void ui_platform_destroy(struct ui_platform *platform) {
    if (!platform) return;
    for (int i = 0; i < UI_CURSOR_COUNT; i++)
        if (platform->cursors[i]) SDL_FreeCursor(platform->cursors[i]);
    if (platform->texture) SDL_DestroyTexture(platform->texture);
    if (platform->renderer) SDL_DestroyRenderer(platform->renderer);
    if (platform->window) SDL_DestroyWindow(platform->window);
    SDL_Quit();
    free(platform->buffer.pixels);
    free(platform);
}

/* --- showing --- */

static SDL_Texture *texture_of(struct ui_platform *platform) {
    if (platform->texture) return platform->texture;
    platform->texture = SDL_CreateTexture(platform->renderer, SDL_PIXELFORMAT_ARGB8888, SDL_TEXTUREACCESS_STREAMING,
                                          platform->buffer.width, platform->buffer.height);
    if (platform->texture) SDL_SetTextureBlendMode(platform->texture, SDL_BLENDMODE_NONE);
    return platform->texture;
}

static void pace(struct ui_platform *platform) {
    double now = ui_platform_now(platform), rest = platform->presented_ms + FRAME_MS - now;
    if (!platform->vsync && rest >= 1 && rest <= FRAME_MS) SDL_Delay((Uint32)rest);
    platform->presented_ms = ui_platform_now(platform);
}

void ui_platform_present(struct ui_platform *platform) {
    struct ui_buffer *buffer = &platform->buffer;
    SDL_Texture *texture = buffer->pixels ? texture_of(platform) : NULL;
    if (!texture) return;
    SDL_UpdateTexture(texture, NULL, buffer->pixels, buffer->stride * (int)sizeof *buffer->pixels);
    SDL_RenderCopy(platform->renderer, texture, NULL, NULL);
    SDL_RenderPresent(platform->renderer);
    pace(platform);
}

/* --- keys --- */

static unsigned modifiers_of(Uint16 state) {
    return (state & KMOD_SHIFT ? UI_SHIFT : 0u) | (state & KMOD_CTRL ? UI_CTRL : 0u) |
           (state & KMOD_LALT ? UI_ALT : 0u) | (state & KMOD_GUI ? UI_SUPER : 0u);
}

/* A key that types a character reports itself by that character (right Alt makes characters on many layouts), so that
 * "?" is found on every keyboard; with these held it types nothing and reports its own sign. */
static bool types_nothing(Uint16 state) { return state & (KMOD_CTRL | KMOD_LALT | KMOD_GUI); }

static uint32_t keypad_code(SDL_Keycode sym) {
    switch (sym) {
    case SDLK_KP_1:
        return UI_KEY_END;
    case SDLK_KP_2:
        return UI_KEY_DOWN;
    case SDLK_KP_3:
        return UI_KEY_PAGE_DOWN;
    case SDLK_KP_4:
        return UI_KEY_LEFT;
    case SDLK_KP_6:
        return UI_KEY_RIGHT;
    case SDLK_KP_7:
        return UI_KEY_HOME;
    case SDLK_KP_8:
        return UI_KEY_UP;
    case SDLK_KP_9:
        return UI_KEY_PAGE_UP;
    default:
        return UI_KEY_NONE;
    }
}

static uint32_t code_of(SDL_Keysym key) {
    switch (key.sym) {
    case SDLK_ESCAPE:
        return UI_KEY_ESC;
    case SDLK_RETURN:
    case SDLK_KP_ENTER:
        return UI_KEY_ENTER;
    case SDLK_TAB:
        return UI_KEY_TAB;
    case SDLK_BACKSPACE:
        return UI_KEY_BACKSPACE;
    case SDLK_DELETE:
        return UI_KEY_DELETE;
    case SDLK_INSERT:
        return UI_KEY_INSERT;
    case SDLK_LEFT:
        return UI_KEY_LEFT;
    case SDLK_RIGHT:
        return UI_KEY_RIGHT;
    case SDLK_UP:
        return UI_KEY_UP;
    case SDLK_DOWN:
        return UI_KEY_DOWN;
    case SDLK_HOME:
        return UI_KEY_HOME;
    case SDLK_END:
        return UI_KEY_END;
    case SDLK_PAGEUP:
        return UI_KEY_PAGE_UP;
    case SDLK_PAGEDOWN:
        return UI_KEY_PAGE_DOWN;
    default:
        break;
    }
    if (key.sym >= SDLK_F1 && key.sym <= SDLK_F12) return UI_KEY_F1 + (uint32_t)(key.sym - SDLK_F1);
    if (!(key.mod & KMOD_NUM) && keypad_code(key.sym)) return keypad_code(key.sym);
    bool sign = key.sym >= ' ' && key.sym < 0x110000 && key.sym != 0x7f;
    return sign && types_nothing(key.mod) ? (uint32_t)key.sym : UI_KEY_NONE;
}

static bool take_key(const SDL_KeyboardEvent *from, struct ui_input_event *event) {
    event->kind = UI_EVENT_KEY;
    event->modifiers = modifiers_of(from->keysym.mod);
    event->key = ui_key_normal((struct ui_key){code_of(from->keysym), event->modifiers});
    event->repeat = from->repeat != 0;
    return event->key.code != UI_KEY_NONE;
}

static bool take_text(const SDL_TextInputEvent *from, struct ui_input_event *event) {
    SDL_Keymod state = SDL_GetModState();
    size_t bytes = strnlen(from->text, sizeof event->text - 1);
    uint32_t code;
    if (bytes == 0 || types_nothing((Uint16)state)) return false;
    event->kind = UI_EVENT_KEY;
    event->modifiers = modifiers_of((Uint16)state);
    memcpy(event->text, from->text, bytes);
    if (ui_utf8_decode(from->text, bytes, &code) == bytes)
        event->key = ui_key_normal((struct ui_key){code, event->modifiers});
    return true;
}

/* --- pointer --- */

static int logical(const struct ui_platform *platform, double at) {
    return (int)floor(at * platform->density / platform->scale);
}

/* A run of motions counts as its last one. */
static SDL_MouseMotionEvent last_motion(SDL_MouseMotionEvent motion) {
    SDL_Event next;
    while (SDL_PeepEvents(&next, 1, SDL_PEEKEVENT, SDL_FIRSTEVENT, SDL_LASTEVENT) == 1 &&
           next.type == SDL_MOUSEMOTION && SDL_PollEvent(&next) == 1)
        motion = next.motion;
    return motion;
}

static bool take_button(const struct ui_platform *platform, const SDL_MouseButtonEvent *from,
                        struct ui_input_event *event) {
    bool down = from->type == SDL_MOUSEBUTTONDOWN;
    event->kind = down ? UI_EVENT_PRESS : UI_EVENT_RELEASE;
    event->x = logical(platform, from->x);
    event->y = logical(platform, from->y);
    event->clicks = from->clicks;
    event->button = from->button == SDL_BUTTON_LEFT     ? UI_BUTTON_LEFT
                    : from->button == SDL_BUTTON_MIDDLE ? UI_BUTTON_MIDDLE
                                                        : UI_BUTTON_RIGHT;
    SDL_CaptureMouse(down ? SDL_TRUE : SDL_FALSE);
    return from->button <= SDL_BUTTON_RIGHT;
}

static bool take_wheel(const struct ui_platform *platform, const SDL_MouseWheelEvent *from,
                       struct ui_input_event *event) {
    double sign = from->direction == SDL_MOUSEWHEEL_FLIPPED ? -1 : 1;
    event->kind = UI_EVENT_WHEEL;
    event->x = logical(platform, from->mouseX);
    event->y = logical(platform, from->mouseY);
    event->wheel_x = sign * (double)from->preciseX;
    event->wheel_y = sign * (double)from->preciseY;
    return true;
}

/* --- events --- */

static bool take_resize(struct ui_platform *platform, struct ui_input_event *event) {
    if (!measure(platform)) return false;
    event->kind = UI_EVENT_RESIZE;
    event->width = platform->width;
    event->height = platform->height;
    event->scale = platform->scale;
    return true;
}

static bool take_window(struct ui_platform *platform, const SDL_WindowEvent *from, struct ui_input_event *event) {
    switch (from->event) {
    case SDL_WINDOWEVENT_SIZE_CHANGED:
    case SDL_WINDOWEVENT_DISPLAY_CHANGED:
        return take_resize(platform, event);
    case SDL_WINDOWEVENT_EXPOSED:
        event->kind = UI_EVENT_EXPOSE;
        return true;
    case SDL_WINDOWEVENT_LEAVE:
        event->kind = UI_EVENT_LEAVE;
        return true;
    default:
        return false;
    }
}

/* Our form of an SDL event; false if it is none of ours. */
static bool translate(struct ui_platform *platform, const SDL_Event *from, struct ui_input_event *event) {
    *event = (struct ui_input_event){.modifiers = modifiers_of((Uint16)SDL_GetModState())};
    switch (from->type) {
    case SDL_QUIT:
        event->kind = UI_EVENT_QUIT;
        return true;
    case SDL_KEYDOWN:
        return take_key(&from->key, event);
    case SDL_TEXTINPUT:
        return take_text(&from->text, event);
    case SDL_MOUSEMOTION: {
        SDL_MouseMotionEvent motion = last_motion(from->motion);
        event->kind = UI_EVENT_MOVE;
        event->x = logical(platform, motion.x);
        event->y = logical(platform, motion.y);
        return true;
    }
    case SDL_MOUSEBUTTONDOWN:
    case SDL_MOUSEBUTTONUP:
        return take_button(platform, &from->button, event);
    case SDL_MOUSEWHEEL:
        return take_wheel(platform, &from->wheel, event);
    case SDL_WINDOWEVENT:
        return take_window(platform, &from->window, event);
    case SDL_RENDER_TARGETS_RESET:
    case SDL_RENDER_DEVICE_RESET:
        if (platform->texture) SDL_DestroyTexture(platform->texture);
        platform->texture = NULL;
        event->kind = UI_EVENT_EXPOSE;
        return true;
    default:
        return false;
    }
}

bool ui_platform_wait(struct ui_platform *platform, int timeout_ms, struct ui_input_event *event) {
    double end = ui_platform_now(platform) + timeout_ms;
    for (;;) {
        SDL_Event from;
        double rest = timeout_ms < 0 ? -1 : fmax(0, end - ui_platform_now(platform));
        bool came = timeout_ms == 0 ? SDL_PollEvent(&from) : SDL_WaitEventTimeout(&from, (int)ceil(rest));
        if (came && translate(platform, &from, event)) return true;
        if (!came && timeout_ms >= 0) break;
    }
    event->kind = UI_EVENT_NONE;
    return false;
}

/* --- the rest of the desktop --- */

void ui_platform_set_cursor(struct ui_platform *platform, enum ui_cursor cursor) {
    static const SDL_SystemCursor shapes[UI_CURSOR_COUNT] = {
        [UI_CURSOR_ARROW] = SDL_SYSTEM_CURSOR_ARROW,     [UI_CURSOR_CROSSHAIR] = SDL_SYSTEM_CURSOR_CROSSHAIR,
        [UI_CURSOR_MOVE] = SDL_SYSTEM_CURSOR_SIZEALL,    [UI_CURSOR_RESIZE_H] = SDL_SYSTEM_CURSOR_SIZEWE,
        [UI_CURSOR_RESIZE_V] = SDL_SYSTEM_CURSOR_SIZENS, [UI_CURSOR_TEXT] = SDL_SYSTEM_CURSOR_IBEAM,
    };
    if ((unsigned)cursor >= UI_CURSOR_COUNT || cursor == platform->cursor) return;
    if (!platform->cursors[cursor]) platform->cursors[cursor] = SDL_CreateSystemCursor(shapes[cursor]);
    if (platform->cursors[cursor]) SDL_SetCursor(platform->cursors[cursor]);
    platform->cursor = cursor;
}

void ui_platform_set_title(struct ui_platform *platform, const char *title) {
    SDL_SetWindowTitle(platform->window, title);
}

void ui_platform_set_fullscreen(struct ui_platform *platform, bool on) {
    SDL_SetWindowFullscreen(platform->window, on ? SDL_WINDOW_FULLSCREEN_DESKTOP : 0);
}

bool ui_platform_fullscreen(const struct ui_platform *platform) {
    return (SDL_GetWindowFlags(platform->window) & SDL_WINDOW_FULLSCREEN) != 0;
}

bool ui_platform_copy(struct ui_platform *platform, const char *text) {
    (void)platform;
    return SDL_SetClipboardText(text) == 0;
}

char *ui_platform_paste(struct ui_platform *platform) {
    (void)platform;
    char *theirs = SDL_GetClipboardText();
    char *text = theirs && theirs[0] ? strdup(theirs) : NULL;
    SDL_free(theirs);
    return text;
}
