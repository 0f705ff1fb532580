#include "json.h"

#include <locale.h>
#include <stdlib.h>

/* Tokens */

/* The number of four hexadecimal digits; -1: four digits do not follow. */
static int32_t hex4(const unsigned char *at, const unsigned char *end) {
    int32_t number = 0;
    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = at[i] <= '9' ? at[i] - '0' : (at[i] | 0x20) - 'a' + 10;
        bool good =
            (at[i] >= '0' && at[i] <= '9') || ((at[i] | 0x20) >= 'a' && (at[i] | 0x20) <= 'f');
        if (!good)
            return -1;
        number = number << 4 | digit;
    }
    return number;
}

/* BAD: no token or escape of JSON. HALF: half a surrogate pair, or a string that has one. */
enum { BAD = -1, HALF = -2 };

/* Takes an escape behind its backslash, or both escapes of a surrogate pair; or BAD, HALF. */
static int32_t take_escape(const unsigned char **at, const unsigned char *end) {
    static const char escaped[] = "\"\\/bfnrt", plain[] = "\"\\/\b\f\n\r\t";
    if (*at == end || !**at)
        return BAD;
    int byte = *(*at)++;
    const char *found = strchr(escaped, byte);
    if (found)
        return plain[found - escaped];
    int32_t unit = byte == 'u' ? hex4(*at, end) : -1;
    if (unit < 0)
        return BAD;
    *at += 4;
    if ((unit & 0xF800) != 0xD800)
        return unit;
    if (unit >= 0xDC00 || end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u')
        return HALF;
    int32_t low = hex4(*at + 2, end);
    if (low < 0 || (low & 0xFC00) != 0xDC00)
        return HALF;
    *at += 6;
    return 0x10000 + ((unit & 0x3FF) << 10 | (low & 0x3FF));
}

/* Goes behind a string whose first quote was taken. Returns '"', BAD, or HALF. */
static int skip_string(const unsigned char **at, const unsigned char *end) {
    const unsigned char *begin = *at;
    int kind = '"';
    while (*at < end && **at >= 0x20) {
        int byte = *(*at)++;
        if (byte == '"')
            return dueq__is_utf8(begin, (size_t)(*at - begin), true) ? kind : BAD;
        int32_t character = byte == '\\' ? take_escape(at, end) : byte;
        if (character == BAD)
            return BAD;
        if (character == HALF)
            kind = HALF;
    }
    return BAD;
}

static bool skip_digits(const unsigned char **at, const unsigned char *end) {
    const unsigned char *begin = *at;
    while (*at < end && **at >= '0' && **at <= '9')
        ++*at;
    return *at > begin;
}

static bool skip_number(const unsigned char **at, const unsigned char *end) {
    if (*at < end && **at == '-')
        ++*at;
    if (*at < end && **at == '0')
        ++*at;
    else if (!skip_digits(at, end))
        return false;
    if (*at < end && **at == '.') {
        ++*at;
        if (!skip_digits(at, end))
            return false;
    }
    if (*at < end && (**at | 0x20) == 'e') {
        ++*at;
        if (*at < end && (**at == '+' || **at == '-'))
            ++*at;
        return skip_digits(at, end);
    }
    return true;
}

static bool skip_word(const unsigned char **at, const unsigned char *end, const char *word) {
    size_t size = strlen(word);
    if ((size_t)(end - *at) < size || memcmp(*at, word, size) != 0)
        return false;
    *at += size;
    return true;
}

static void skip_space(struct dueq__json_walk *walk) {
    while (walk->at < walk->end &&
           (*walk->at == ' ' || *walk->at == '\t' || *walk->at == '\n' || *walk->at == '\r'))
        walk->at++;
}

/* Goes behind the token that begins with this byte, and returns its kind. */
static int skip_token(const unsigned char **at, const unsigned char *end) {
    switch (**at) {
    case '{':
    case '}':
    case '[':
    case ']':
    case ':':
    case ',':
        return *(*at)++;
    case '"':
        ++*at;
        return skip_string(at, end);
    case 't':
        return skip_word(at, end, "true") ? 't' : BAD;
    case 'f':
        return skip_word(at, end, "false") ? 'f' : BAD;
    case 'n':
        return skip_word(at, end, "null") ? 'n' : BAD;
    default:
        return skip_number(at, end) ? '0' : BAD;
    }
}

struct dueq__json_walk dueq__json_tokens(dueq_bytes text) {
    return (struct dueq__json_walk){
        text.data, text.size ? (const unsigned char *)text.data + text.size : text.data};
}

int dueq__json_token(struct dueq__json_walk *walk, dueq_bytes *token) {
    skip_space(walk);
    const unsigned char *begin = walk->at;
    int kind = walk->at < walk->end ? skip_token(&walk->at, walk->end) : 0;
    *token = (dueq_bytes){begin, (size_t)(walk->at - begin)};
    return kind;
}

/* The whole text */

/* The arrays and objects that are open: one bit for each, set for an object. */
struct levels {
    unsigned char objects[DUEQ__JSON_DEPTH / 8];
    unsigned depth, deepest;
};

static bool in_object(const struct levels *levels) {
    unsigned level = levels->depth - 1;
    return levels->objects[level / 8] >> level % 8 & 1;
}

static bool enter(struct levels *levels, bool object) {
    unsigned level = levels->depth;
    if (level >= levels->deepest)
        return false;
    unsigned char bit = (unsigned char)(1U << level % 8);
    if (object)
        levels->objects[level / 8] |= bit;
    else
        levels->objects[level / 8] &= (unsigned char)~bit;
    levels->depth++;
    return true;
}

/* The fault of a text that has this token where another one must be. */
static enum dueq__json_fault unwanted(int token) {
    return token == HALF ? DUEQ__JSON_HALF : DUEQ__JSON_NONE;
}

/* Takes a member's name, whose token was read, and the colon behind the name. */
static enum dueq__json_fault take_name(struct dueq__json_walk *walk, int token) {
    dueq_bytes unused;
    if (token != '"')
        return unwanted(token);
    return dueq__json_token(walk, &unused) == ':' ? DUEQ__JSON_GOOD : DUEQ__JSON_NONE;
}

/*
 * Takes a value whose first token was read. Of a container that is not empty, it takes what comes
 * before the first value inside, and sets `more`: the caller takes that value next.
 */
static enum dueq__json_fault take_value(struct dueq__json_walk *walk, struct levels *levels,
                                        int token, bool *more) {
    dueq_bytes unused;
    *more = false;
    if (token != '[' && token != '{')
        return token > 0 && strchr("\"0tfn", token) ? DUEQ__JSON_GOOD : unwanted(token);
    if (!enter(levels, token == '{'))
        return DUEQ__JSON_DEEP;
    struct dueq__json_walk ahead = *walk;
    int next = dueq__json_token(&ahead, &unused);
    if (next == (token == '{' ? '}' : ']')) {
        *walk = ahead;
        levels->depth--;
        return DUEQ__JSON_GOOD;
    }
    *more = true;
    if (token == '[')
        return DUEQ__JSON_GOOD;
    *walk = ahead;
    return take_name(walk, next);
}

/* Behind a value: leaves the containers that end here. `more`: another value follows. */
static enum dueq__json_fault take_rest(struct dueq__json_walk *walk, struct levels *levels,
                                       bool *more) {
    dueq_bytes unused;
    *more = false;
    while (levels->depth > 0) {
        bool object = in_object(levels);
        int token = dueq__json_token(walk, &unused);
        if (token == ',') {
            *more = true;
            return object ? take_name(walk, dueq__json_token(walk, &unused)) : DUEQ__JSON_GOOD;
        }
        if (token != (object ? '}' : ']'))
            return DUEQ__JSON_NONE;
        levels->depth--;
    }
    return DUEQ__JSON_GOOD;
}

enum dueq__json_fault dueq__json_fault(dueq_bytes text, unsigned depth) {
    struct dueq__json_walk walk = dueq__json_tokens(text);
    struct levels levels = {.deepest = depth < DUEQ__JSON_DEPTH ? depth : DUEQ__JSON_DEPTH};
    dueq_bytes token;
    enum dueq__json_fault fault = DUEQ__JSON_GOOD;
    for (bool more = true; more && !fault;) {
        fault = take_value(&walk, &levels, dueq__json_token(&walk, &token), &more);
        if (!fault && !more)
            fault = take_rest(&walk, &levels, &more);
    }
    if (!fault && dueq__json_token(&walk, &token) != 0)
        fault = DUEQ__JSON_NONE;
    return fault;
}

/* Values */

enum dueq__json dueq__json_kind(dueq_bytes value) {
    struct dueq__json_walk walk = dueq__json_tokens(value);
    skip_space(&walk);
    int byte = walk.at < walk.end ? *walk.at : 0;
    switch (byte) {
    case 'n':
        return DUEQ__JSON_NULL;
    case 'f':
        return DUEQ__JSON_FALSE;
    case 't':
        return DUEQ__JSON_TRUE;
    case '"':
        return DUEQ__JSON_STRING;
    case '[':
        return DUEQ__JSON_ARRAY;
    case '{':
        return DUEQ__JSON_OBJECT;
    default:
        return byte == '-' || (byte >= '0' && byte <= '9') ? DUEQ__JSON_NUMBER : DUEQ__JSON_BAD;
    }
}

struct dueq__json_walk dueq__json_walk(dueq_bytes value) {
    struct dueq__json_walk walk = dueq__json_tokens(value);
    dueq_bytes token;
    int kind = dueq__json_token(&walk, &token);
    if (kind != '[' && kind != '{')
        walk.at = walk.end;
    return walk;
}

/* Goes behind the rest of a value whose first token was taken. False: the value has no end. */
static bool skip_value(struct dueq__json_walk *walk, int token) {
    dueq_bytes unused;
    for (size_t depth = 0; token > 0; token = dueq__json_token(walk, &unused)) {
        if (token == '[' || token == '{')
            depth++;
        else if (token == ']' || token == '}')
            depth = depth ? depth - 1 : 0;
        if (depth == 0)
            return true;
    }
    return false;
}

bool dueq__json_next(struct dueq__json_walk *walk, dueq_bytes *name, dueq_bytes *value) {
    dueq_bytes first;
    int token = dueq__json_token(walk, &first);
    if (token == ',')
        token = dueq__json_token(walk, &first);
    if (name)
        *name = (dueq_bytes){0};
    if (token == '"') {
        struct dueq__json_walk ahead = *walk;
        dueq_bytes second;
        if (dueq__json_token(&ahead, &second) == ':') {
            if (name)
                *name = first;
            *walk = ahead;
            token = dueq__json_token(walk, &first);
        }
    }
    if (token <= 0 || token == ']' || token == '}' || !skip_value(walk, token)) {
        walk->at = walk->end;
        return false;
    }
    const unsigned char *begin = first.data;
    *value = (dueq_bytes){begin, (size_t)(walk->at - begin)};
    return true;
}

bool dueq__json_member(dueq_bytes object, const char *name, dueq_bytes *value) {
    struct dueq__json_walk walk = dueq__json_walk(object);
    dueq_bytes at_name, at_value;
    bool found = false;
    while (dueq__json_next(&walk, &at_name, &at_value))
        if (dueq__json_equals(at_name, name)) {
            *value = at_value;
            found = true;
        }
    return found;
}

bool dueq__json_integer(dueq_bytes value, int64_t *number) {
    struct dueq__json_walk walk = dueq__json_tokens(value);
    dueq_bytes token;
    return dueq__json_token(&walk, &token) == '0' &&
           dueq__read_number(token, INT64_MIN, INT64_MAX, number);
}

bool dueq__json_double(dueq_bytes value, double *number) {
    struct dueq__json_walk walk = dueq__json_tokens(value);
    dueq_bytes token;
    if (dueq__json_token(&walk, &token) != '0')
        return false;
    /* strtod() takes the decimal point from the program's locale, and needs a NUL. */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    char *copy = plain ? malloc(token.size + 1) : NULL;
    if (copy) {
        memcpy(copy, token.data, token.size);
        copy[token.size] = '\0';
        locale_t before = uselocale(plain);
        *number = strtod(copy, NULL);
        uselocale(before);
    }
    if (plain)
        freelocale(plain);
    free(copy);
    return copy != NULL;
}

/* Strings */

/* Writes a character in UTF-8; returns its size in bytes. */
static size_t put_character(int32_t character, unsigned char out[4]) {
    if (character < 0x80) {
        out[0] = (unsigned char)character;
        return 1;
    }
    size_t size = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--, character >>= 6)
        out[i] = (unsigned char)(0x80 | (character & 0x3F));
    out[0] = (unsigned char)(0xF00 >> size | character);
    return size;
}

/* Takes a byte of a string, or an escape as 1 to 4 bytes of UTF-8; 0: the string ends here. */
static size_t take_piece(struct dueq__json_walk *walk, unsigned char out[4]) {
    if (walk->at >= walk->end || *walk->at == '"')
        return 0;
    if (*walk->at != '\\') {
        out[0] = *walk->at++;
        return 1;
    }
    walk->at++;
    int32_t character = take_escape(&walk->at, walk->end);
    return character < 0 ? 0 : put_character(character, out);
}

/* Begins a walk behind the string's first quote. False: the value is no string. */
static bool inside(dueq_bytes value, struct dueq__json_walk *walk) {
    struct dueq__json_walk whole = dueq__json_tokens(value);
    dueq_bytes token;
    if (dueq__json_token(&whole, &token) != '"')
        return false;
    *walk = dueq__json_tokens(token);
    walk->at++;
    return true;
}

size_t dueq__json_string(dueq_bytes value, char *out) {
    struct dueq__json_walk walk;
    unsigned char piece[4];
    size_t size = 0;
    if (!inside(value, &walk))
        return 0;
    for (size_t more; (more = take_piece(&walk, piece)) > 0; size += more)
        if (out)
            memcpy(out + size, piece, more);
    return size;
}

bool dueq__json_equals(dueq_bytes value, const char *string) {
    struct dueq__json_walk walk;
    unsigned char piece[4];
    size_t left = strlen(string);
    if (!inside(value, &walk))
        return false;
    for (size_t more; (more = take_piece(&walk, piece)) > 0; string += more, left -= more)
        if (more > left || memcmp(piece, string, more) != 0)
            return false;
    return left == 0;
}
