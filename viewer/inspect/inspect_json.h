// JSON, written as it comes: objects and arrays are opened and closed by the caller, commas come by themselves.
// Strings may hold any bytes: what is not UTF-8 is written byte by byte as \u00XX, so that the output is always valid.
#ifndef INSPECT_JSON_H
#define INSPECT_JSON_H

#include "inspect_out.h"

struct json {
    struct inspect_out *out;
    bool comma; // the next value or key needs a comma before it
};

void json_begin(struct json *json); // {
void json_end(struct json *json);   // }
void json_line(struct json *json);  // } and the end of the line: the whole object is done
void json_array(struct json *json); // [
void json_array_end(struct json *json);
void json_key(struct json *json, const char *key);

// Values; after a key or inside an array.
void json_text(struct json *json, const char *text, size_t length);
void json_null(struct json *json);
void json_unsigned(struct json *json, uint64_t value);
void json_signed(struct json *json, int64_t value);
void json_hex(struct json *json, uint64_t value); // "0x…"

// A key with its value. A NULL text is null.
void json_put_text(struct json *json, const char *key, const char *text);
void json_put_unsigned(struct json *json, const char *key, uint64_t value);
void json_put_signed(struct json *json, const char *key, int64_t value);
void json_put_hex(struct json *json, const char *key, uint64_t value);
void json_put_bool(struct json *json, const char *key, bool value);
void json_put_null(struct json *json, const char *key);
// null where `known` is false.
void json_put_known(struct json *json, const char *key, bool known, uint64_t value);
void json_put_known_hex(struct json *json, const char *key, bool known, uint64_t value);
void json_put_number(struct json *json, const char *key, double value, int decimals);

// Raw pieces of a string value that the caller composes: quote, characters that need no escape, quote.
void json_quote(struct json *json);
void json_unquote(struct json *json);

#endif
