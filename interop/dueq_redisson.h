/*
 * Redisson's delayed queues, spoken as Redisson does: see dueq.h for the conventions.
 *
 * A delayed queue has a destination, a plain list: values are offered with a delay, wait in a list and a
 * sorted set beside it, and whoever transfers, a Redisson or a dueq, moves them to the destination when
 * they are due. Any client takes them from there. docs/interop.md says what is guaranteed.
 */
#ifndef DUEQ_REDISSON_H
#define DUEQ_REDISSON_H

#include "dueq.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Values and codecs --------------------------------------------------------------------------- */

/* What a value is to Java. */
typedef enum dueq_kind {
    DUEQ_NULL = 0,
    DUEQ_BOOLEAN = 1, /* `integer`, 0 or 1 */
    DUEQ_INTEGER = 2, /* `integer`, of 32 bits: java.lang.Integer */
    DUEQ_LONG = 3,    /* `integer`: java.lang.Long */
    DUEQ_DOUBLE = 4,  /* `number` */
    DUEQ_STRING = 5,  /* `bytes`, UTF-8 */
    DUEQ_BINARY = 6,  /* `bytes`: byte[] */
    DUEQ_JSON =
        7 /* `bytes`: the text of a JSON array or object, or of a number beyond the others */
} dueq_kind;

typedef struct dueq_value {
    dueq_kind kind;
    int64_t integer;
    double number;
    dueq_bytes bytes;
} dueq_value;

/*
 * How a destination's values are written: the codec of the Redisson that shares it. What is written is to
 * the byte what Redisson writes, so that its remove() and contains() find it: of a list what it writes of
 * an ArrayList, of a map what it writes of a LinkedHashMap.
 *
 * Members of a map that are null are written, by all JSON codecs. Redisson leaves them out, but for
 * TYPED_JSON3: its remove() and contains() do not find a value that has such members. dueq's find both.
 *
 * JACKSON and JACKSON3, of JSON: numbers are the narrowest of Integer, Long and BigInteger, or Double; a JSON that is
 * itself a number is a BigInteger or a BigDecimal. Lists, maps and numbers of Java's own classes are read
 * as plain JSON. An object of another class keeps its text, with its "@class" as the first member, and such
 * an object is written as it is. Other classes (dates, enums) are CORRUPT: they have no plain form.
 *
 * By the codecs of Jackson 3 a LONG that stands by itself is no other than an INTEGER, and JSON is nested
 * no deeper than 500 levels, not 1000. They write what is beyond U+FFFF as it is, not escaped.
 *
 * Reals are written in the fewest digits, as Java 19 and later write them; docs/interop.md names those
 * that older Javas write otherwise. KRYO5 reads Byte and Short as INTEGER, and Float as DOUBLE.
 */
typedef enum dueq_codec {
    DUEQ_CODEC_KRYO5 = 0,      /* Redisson's default from 3.19: all kinds but JSON */
    DUEQ_CODEC_BYTES = 1,      /* ByteArrayCodec: BINARY, and STRING as it is; read as BINARY */
    DUEQ_CODEC_STRING = 2,     /* StringCodec: STRING */
    DUEQ_CODEC_LONG = 3,       /* LongCodec: INTEGER and LONG as decimal text; read as LONG */
    DUEQ_CODEC_JACKSON = 4,    /* JsonJacksonCodec: all kinds but BINARY; finite numbers */
    DUEQ_CODEC_TYPED_JSON = 5, /* TypedJsonJacksonCodec: plain JSON; as JACKSON */
    DUEQ_CODEC_JACKSON3 = 6,   /* JsonJackson3Codec, of Redisson 4.1 and later; as JACKSON */
    DUEQ_CODEC_TYPED_JSON3 = 7 /* TypedJsonJackson3Codec: plain JSON; as JACKSON */
} dueq_codec;

/*
 * Writes a value as a codec does. *encoded has one item, dueq_result_value() of kind BINARY.
 * Errors: INVALID where the codec has no form for it, TOO_LARGE, NO_MEMORY.
 */
DUEQ_API dueq_status dueq_codec_encode(dueq_client *client, dueq_codec codec,
                                       const dueq_value *value, dueq_result **encoded);

/*
 * Reads a value that a codec wrote. *decoded has one item with its dueq_result_value().
 * Errors: CORRUPT where the bytes are no such value or an object of Java's, NO_MEMORY.
 */
DUEQ_API dueq_status dueq_codec_decode(dueq_client *client, dueq_codec codec, dueq_bytes bytes,
                                       dueq_result **decoded);

/*
 * poll, peek, take and the codecs: that item's value; NULL where there is none. An item whose status is
 * CORRUPT could not be read: its value is of kind BINARY and has its bytes as they are.
 */
DUEQ_API const dueq_value *dueq_result_value(const dueq_result *result, size_t index);

/* ---- The queue ------------------------------------------------------------------------------------ */

typedef struct dueq_redisson dueq_redisson;

/* How Redisson packs the elements that wait. */
typedef enum dueq_layout {
    DUEQ_LAYOUT_FOUND =
        0,               /* as those that wait; as Redisson 3.21.1 and later where there are none */
    DUEQ_LAYOUT_NEW = 1, /* Redisson 3.21.1 (2023) and later */
    DUEQ_LAYOUT_OLD = 2  /* Redisson up to 3.21.0 */
} dueq_layout;

/*
 * Opens the delayed queue of a destination. Nothing is sent.
 * destination: the list's key, as it is in the server: 1 to DUEQ_MAX_NAME bytes of UTF-8 without control
 *              characters; braces mark a cluster slot, as ever.
 * *queue belongs to the caller (dueq_redisson_close) and must not outlive the client.
 * Errors: NAME, INVALID, NO_MEMORY; *queue is NULL then.
 */
DUEQ_API dueq_status dueq_redisson_open(dueq_client *client, const void *destination, size_t size,
                                        dueq_codec codec, dueq_layout layout,
                                        dueq_redisson **queue);

/* Frees the handle; what is in the server stays. NULL is safe. */
DUEQ_API void dueq_redisson_close(dueq_redisson *queue);

/* A value to offer. */
typedef struct dueq_offer {
    dueq_value value;
    int64_t delay_ms; /* due this long after the offer; 0: now */
    int64_t at_ms;    /* due at this time of the server's clock; 0: use delay_ms */
} dueq_offer;

/*
 * For all that follow: common errors as for the verbs in dueq.h, and LAYOUT where elements of another
 * layout than the chosen one, or of both, wait. Nothing is changed on failure, but for CLOSED and
 * TIMEOUT, which do not know.
 */

/*
 * Offers values, all of a call in one step, and publishes the due time on the queue's channel where the
 * earliest changed, for those who transfer. count: 1 to DUEQ_MAX_BATCH. Returns OK.
 * Errors: INVALID where the codec has no form for a value, TOO_LARGE.
 */
DUEQ_API dueq_status dueq_redisson_offer(dueq_redisson *queue, const dueq_offer *offers,
                                         size_t count);

/*
 * Moves up to `most` (1 to DUEQ_MAX_BATCH) elements that are due to the destination, in order of their
 * times. With none due it waits up to timeout_ms (0: not at all, DUEQ_FOREVER: without end) for the
 * first: subscribed to the queue's channel, and looking by itself now and then, so that a lost message
 * costs seconds at most. Call it in a loop to run a transfer. An element that is packed in neither layout
 * is quarantined (docs/interop.md) before anything is moved, and counted in quarantined.
 * Returns OK when anything was moved or quarantined, else EMPTY. moved: may be NULL.
 */
DUEQ_API dueq_status dueq_redisson_transfer(dueq_redisson *queue, size_t most, int64_t timeout_ms,
                                            dueq_moved *moved);

/* Counts, in O(1): delayed is RDelayedQueue.size(), ready the destination's length. Returns OK. */
DUEQ_API dueq_status dueq_redisson_size(dueq_redisson *queue, dueq_sizes *sizes);

/*
 * Takes up to `count` (1 to DUEQ_MAX_BATCH) values from the destination. With none there it waits up to
 * timeout_ms (as transfer) for the first, in one blocking command, without polling. There is no
 * acknowledgement: a value that was taken is the caller's. An item whose bytes the codec cannot read has
 * the status CORRUPT and the bytes as they are. dueq_abandon() sends what was taken and nobody has read
 * back to the front of the destination. Returns OK or EMPTY.
 */
DUEQ_API dueq_status dueq_redisson_take(dueq_redisson *queue, size_t count, int64_t timeout_ms,
                                        dueq_result **result);

/*
 * Takes up to `count` values that wait, the longest offered first, whatever their times: they never
 * reach the destination. Returns as take.
 */
DUEQ_API dueq_status dueq_redisson_poll(dueq_redisson *queue, size_t count, dueq_result **result);

/* Looks at them, in the same order, without touching them. Returns as take. */
DUEQ_API dueq_status dueq_redisson_peek(dueq_redisson *queue, size_t count, dueq_result **result);

/*
 * Takes the longest offered element of this value away. O(n). Of a JSON with null members it is one that
 * has them, as dueq writes them; where there is none, one without, as Redisson writes the same value.
 * Returns OK or NOT_FOUND.
 */
DUEQ_API dueq_status dueq_redisson_remove(dueq_redisson *queue, const dueq_value *value);

/* Does an element of this value wait, as remove finds it? O(n). Returns OK or NOT_FOUND. */
DUEQ_API dueq_status dueq_redisson_contains(dueq_redisson *queue, const dueq_value *value);

/* Takes all that wait away; the destination stays. *cleared (may be NULL) counts them. Returns OK. */
DUEQ_API dueq_status dueq_redisson_clear(dueq_redisson *queue, size_t *cleared);

/* The same without blocking: see dueq.h. Results have the accessors that are named here. */
DUEQ_API dueq_status dueq_redisson_offer_submit(dueq_redisson *queue, const dueq_offer *offers,
                                                size_t count);
DUEQ_API dueq_status dueq_redisson_transfer_submit(dueq_redisson *queue, size_t most,
                                                   int64_t timeout_ms); /* dueq_result_moved() */
DUEQ_API dueq_status dueq_redisson_size_submit(dueq_redisson *queue);   /* dueq_result_sizes() */
DUEQ_API dueq_status dueq_redisson_take_submit(dueq_redisson *queue, size_t count,
                                               int64_t timeout_ms);
DUEQ_API dueq_status dueq_redisson_poll_submit(dueq_redisson *queue, size_t count);
DUEQ_API dueq_status dueq_redisson_peek_submit(dueq_redisson *queue, size_t count);
DUEQ_API dueq_status dueq_redisson_remove_submit(dueq_redisson *queue, const dueq_value *value);
DUEQ_API dueq_status dueq_redisson_contains_submit(dueq_redisson *queue, const dueq_value *value);
DUEQ_API dueq_status dueq_redisson_clear_submit(dueq_redisson *queue); /* dueq_result_purged() */

#ifdef __cplusplus
}
#endif

#endif
