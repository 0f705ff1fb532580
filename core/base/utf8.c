#include "base.h"

size_t dueq__utf8_length(const unsigned char *at, size_t left) {
    static const struct {
        unsigned char from, to, second_from, second_to, length;
    } forms[] = {
        {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3}, {0xE1, 0xEC, 0x80, 0xBF, 3},
        {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4},
        {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    if (at[0] < 0x80)
        return left > 0;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (at[0] < forms[i].from || at[0] > forms[i].to)
            continue;
        size_t length = forms[i].length;
        if (length > left)
            return 0;
        if (at[1] < forms[i].second_from || at[1] > forms[i].second_to)
            return 0;
        for (size_t k = 2; k < length; k++)
            if ((at[k] & 0xC0) != 0x80)
                return 0;
        return length;
    }
    return 0;
}

bool dueq__utf8(const void *data, size_t size, bool control) {
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

bool dueq__is_text(dueq_bytes text) {
    return text.size > 0 && text.size <= DUEQ_MAX_ID && dueq__utf8(text.data, text.size, false);
}
