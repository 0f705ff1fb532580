#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* The size of the UTF-8 character at the start; 0: there is none. */
static size_t character_size(const unsigned char *at, size_t left) {
    if (at[0] < 0x80)
        return 1;
    size_t size = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
    if (at[0] < 0xC2 || at[0] > 0xF4 || left < size)
        return 0;
    for (size_t i = 1; i < size; i++)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    /* Neither longer than need be, nor a surrogate, nor above U+10FFFF. */
    if ((at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] > 0x9F) ||
        (at[0] == 0xF0 && at[1] < 0x90) || (at[0] == 0xF4 && at[1] > 0x8F))
        return 0;
    return size;
}

static unsigned code_point(const unsigned char *at, size_t size) {
    unsigned code = size == 1 ? at[0] : at[0] & (0x7FU >> size);
    for (size_t i = 1; i < size; i++)
        code = code << 6 | (at[i] & 0x3FU);
    return code;
}

/* Does a terminal obey it, or does it break the line or turn its direction? */
static bool is_control(unsigned code) {
    return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x61C || code == 0x200E ||
           code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

static void put_escaped(FILE *out, unsigned code, enum text_style style) {
    static const char plain[] = "\t\n\r", letters[] = "tnr";
    const char *found = code ? strchr(plain, (int)code) : NULL;
    if (style == TEXT_JSON)
        fprintf(out, "\\u%04x", code);
    else if (code < 0x80 && found)
        fprintf(out, "\\%c", letters[found - plain]);
    else
        fprintf(out, code < 0x80 ? "\\x%02x" : "\\u%04x", code);
}

void text_show(FILE *out, dueq_bytes bytes, enum text_style style) {
    const unsigned char *data = bytes.data;
    for (size_t at = 0, size; at < bytes.size; at += size ? size : 1) {
        size = character_size(data + at, bytes.size - at);
        unsigned code = size ? code_point(data + at, size) : 0xFFFD;
        if (!size && style != TEXT_JSON)
            fprintf(out, "\\x%02x", data[at]);
        else if (!size ||
                 (is_control(code) && !(style == TEXT_LINES && (code == '\n' || code == '\t'))))
            put_escaped(out, code, style);
        else
            fwrite(data + at, 1, size, out);
    }
}

bool text_is_utf8(dueq_bytes bytes) {
    const unsigned char *data = bytes.data;
    for (size_t at = 0, size; at < bytes.size; at += size)
        if (!(size = character_size(data + at, bytes.size - at)))
            return false;
    return true;
}

char *text_repair(dueq_bytes bytes, size_t *size) {
    const unsigned char *data = bytes.data;
    char *out = malloc(bytes.size * 3 + 1);
    if (!out)
        return NULL;
    *size = 0;
    for (size_t at = 0; at < bytes.size;) {
        size_t good = character_size(data + at, bytes.size - at);
        memcpy(out + *size, good ? (const char *)data + at : "\xEF\xBF\xBD", good ? good : 3);
        *size += good ? good : 3;
        at += good ? good : 1;
    }
    out[*size] = '\0';
    return out;
}

char *text_base64(dueq_bytes bytes) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *data = bytes.data;
    char *out = malloc((bytes.size + 2) / 3 * 4 + 1);
    if (!out)
        return NULL;
    char *to = out;
    for (size_t at = 0; at < bytes.size; at += 3) {
        size_t left = bytes.size - at;
        unsigned long group = (unsigned long)data[at] << 16 |
                              (left > 1 ? (unsigned long)data[at + 1] << 8 : 0) |
                              (left > 2 ? data[at + 2] : 0);
        *to++ = digits[group >> 18];
        *to++ = digits[group >> 12 & 63];
        *to++ = left > 1 ? digits[group >> 6 & 63] : '=';
        *to++ = left > 2 ? digits[group & 63] : '=';
    }
    *to = '\0';
    return out;
}
