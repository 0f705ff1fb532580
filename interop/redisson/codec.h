/*
 * Redisson's codecs. codec.c chooses between its own simple ones, kryo.c, and jackson_write.c with
 * jackson_read.c. They write the same bytes as Redisson 3.20 to 4.7, so that Redisson's remove()
 * and contains() find a value. Only null members of maps differ: most of Redisson's codecs leave
 * them out.
 */
#ifndef DUEQ_REDISSON_CODEC_H
#define DUEQ_REDISSON_CODEC_H

#include "../dueq_redisson.h"
#include "../strbuf.h"
#include "verbs/verbs.h"

/* How the null members of a map are written. */
enum dueq__nulls {
    DUEQ__NULLS_STAY,   /* as null, so that a value that dueq offers comes back as it was */
    DUEQ__NULLS_AS_JAVA /* left out where Redisson leaves them out */
};

/*
 * Adds a value to `out` as a codec writes it. On failure `out` has what it had before.
 * Errors: INVALID, TOO_LARGE, NO_MEMORY.
 */
dueq_status dueq__codec_write(dueq_codec codec, const dueq_value *value, enum dueq__nulls nulls,
                              struct dueq__strbuf *out, struct dueq__error *error);

/*
 * Reads a value from all of `bytes`. Replaces the content of `room`. The value's bytes point into
 * `bytes` or `room`, and are valid until one of the two is freed or used again.
 * Errors: CORRUPT, INVALID (no such codec), NO_MEMORY. The value is then of kind BINARY, with
 * `bytes`.
 */
dueq_status dueq__codec_read(dueq_codec codec, dueq_bytes bytes, dueq_value *value,
                             struct dueq__strbuf *room, struct dueq__error *error);

/* values.c */

/* A result for `count` values that have `bytes` bytes together; NULL: out of memory. */
dueq_result *dueq__values_new(size_t count, size_t bytes, struct dueq__error *error);
/* Fills in an item, with a copy of the value's bytes. */
void dueq__values_put(dueq_result *result, size_t index, dueq_status status,
                      const dueq_value *value);

/* For codec.c, which checks kinds and ranges before, and removes what a failed write has added. */

dueq_status dueq__kryo_write(const dueq_value *value, struct dueq__strbuf *out,
                             struct dueq__error *error);
dueq_status dueq__kryo_read(dueq_bytes bytes, dueq_value *value, struct dueq__strbuf *room,
                            struct dueq__error *error);
dueq_status dueq__jackson_write(dueq_codec codec, const dueq_value *value, enum dueq__nulls nulls,
                                struct dueq__strbuf *out, struct dueq__error *error);
dueq_status dueq__jackson_read(dueq_codec codec, dueq_bytes bytes, dueq_value *value,
                               struct dueq__strbuf *room, struct dueq__error *error);

/* True: the codec writes the names of Java's classes. */
static inline bool dueq__jackson_typed(dueq_codec codec) {
    return codec == DUEQ_CODEC_JACKSON || codec == DUEQ_CODEC_JACKSON3;
}

/* True: a codec of Jackson 3. */
static inline bool dueq__jackson_is_3(dueq_codec codec) {
    return codec == DUEQ_CODEC_JACKSON3 || codec == DUEQ_CODEC_TYPED_JSON3;
}

/*
 * Levels of nesting that Jackson reads and writes (StreamReadConstraints, StreamWriteConstraints).
 */
static inline unsigned dueq__jackson_depth(dueq_codec codec) {
    return dueq__jackson_is_3(codec) ? 500 : 1000;
}

/* Adds a finite number as Java's Double.toString() writes it: java.c. */
void dueq__strbuf_double(struct dueq__strbuf *text, double number);

#endif
