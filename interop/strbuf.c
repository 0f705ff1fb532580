#include "strbuf.h"

#include <stdlib.h>

void dueq__strbuf_free(struct dueq__strbuf *text) {
    free(text->data);
    *text = (struct dueq__strbuf){0};
}

char *dueq__strbuf_space(struct dueq__strbuf *text, size_t size) {
    if (text->failed || size > SIZE_MAX / 2 - text->size) {
        text->failed = true;
        return NULL;
    }
    size_t wanted = text->size + size, room = text->room ? text->room : 64;
    while (room < wanted)
        room *= 2;
    if (room != text->room) {
        char *wider = realloc(text->data, room);
        text->failed = !wider;
        if (!wider)
            return NULL;
        text->data = wider;
        text->room = room;
    }
    char *space = text->data + text->size;
    text->size = wanted;
    return space;
}

void dueq__strbuf_bytes(struct dueq__strbuf *text, dueq_bytes bytes) {
    char *space = dueq__strbuf_space(text, bytes.size);
    if (space && bytes.size)
        memcpy(space, bytes.data, bytes.size);
}

void dueq__strbuf_string(struct dueq__strbuf *text, const char *string) {
    dueq__strbuf_bytes(text, dueq__text(string));
}

void dueq__strbuf_byte(struct dueq__strbuf *text, int byte) {
    char *space = dueq__strbuf_space(text, 1);
    if (space)
        *space = (char)byte;
}

void dueq__strbuf_number(struct dueq__strbuf *text, int64_t number) {
    char digits[DUEQ__DIGITS];
    uint64_t positive = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    if (number < 0)
        dueq__strbuf_byte(text, '-');
    dueq__strbuf_bytes(text, (dueq_bytes){digits, dueq__resp_digits(digits, positive)});
}

static void add_unit(struct dueq__strbuf *text, unsigned unit) {
    static const char digits[] = "0123456789ABCDEF";
    dueq__strbuf_string(text, "\\u");
    for (int shift = 12; shift >= 0; shift -= 4)
        dueq__strbuf_byte(text, digits[unit >> shift & 15]);
}

/* Adds the character at `at`, escaped; returns how many bytes of UTF-8 the character has. */
static size_t add_escape(struct dueq__strbuf *text, const unsigned char *at) {
    static const char plain[] = "\"\\\b\f\n\r\t", escaped[] = "\"\\bfnrt";
    const char *found = *at ? strchr(plain, *at) : NULL;
    if (*at >= 0xF0) {
        unsigned character =
            (at[0] & 7U) << 18 | (at[1] & 0x3FU) << 12 | (at[2] & 0x3FU) << 6 | (at[3] & 0x3FU);
        add_unit(text, 0xD800 | (character - 0x10000) >> 10);
        add_unit(text, 0xDC00 | (character & 0x3FF));
        return 4;
    }
    if (found) {
        dueq__strbuf_byte(text, '\\');
        dueq__strbuf_byte(text, escaped[found - plain]);
    } else {
        add_unit(text, *at);
    }
    return 1;
}

static bool stands(unsigned char byte, bool pairs) {
    return byte >= 0x20 && byte != '"' && byte != '\\' && (byte < 0xF0 || !pairs);
}

void dueq__strbuf_json(struct dueq__strbuf *text, dueq_bytes utf8, bool pairs) {
    const unsigned char *at = utf8.data;
    dueq__strbuf_byte(text, '"');
    for (size_t i = 0; i < utf8.size;) {
        size_t begin = i;
        while (i < utf8.size && stands(at[i], pairs))
            i++;
        dueq__strbuf_bytes(text, (dueq_bytes){at + begin, i - begin});
        if (i < utf8.size)
            i += add_escape(text, at + i);
    }
    dueq__strbuf_byte(text, '"');
}

struct dueq__shown dueq__strbuf_shown(dueq_bytes name) {
    struct dueq__shown shown = {0};
    const char *at = name.data;
    for (size_t i = 0; i < name.size && i < sizeof shown.text - 1 && at[i] > ' ' && at[i] < 0x7F;
         i++)
        shown.text[i] = at[i];
    return shown;
}
