/*
 * Redisson's delayed queues, in Redisson's own format. The conventions are those of dueq.h.
 *
 * A delayed queue has a destination, a plain list. An offered value waits beside it, in a list and
 * a sorted set. A transfer, by Redisson or by dueq, moves each value to the destination when it is
 * due. Any client takes values from the destination. docs/interop.md says what is guaranteed.
 */
#ifndef DUEQ_REDISSON_H
#define DUEQ_REDISSON_H

#include "dueq.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Values and codecs */

/* The Java type of a value, and the member of dueq_value that has it. */
typedef enum dueq_kind {
    DUEQ_NULL = 0,
    DUEQ_BOOLEAN = 1, /* `integer`: 0 or 1 */
    DUEQ_INTEGER = 2, /* `integer`, of 32 bits: java.lang.Integer */
    DUEQ_LONG = 3,    /* `integer`: java.lang.Long */
    DUEQ_DOUBLE = 4,  /* `number` */
    DUEQ_STRING = 5,  /* `bytes`: UTF-8 */
    DUEQ_BINARY = 6,  /* `bytes`: byte[] */
    /* `bytes`: JSON text, of an array, an object, or a number that no other kind can hold */
    DUEQ_JSON = 7
} dueq_kind;

/* A value. The kind says which member counts; the others are ignored. This struct never changes. */
typedef struct dueq_value {
    dueq_kind kind;
    int64_t integer;
    double number;
    dueq_bytes bytes;
} dueq_value;

/*
 * How the values of a destination are written: the codec of the Redisson that shares it. dueq
 * writes the same bytes as Redisson, so that Redisson's remove() and contains() find the value. A
 * JSON array is written as an ArrayList, a JSON object as a LinkedHashMap.
 *
 * Null members: all JSON codecs write the null members of a map. Redisson leaves them out, except
 * by TYPED_JSON3. So Redisson's remove() and contains() do not find a value with null members that
 * dueq wrote by another codec. dueq's own find both forms.
 *
 * JACKSON and JACKSON3: a number in a JSON text becomes the narrowest of Integer, Long and
 * BigInteger, or a Double. A JSON text that is only a number becomes a BigInteger or a BigDecimal.
 * Lists, maps and numbers of Java's own classes are read as plain JSON. An object of any other
 * class keeps its text, with "@class" as its first member, and an object that begins so is written
 * unchanged. Values of other classes (dates, enums) are CORRUPT, because JSON has no plain form for
 * them.
 *
 * The codecs of Jackson 3 write a LONG by itself like an INTEGER. Their JSON has at most 500 levels
 * of nesting, that of the others 1000. They write characters beyond U+FFFF unescaped.
 *
 * A double is written in the fewest digits that tell it from all others, as Java 19 and later write
 * it. docs/interop.md names the doubles that older Javas write in another way. KRYO5 reads Byte and
 * Short as INTEGER, and Float as DOUBLE.
 */
typedef enum dueq_codec {
    DUEQ_CODEC_KRYO5 = 0,      /* Kryo5Codec, Redisson's default since 3.19: all kinds but JSON */
    DUEQ_CODEC_BYTES = 1,      /* ByteArrayCodec: the bytes of BINARY or STRING; read as BINARY */
    DUEQ_CODEC_STRING = 2,     /* StringCodec: STRING */
    DUEQ_CODEC_LONG = 3,       /* LongCodec: INTEGER and LONG as decimal text; read as LONG */
    DUEQ_CODEC_JACKSON = 4,    /* JsonJacksonCodec: all kinds but BINARY; only finite numbers */
    DUEQ_CODEC_TYPED_JSON = 5, /* TypedJsonJacksonCodec: the same kinds, as plain JSON */
    DUEQ_CODEC_JACKSON3 = 6,   /* JsonJackson3Codec, of Redisson 4.1 and later: as JACKSON */
    DUEQ_CODEC_TYPED_JSON3 = 7 /* TypedJsonJackson3Codec, of Redisson 4.1: as TYPED_JSON */
} dueq_codec;

/*
 * Writes a value by a codec. Nothing is sent.
 * *encoded has one item, whose dueq_result_value() is of kind BINARY; the caller frees it. NULL on
 * failure.
 * Errors: INVALID: the codec has no form for the value. TOO_LARGE, NO_MEMORY.
 */
DUEQ_API dueq_status dueq_codec_encode(dueq_client *client, dueq_codec codec,
                                       const dueq_value *value, dueq_result **encoded);

/*
 * Reads a value that a codec wrote. Nothing is sent.
 * *decoded has one item with its dueq_result_value(); the caller frees it. NULL on failure.
 * Errors: CORRUPT: the bytes are no value of this codec, or an object that only Java can read.
 * INVALID: no such codec. NO_MEMORY.
 */
DUEQ_API dueq_status dueq_codec_decode(dueq_client *client, dueq_codec codec, dueq_bytes bytes,
                                       dueq_result **decoded);

/*
 * The value of an item, in a result of poll, peek, take, encode or decode; else NULL. An item with
 * the status CORRUPT could not be read: its value is of kind BINARY and has the stored bytes.
 */
DUEQ_API const dueq_value *dueq_result_value(const dueq_result *result, size_t index);

/* The queue */

typedef struct dueq_redisson dueq_redisson;

/* How waiting elements are packed: a value with an id, in one string. */
typedef enum dueq_layout {
    /* The layout of the elements that wait; where none wait, NEW. */
    DUEQ_LAYOUT_FOUND = 0,
    DUEQ_LAYOUT_NEW = 1, /* Redisson 3.21.1 (2023) and later */
    DUEQ_LAYOUT_OLD = 2  /* Redisson up to 3.21.0 */
} dueq_layout;

/*
 * Opens the delayed queue of a destination. Nothing is sent.
 * destination: the key of the list in the server: 1 to DUEQ_MAX_NAME bytes of UTF-8 without control
 *              characters. It may have a hash tag, in braces, for its cluster slot.
 * codec:       how values are written and read.
 * layout:      how elements are packed. Elements of another layout are refused with LAYOUT.
 * *queue belongs to the caller, who closes it by dueq_redisson_close() before the client.
 * Errors: NAME, INVALID (no such codec or layout), NO_MEMORY; *queue is then NULL.
 */
DUEQ_API dueq_status dueq_redisson_open(dueq_client *client, const void *destination, size_t size,
                                        dueq_codec codec, dueq_layout layout,
                                        dueq_redisson **queue);

/* Frees the handle. The values stay in the server. NULL is safe. */
DUEQ_API void dueq_redisson_close(dueq_redisson *queue);

/* A value to offer. Start from DUEQ_OFFER. */
typedef struct dueq_offer {
    size_t struct_size;
    dueq_value value;
    int64_t delay_ms; /* due this long after the offer, 0 to DUEQ_MAX_TIME_MS; 0: now */
    int64_t at_ms;    /* due at this time of the server's clock; 0: delay_ms counts */
} dueq_offer;

#define DUEQ_OFFER {.struct_size = sizeof(dueq_offer)}

/*
 * For all functions below:
 * - They return as the verbs in dueq.h, and have their common errors. *result belongs to the
 *   caller.
 * - LAYOUT: elements of another layout than the chosen one wait, or elements of both.
 * - A call that fails has changed nothing. After CLOSED and TIMEOUT the outcome is not known.
 */

/*
 * Offers values, all in one step. If the earliest due time of the queue changes, it is published on
 * the queue's channel, so that waiting transfers learn of it.
 * count: 1 to DUEQ_MAX_BATCH.
 * Returns OK.
 * Errors: INVALID: the codec has no form for a value, or a time is not valid. TOO_LARGE: all values
 * together have more than DUEQ_MAX_BODY bytes.
 */
DUEQ_API dueq_status dueq_redisson_offer(dueq_redisson *queue, const dueq_offer *offers,
                                         size_t count);

/*
 * Moves due values to the destination, in the order of their due times. A program that runs the
 * transfer of a queue calls this in a loop.
 * most:       1 to DUEQ_MAX_BATCH: the most values of a call.
 * timeout_ms: 0 to DUEQ_MAX_TIME_MS, or DUEQ_FOREVER: how long the call waits until a value is due.
 *             It subscribes to the queue's channel, and also looks at the queue every 12 to 15
 *             seconds, so that a lost message delays a value by seconds only.
 * *moved:     what was moved and quarantined; all zero on EMPTY and on failure; may be NULL.
 * An element that is packed in neither layout is quarantined (docs/interop.md).
 * Returns OK if anything was moved or quarantined, else EMPTY.
 */
DUEQ_API dueq_status dueq_redisson_transfer(dueq_redisson *queue, size_t most, int64_t timeout_ms,
                                            dueq_moved *moved);

/*
 * Counts the values, in O(1). `delayed` is what Redisson's RDelayedQueue.size() gives, `ready`
 * counts the values in the destination. *sizes is written on OK only, and may be NULL.
 * Returns OK.
 */
DUEQ_API dueq_status dueq_redisson_size(dueq_redisson *queue, dueq_sizes *sizes);

/*
 * Takes values from the destination. A value that was taken is gone from the server: there is no
 * acknowledgement.
 * count:      1 to DUEQ_MAX_BATCH: the most values of a call.
 * timeout_ms: 0 to DUEQ_MAX_TIME_MS, or DUEQ_FOREVER: how long the call waits for the first value,
 *             in one blocking command, without polling.
 * If the caller abandons the call (dueq_abandon), the values that it took go back to the front of
 * the destination. After CLOSED and TIMEOUT the next take by this handle puts them back.
 * Returns OK, or EMPTY: no value came in time.
 * Items: OK, or CORRUPT: the codec cannot read the value. Each has its dueq_result_value().
 */
DUEQ_API dueq_status dueq_redisson_take(dueq_redisson *queue, size_t count, int64_t timeout_ms,
                                        dueq_result **result);

/*
 * Takes waiting values, due or not, in the order in which they were offered. They never reach the
 * destination. Does not wait. Values that an abandoned call took are lost, also those of a call
 * that ended with CLOSED or TIMEOUT.
 * count: 1 to DUEQ_MAX_BATCH: the most values of a call.
 * Returns OK, or EMPTY: no value waits. Items: as of take.
 */
DUEQ_API dueq_status dueq_redisson_poll(dueq_redisson *queue, size_t count, dueq_result **result);

/* Reads the values that dueq_redisson_poll() would take, and changes nothing. */
DUEQ_API dueq_status dueq_redisson_peek(dueq_redisson *queue, size_t count, dueq_result **result);

/*
 * Deletes a waiting value: of several equal ones, the one that was offered first. Reads the waiting
 * values one after the other, in O(n). A value with null members is found as dueq writes it; if it
 * is not found, the same value without these members is, as Redisson writes it.
 * Returns OK or NOT_FOUND.
 * Errors: INVALID: the codec has no form for the value. TOO_LARGE.
 */
DUEQ_API dueq_status dueq_redisson_remove(dueq_redisson *queue, const dueq_value *value);

/* Looks for a waiting value as dueq_redisson_remove() does, and changes nothing. */
DUEQ_API dueq_status dueq_redisson_contains(dueq_redisson *queue, const dueq_value *value);

/*
 * Deletes all waiting values. The destination keeps its values.
 * *cleared: how many were deleted; may be NULL.
 * Returns OK.
 */
DUEQ_API dueq_status dueq_redisson_clear(dueq_redisson *queue, size_t *cleared);

/*
 * The same calls without blocking: see "submit, pump, take" in dueq.h. Where the blocking form
 * fills in a struct or a number, the comment names the function that reads it from the result.
 */
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
