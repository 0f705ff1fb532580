/*
 * JSON texts as they stand, by RFC 8259: json.c looks into them and copies nothing.
 * No function reads outside the bytes it is given, but what it says holds for checked texts alone.
 *
 * Strict: UTF-8 without a byte order mark, no lone surrogates among the escapes, no NaN, no trailing
 * commas. What passes is JSON to PHP, to Redis's cjson and to Jackson alike.
 */
#ifndef DUEQ_JSON_H
#define DUEQ_JSON_H

#include "verbs/verbs.h"

enum dueq__json {
    DUEQ__JSON_NULL,
    DUEQ__JSON_FALSE,
    DUEQ__JSON_TRUE,
    DUEQ__JSON_NUMBER,
    DUEQ__JSON_STRING,
    DUEQ__JSON_ARRAY,
    DUEQ__JSON_OBJECT,
    DUEQ__JSON_BAD
};

#define DUEQ__JSON_DEPTH 1024 /* the deepest that can be checked */

/* What is wrong with a text: the first that is. */
enum dueq__json_fault {
    DUEQ__JSON_GOOD = 0,
    DUEQ__JSON_NONE, /* no JSON in UTF-8 */
    DUEQ__JSON_DEEP, /* nested deeper than was asked for */
    DUEQ__JSON_HALF /* a string has an escape of half a surrogate pair, for which UTF-8 has no form */
};

/* What an error says of the last of these. */
#define DUEQ__JSON_HALF_PAIR                                                                       \
    "a string in it has half of a surrogate pair (such as \\uD83D alone), for which UTF-8 has no " \
    "form"

/*
 * Is the text one value, white space around it allowed? depth: how deep its arrays and objects may be
 * nested, 0 for none of them, DUEQ__JSON_DEPTH at most; counted as PHP and cjson do.
 */
enum dueq__json_fault dueq__json_fault(dueq_bytes text, unsigned depth);

static inline bool dueq__json_check(dueq_bytes text, unsigned depth) {
    return dueq__json_fault(text, depth) == DUEQ__JSON_GOOD;
}

/* ---- Of a checked text, or of a value out of one ------------------------------------------------- */

/* What it is, by its first byte. */
enum dueq__json dueq__json_kind(dueq_bytes value);

/* The text of an object's member; of the last where there are several, as PHP and cjson do. */
bool dueq__json_member(dueq_bytes object, const char *name, dueq_bytes *value);

/* A number without fraction and exponent that fits; false: it is something else. */
bool dueq__json_integer(dueq_bytes value, int64_t *number);
/* A number; infinite where it is beyond a double. False: it is something else, or memory is out. */
bool dueq__json_double(dueq_bytes value, double *number);

/* The bytes of a string without its escapes; out: has room for value.size bytes, or is NULL. */
size_t dueq__json_string(dueq_bytes value, char *out);
/* Is it a string, and this one? */
bool dueq__json_equals(dueq_bytes value, const char *string);

/* Over the items of an array or the members of an object: start, then next() until it is false. */
struct dueq__json_walk {
    const unsigned char *at, *end;
};

struct dueq__json_walk dueq__json_walk(dueq_bytes value);
/* name: the member's name as a string's text; in an array size 0; may be NULL. */
bool dueq__json_next(struct dueq__json_walk *walk, dueq_bytes *name, dueq_bytes *value);

/*
 * The next token: one of {}[]:, as itself, '"' for a string, '0' for a number, 't', 'f', 'n' for true,
 * false, null; 0 at the end; negative: not JSON. For those who go through a deep text once.
 */
struct dueq__json_walk dueq__json_tokens(dueq_bytes text);
int dueq__json_token(struct dueq__json_walk *walk, dueq_bytes *token);

#endif
