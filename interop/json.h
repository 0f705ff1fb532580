/*
 * Reads JSON texts (RFC 8259) in place, without a copy: json.c.
 * No function reads outside the bytes that it gets. Results are right only for a text that
 * dueq__json_fault() found good.
 *
 * That check is strict: UTF-8 without a byte order mark, no lone surrogates among the escapes, no
 * NaN, no trailing commas. A text that passes is JSON to PHP, to Redis's cjson and to Jackson.
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

#define DUEQ__JSON_DEPTH 1024 /* levels of nesting that can be checked */

/* The first fault of a text. */
enum dueq__json_fault {
    DUEQ__JSON_GOOD = 0,
    DUEQ__JSON_NONE, /* not JSON in UTF-8 */
    DUEQ__JSON_DEEP, /* nested deeper than the caller allows */
    DUEQ__JSON_HALF  /* an escape of half a surrogate pair, for which UTF-8 has no form */
};

/* How an error describes DUEQ__JSON_HALF. */
#define DUEQ__JSON_HALF_PAIR                                                                       \
    "a string in it has half of a surrogate pair (such as \\uD83D alone), for which UTF-8 has no " \
    "form"

/*
 * Checks that the text is one JSON value, which may have white space around it.
 * depth: how deep arrays and objects may be nested, counted as PHP and cjson count: 0 (no array and
 * no object) to DUEQ__JSON_DEPTH.
 */
enum dueq__json_fault dueq__json_fault(dueq_bytes text, unsigned depth);

static inline bool dueq__json_check(dueq_bytes text, unsigned depth) {
    return dueq__json_fault(text, depth) == DUEQ__JSON_GOOD;
}

/* For a checked text, or for a value that these functions found in one */

/* The type of a value, by its first byte; DUEQ__JSON_BAD where no value begins with that byte. */
enum dueq__json dueq__json_kind(dueq_bytes value);

/*
 * Finds a member of an object by its name. Of several members with the name the last one counts, as
 * it does for PHP and cjson. False: the object has no such member.
 */
bool dueq__json_member(dueq_bytes object, const char *name, dueq_bytes *value);

/* Reads a number without fraction and exponent that fits. False: the value is no such number. */
bool dueq__json_integer(dueq_bytes value, int64_t *number);
/* Reads a number; beyond the range of a double: infinite. False: no number, or out of memory. */
bool dueq__json_double(dueq_bytes value, double *number);

/*
 * Writes a string without its quotes and escapes to `out`, and returns how many bytes that is; 0 if
 * the value is no string. out: room for value.size bytes, or NULL: only counts.
 */
size_t dueq__json_string(dueq_bytes value, char *out);
/* True if the value is a string with this content. */
bool dueq__json_equals(dueq_bytes value, const char *string);

/*
 * Visits the items of an array or the members of an object: dueq__json_walk() begins, then
 * dueq__json_next() gives one after the other, until it returns false.
 */
struct dueq__json_walk {
    const unsigned char *at, *end;
};

struct dueq__json_walk dueq__json_walk(dueq_bytes value);
/* name: the member's name, with its quotes and escapes; size 0 in an array. May be NULL. */
bool dueq__json_next(struct dueq__json_walk *walk, dueq_bytes *name, dueq_bytes *value);

/*
 * Reads the next token. Returns {, }, [, ], : or a comma as itself, '"' for a string, '0' for a
 * number, 't', 'f' and 'n' for true, false and null, 0 at the end, or a negative number if the text
 * is not JSON there. A caller that goes through all levels of a deep text reads tokens: each byte
 * is read once, while dueq__json_next() reads a nested value again at each level.
 */
struct dueq__json_walk dueq__json_tokens(dueq_bytes text);
int dueq__json_token(struct dueq__json_walk *walk, dueq_bytes *token);

#endif
