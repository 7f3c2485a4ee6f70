#include "inspect_json.h"

#include "inspect_show.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void json_value(struct json *json) {
    if (json->comma) inspect_out_bytes(json->out, ",", 1);
    json->comma = true;
}

void json_begin(struct json *json) {
    json_value(json);
    inspect_out_bytes(json->out, "{", 1);
    json->comma = false;
}

void json_end(struct json *json) {
    inspect_out_bytes(json->out, "}", 1);
    json->comma = true;
}

void json_line(struct json *json) {
    inspect_out_bytes(json->out, "}\n", 2);
    json->comma = false;
}

void json_array(struct json *json) {
    json_value(json);
    inspect_out_bytes(json->out, "[", 1);
    json->comma = false;
}

void json_array_end(struct json *json) {
    inspect_out_bytes(json->out, "]", 1);
    json->comma = true;
}

void json_key(struct json *json, const char *key) {
    json_value(json);
    inspect_out_bytes(json->out, "\"", 1);
    inspect_out_text(json->out, key);
    inspect_out_bytes(json->out, "\":", 2);
    json->comma = false;
}

static void json_escape(struct inspect_out *out, unsigned char c) {
    static const char names[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    if (c == '"' || c == '\\') {
        inspect_out_format(out, "\\%c", c);
    } else if (c < sizeof names && names[c] != 0) {
        inspect_out_format(out, "\\%c", names[c]);
    } else {
        inspect_out_format(out, "\\u%04x", c);
    }
}

void json_quote(struct json *json) {
    json_value(json);
    inspect_out_bytes(json->out, "\"", 1);
}

void json_unquote(struct json *json) { inspect_out_bytes(json->out, "\"", 1); }

void json_text(struct json *json, const char *text, size_t length) {
    json_quote(json);
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)text[i];
        size_t valid = inspect_utf8_length(text + i, length - i);
        if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f || valid == 0) {
            json_escape(json->out, c);
            valid = 1;
        } else {
            inspect_out_bytes(json->out, text + i, valid);
        }
        i += valid;
    }
    json_unquote(json);
}

void json_null(struct json *json) {
    json_value(json);
    inspect_out_text(json->out, "null");
}

// Digits by hand: a list of events is mostly numbers, and printf costs more than the rest.
static void json_digits(struct json *json, uint64_t value, unsigned base) {
    char digits[24];
    size_t at = sizeof digits;
    do {
        digits[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    inspect_out_bytes(json->out, digits + at, sizeof digits - at);
}

void json_unsigned(struct json *json, uint64_t value) {
    json_value(json);
    json_digits(json, value, 10);
}

void json_signed(struct json *json, int64_t value) {
    json_value(json);
    inspect_out_format(json->out, "%" PRId64, value);
}

void json_hex(struct json *json, uint64_t value) {
    json_value(json);
    inspect_out_bytes(json->out, "\"0x", 3);
    json_digits(json, value, 16);
    inspect_out_bytes(json->out, "\"", 1);
}

void json_put_text(struct json *json, const char *key, const char *text) {
    json_key(json, key);
    if (text == NULL) {
        json_null(json);
    } else {
        json_text(json, text, strlen(text));
    }
}

void json_put_unsigned(struct json *json, const char *key, uint64_t value) {
    json_key(json, key);
    json_unsigned(json, value);
}

void json_put_signed(struct json *json, const char *key, int64_t value) {
    json_key(json, key);
    json_signed(json, value);
}

void json_put_hex(struct json *json, const char *key, uint64_t value) {
    json_key(json, key);
    json_hex(json, value);
}

void json_put_bool(struct json *json, const char *key, bool value) {
    json_key(json, key);
    json_value(json);
    inspect_out_text(json->out, value ? "true" : "false");
}

void json_put_null(struct json *json, const char *key) {
    json_key(json, key);
    json_null(json);
}

void json_put_known(struct json *json, const char *key, bool known, uint64_t value) {
    if (known) {
        json_put_unsigned(json, key, value);
    } else {
        json_put_null(json, key);
    }
}

void json_put_known_hex(struct json *json, const char *key, bool known, uint64_t value) {
    if (known) {
        json_put_hex(json, key, value);
    } else {
        json_put_null(json, key);
    }
}

void json_put_number(struct json *json, const char *key, double value, int decimals) {
    json_key(json, key);
    if (!isfinite(value)) {
        json_null(json);
        return;
    }
    json_value(json);
    inspect_out_format(json->out, "%.*f", decimals, value);
}
