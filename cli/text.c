#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* The size of the UTF-8 character at the start (RFC 3629); 0: the bytes are no such character. */
static size_t character_size(const unsigned char *at, size_t left) {
    if (at[0] < 0x80)
        return 1;
    size_t size = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
    if (at[0] < 0xC2 || at[0] > 0xF4 || left < size)
        return 0;
    for (size_t i = 1; i < size; i++)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    /* Refuse overlong forms, surrogates, and codes above U+10FFFF. */
    if ((at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] > 0x9F) ||
        (at[0] == 0xF0 && at[1] < 0x90) || (at[0] == 0xF4 && at[1] > 0x8F))
        return 0;
    return size;
}

void text_show(FILE *out, dueq_bytes bytes, enum text_style style) {
    const unsigned char *data = bytes.data;
    for (size_t at = 0, size; at < bytes.size; at += size) {
        char character[5] = {0}, shown[20];
        size = character_size(data + at, bytes.size - at);
        size = size ? size : 1;
        memcpy(character, data + at, size);
        if (data[at] == '\0')
            fputs("\\x00", out);
        else if (style == TEXT_JSON && data[at] == 0x7F)
            fputs("\\u007f",
                  out); /* JSON has no \x, and has escaped the other control characters */
        else if (style == TEXT_LINES && strchr("\n\t", data[at]))
            fputc(data[at], out);
        else {
            dueq_escape(shown, sizeof shown, character);
            fputs(shown, out);
        }
    }
}

bool text_is_utf8(dueq_bytes bytes) {
    const unsigned char *data = bytes.data;
    for (size_t at = 0, size; at < bytes.size; at += size)
        if (!(size = character_size(data + at, bytes.size - at)))
            return false;
    return true;
}

dueq_bytes text_whole(dueq_bytes bytes) {
    const unsigned char *data = bytes.data;
    size_t size = bytes.size;
    while (size > 0 && bytes.size - size < 3 && (data[size - 1] & 0xC0) == 0x80)
        size--;
    if (size > 0 && data[size - 1] >= 0xC2 &&
        !character_size(data + size - 1, bytes.size - size + 1))
        bytes.size = size - 1;
    return bytes;
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

const char *text_number(int64_t number, char out[NUMBER_ROOM]) {
    static const char units[] = "kMGTP";
    double rest = (double)number;
    const char *unit = units;
    if (number < 100000) {
        snprintf(out, NUMBER_ROOM, "%lld", (long long)number);
        return out;
    }
    for (rest /= 1000; rest >= 999.5 && unit[1]; unit++)
        rest /= 1000;
    snprintf(out, NUMBER_ROOM, rest < 9.95 ? "%.1f%c" : "%.0f%c", rest, *unit);
    return out;
}
