// explain: what places are, in words.
#include "inspect.h"

#include "explain.h"
#include "inspect_help.h"

#include <stdio.h>
#include <string.h>

const char inspect_help_explain[] =
    "What each place is at the moment, in words for someone who learns: the block of the heap, the\n"
    "function or variable, the section, the mapping and the page, the most particular first. With\n"
    "--json one object for each; links name related texts, which TOPIC:NAME prints.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect explain trace.vmv 0x7ffd1c9e3a40 --at 1.5s\n"
    "  vmvis-inspect explain trace.vmv main '[heap]+0x2a0'\n"
    "  vmvis-inspect explain trace.vmv topic:copy-on-write\n";

enum { WIDTH = 88 };

static void put_wrapped(struct inspect_out *out, const char *text) {
    size_t column = 0;
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column && column + 1 + word > WIDTH) {
            inspect_out_text(out, "\n");
            column = 0;
        }
        inspect_out_text(out, column ? " " : "  ");
        inspect_out_bytes(out, text, word);
        column += word + 1;
        text += word + strspn(text + word, " ");
    }
    inspect_out_text(out, "\n");
}

static void put_links(struct json *json, const char *links) {
    json_key(json, "links");
    json_array(json);
    while (*links) {
        size_t length = strcspn(links, ",");
        json_text(json, links, length);
        links += length + strspn(links + length, ", ");
    }
    json_array_end(json);
}

static void put(struct inspect *in, const char *place, const struct explanation *item) {
    if (in->options.json) {
        json_begin(&in->json);
        json_put_text(&in->json, "place", place);
        json_put_text(&in->json, "topic", item->topic->name);
        json_put_text(&in->json, "title", item->title);
        json_put_text(&in->json, "text", item->text);
        put_links(&in->json, item->topic->links);
        json_line(&in->json);
        return;
    }
    inspect_out_format(&in->out, "%s\n", item->title);
    put_wrapped(&in->out, item->text);
    inspect_out_format(&in->out, "  see: %s\n", item->topic->links);
}

static int put_topic(struct inspect *in, const char *name) {
    const struct explain_topic *topic = explain_topic(name);
    if (!topic)
        return inspect_fail(in, INSPECT_ABSENT, "%s: topic:%.60s: there is no such text", in->options.trace, name);
    put(in, NULL, &(struct explanation){topic, topic->title, topic->text});
    return INSPECT_OK;
}

static int put_places(struct inspect *in, uint32_t space) {
    struct inspect_ranges ranges;
    int status;
    if (!inspect_ranges_parse(in, space, &ranges, &status)) return status;
    for (size_t i = 0; i < ranges.count; i++) {
        struct explanations all;
        char place[24];
        snprintf(place, sizeof place, "0x%llx", (unsigned long long)ranges.items[i].addr);
        decode_explain(in->decode, space, ranges.items[i].addr, true, &all);
        if (!in->options.json) inspect_out_format(&in->out, "%s%s\n\n", i ? "\n" : "", place);
        for (size_t k = 0; k < all.count; k++) {
            if (k && !in->options.json) inspect_out_text(&in->out, "\n");
            put(in, place, &all.items[k]);
        }
        explain_free(&all);
    }
    inspect_ranges_free(&ranges);
    return INSPECT_OK;
}

int inspect_explain(struct inspect *in) {
    struct inspect_moment moment;
    int status;
    if (in->options.place_count == 0)
        return inspect_fail(in, INSPECT_USAGE, "explain needs a place: 0xADDR, a mapping or a symbol; or topic:NAME");
    if (in->options.place_count == 1 && strncmp(in->options.places[0], "topic:", 6) == 0)
        return put_topic(in, in->options.places[0] + 6);
    if (!inspect_select(in, &moment, &status)) return status;
    return put_places(in, moment.space->id);
}
