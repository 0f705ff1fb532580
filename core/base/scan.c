#include "base.h"

static bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

bool dueq__take_digits(const char **at, const char *end, size_t most, int64_t *number) {
    const char *start = *at;
    *number = 0;
    for (; *at != end && is_digit(**at) && (size_t)(*at - start) < most; ++*at) {
        int digit = **at - '0';
        *number = *number > (INT64_MAX - digit) / 10 ? INT64_MAX : *number * 10 + digit;
    }
    return *at != start;
}

bool dueq__read_number(dueq_bytes text, int64_t least, int64_t most, int64_t *number) {
    const char *at = text.data, *end = at + text.size;
    bool negative = least < 0 && at != end && *at == '-';
    uint64_t limit = (uint64_t)INT64_MAX + negative, sum = 0;
    at += negative;
    if (at == end)
        return false;
    for (; at != end; at++) {
        if (!is_digit(*at) || sum > (limit - (uint64_t)(*at - '0')) / 10)
            return false;
        sum = sum * 10 + (uint64_t)(*at - '0');
    }
    int64_t found = (int64_t)(negative ? 0 - sum : sum);
    if (found < least || found > most)
        return false;
    *number = found;
    return true;
}

bool dueq__take_word(dueq_bytes *text, char mark, dueq_bytes *word) {
    const char *start = text->data, *stop = text->size ? memchr(start, mark, text->size) : NULL;
    *word = *text;
    *text = (dueq_bytes){0};
    if (!stop)
        return false;
    text->size = word->size - (size_t)(stop - start) - 1;
    text->data = stop + 1;
    word->size = (size_t)(stop - start);
    return true;
}

bool dueq__take_last_word(dueq_bytes *text, char mark, dueq_bytes *word) {
    const char *start = text->data;
    size_t size = text->size;
    while (size && start[size - 1] != mark)
        size--;
    if (!size)
        return false;
    *word = (dueq_bytes){start + size, text->size - size};
    text->size = size - 1;
    return true;
}
