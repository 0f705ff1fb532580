#include "base.h"

size_t dueq__utf8_length(const unsigned char *at, size_t left) {
    size_t length = at[0] < 0x80   ? 1
                    : at[0] < 0xC2 ? 0
                    : at[0] < 0xE0 ? 2
                    : at[0] < 0xF0 ? 3
                    : at[0] < 0xF5 ? 4
                                   : 0;
    if (length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    /* Overlong forms (E0, F0), surrogates (ED), and code points above U+10FFFF (F4). */
    bool wrong = (at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] > 0x9F) ||
                 (at[0] == 0xF0 && at[1] < 0x90) || (at[0] == 0xF4 && at[1] > 0x8F);
    return wrong ? 0 : length;
}

bool dueq__is_utf8(const void *data, size_t size, bool control) {
    const unsigned char *at = data;
    while (size > 0) {
        size_t length = dueq__utf8_length(at, size);
        if (length == 0 || (!control && (*at < 0x20 || *at == 0x7F)))
            return false;
        at += length;
        size -= length;
    }
    return true;
}

bool dueq__is_name(dueq_bytes text) {
    return text.size > 0 && text.size <= DUEQ_MAX_ID && dueq__is_utf8(text.data, text.size, false);
}
