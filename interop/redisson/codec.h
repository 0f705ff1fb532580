/*
 * Redisson's codecs: codec.c chooses, kryo.c, jackson_write.c and jackson_read.c do. What they write is
 * to the byte what Redisson 3.20 to 4.7 writes, so that its remove() and contains() find it, but for the
 * null members of maps: most of Redisson's codecs leave them out.
 */
#ifndef DUEQ_REDISSON_CODEC_H
#define DUEQ_REDISSON_CODEC_H

#include "../dueq_redisson.h"
#include "../strbuf.h"
#include "verbs/verbs.h"

/* What becomes of the members of a map that are null. */
enum dueq__nulls {
    DUEQ__NULLS_STAY, /* as dueq offers a value: it comes back as it was */
    DUEQ__NULLS_AS_JAVA /* left out where Redisson leaves them out: what it writes of the same value */
};

/*
 * Adds a value to `out` as a codec writes it. On failure `out` is as it was.
 * Errors: INVALID, TOO_LARGE, NO_MEMORY.
 */
dueq_status dueq__codec_write(dueq_codec codec, const dueq_value *value, enum dueq__nulls nulls,
                              struct dueq__strbuf *out, struct dueq__error *error);

/*
 * Reads a value from all of `bytes`. Its bytes point into `bytes` or into `room`, whose content is
 * replaced: they are good until either is gone or used again.
 * Errors: CORRUPT (the value is then of kind BINARY and has `bytes`), NO_MEMORY.
 */
dueq_status dueq__codec_read(dueq_codec codec, dueq_bytes bytes, dueq_value *value,
                             struct dueq__strbuf *room, struct dueq__error *error);

/* ---- values.c: a result of so many values, whose bytes take so much ------------------------------ */

dueq_result *dueq__values_new(size_t count, size_t bytes, struct dueq__error *error);
/* Its next value, with a copy of the bytes. */
void dueq__values_put(dueq_result *result, size_t index, dueq_status status,
                      const dueq_value *value);

/* ---- For codec.c: values of kinds and ranges that were checked; `out` may be left as it is ------- */

dueq_status dueq__kryo_write(const dueq_value *value, struct dueq__strbuf *out,
                             struct dueq__error *error);
dueq_status dueq__kryo_read(dueq_bytes bytes, dueq_value *value, struct dueq__strbuf *room,
                            struct dueq__error *error);
dueq_status dueq__jackson_write(dueq_codec codec, const dueq_value *value, enum dueq__nulls nulls,
                                struct dueq__strbuf *out, struct dueq__error *error);
dueq_status dueq__jackson_read(dueq_codec codec, dueq_bytes bytes, dueq_value *value,
                               struct dueq__strbuf *room, struct dueq__error *error);

/* Does it name the classes of Java's? */
static inline bool dueq__jackson_typed(dueq_codec codec) {
    return codec == DUEQ_CODEC_JACKSON || codec == DUEQ_CODEC_JACKSON3;
}

/* Is it one of Jackson 3? */
static inline bool dueq__jackson_is_3(dueq_codec codec) {
    return codec == DUEQ_CODEC_JACKSON3 || codec == DUEQ_CODEC_TYPED_JSON3;
}

/* How deep Jackson reads and writes (StreamReadConstraints, StreamWriteConstraints). */
static inline unsigned dueq__jackson_depth(dueq_codec codec) {
    return dueq__jackson_is_3(codec) ? 500 : 1000;
}

/* A real number as Java's Double.toString() has it: java.c. It must be finite. */
void dueq__strbuf_double(struct dueq__strbuf *text, double number);

#endif
