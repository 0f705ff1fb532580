/*
 * Messages as bytes: the draft, the envelope with its policy, the ticket and the past.
 * docs/protocol.md has the layouts.
 */
#ifndef DUEQ_MESSAGE_H
#define DUEQ_MESSAGE_H

#include "../base/base.h"

/* ---- draft.c: what a producer asks for --------------------------------------------------------- */

/* Checks all of a draft by itself. */
dueq_status dueq__draft_check(const dueq_draft *draft, struct dueq__error *error);
dueq_status dueq__due_check(int64_t delay_ms, int64_t at_ms, struct dueq__error *error);
/* How many bytes all of a draft's headers take. */
size_t dueq__headers_size(const dueq_draft *draft);

/* ---- envelope.c -------------------------------------------------------------------------------- */

#define DUEQ__ENVELOPE_VERSION 0xD1
enum { /* flags of the envelope */
       DUEQ__FLAG_INCARNATION =
           1, /* the id was given: a stamp tells this push from an earlier one */
       DUEQ__FLAG_LEASE = 2,
       DUEQ__FLAG_HEADERS = 4,
       DUEQ__FLAG_EXPIRES = 8, /* 0 until the push script sets it */
       DUEQ__FLAG_POLICY = 16,
       DUEQ__FLAG_HIGH = 32,
       DUEQ__FLAG_LOW = 64
};
#define DUEQ__ENVELOPE_FIXED 4

/* The size of a checked draft's envelope. stamp: NULL for an id that the core made. */
size_t dueq__envelope_size(const dueq_draft *draft, const char *stamp);
void dueq__envelope_write(const dueq_draft *draft, const char *stamp, unsigned char *out);
/*
 * Reads an envelope into message: all that is the same in each delivery; headers when `headers` has
 * room. The number of headers comes back in message->header_count. False: damaged.
 */
bool dueq__envelope_read(dueq_bytes envelope, dueq_message *message, dueq_header *headers,
                         size_t room);

/* ---- policy.c: the part of an envelope that says how failures go on ------------------------------ */

dueq_status dueq__policy_check(const dueq_draft *draft, struct dueq__error *error);
/* How many bytes the fields take; 0: all is usual, and there is no such part. */
size_t dueq__policy_size(const dueq_draft *draft);
void dueq__policy_write(const dueq_draft *draft, unsigned char *out);
/* Sets max_crashes, drop and dead_letter. False: damaged. */
bool dueq__policy_read(dueq_bytes fields, dueq_message *message);

/* ---- ticket.c ---------------------------------------------------------------------------------- */

struct dueq__ticket {
    uint32_t before; /* deliveries that ended before this one */
    dueq_bytes tag;  /* the stamp, and h or l; empty for a made id of normal priority */
    dueq_bytes id;
};

/* What is kept of a message that came back. */
struct dueq__past {
    uint32_t before, forgiven, crashes;
    dueq_bytes error;
};

bool dueq__ticket_read(dueq_bytes text, struct dueq__ticket *ticket);
/* When the message was made, as far as its ticket says; -1: it does not. */
int64_t dueq__ticket_time(const struct dueq__ticket *ticket);
/* False: damaged, or none. */
bool dueq__past_read(dueq_bytes text, struct dueq__past *past);

/* ---- Numbers, the most significant byte first ---------------------------------------------------- */

static inline void dueq__put16(unsigned char *out, size_t number) {
    out[0] = (unsigned char)(number >> 8);
    out[1] = (unsigned char)number;
}

static inline void dueq__put32(unsigned char *out, int64_t number) {
    dueq__put16(out, (size_t)number >> 16);
    dueq__put16(out + 2, (size_t)number);
}

static inline size_t dueq__get16(const unsigned char *in) { return (size_t)in[0] << 8 | in[1]; }

static inline uint32_t dueq__get32(const unsigned char *in) {
    return (uint32_t)(dueq__get16(in) << 16 | dueq__get16(in + 2));
}

/* Returns where the next byte goes. */
static inline unsigned char *dueq__put(unsigned char *out, dueq_bytes bytes) {
    if (bytes.size)
        memcpy(out, bytes.data, bytes.size);
    return out + bytes.size;
}

#endif
