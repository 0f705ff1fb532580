/*
 * Messages as bytes: the draft, the envelope with its policy, the ticket and the attempts.
 * docs/internals/protocol.md has the layouts.
 */
#ifndef DUEQ_MESSAGE_H
#define DUEQ_MESSAGE_H

#include "../base/base.h"

/* draft.c: what a producer asks for */

/* As a time to live: it is over already. For the core's own drafts, to partitions. */
#define DUEQ__TTL_EXPIRED (-1)

/* What the ids of schedules' messages begin with. */
#define DUEQ__SCHEDULE_PREFIX "schedule:"

/*
 * Checks all of a draft that can be checked without its queue. by_schedule: a schedule verb made the
 * draft, which may have a schedule's id and headers.
 */
dueq_status dueq__draft_check(const dueq_draft *draft, bool by_schedule, struct dueq__error *error);
dueq_status dueq__due_check(int64_t delay_ms, int64_t at_ms, struct dueq__error *error);

/* An argument, as errors call it, and what it may be; unit: NULL for none. */
struct dueq__range {
    const char *what, *unit;
    int64_t value, least, most;
};
dueq_status dueq__ranges_check(const struct dueq__range *ranges, size_t count,
                               struct dueq__error *error);
/* Is it 1 to `most` bytes of UTF-8 without control characters? what: for the error. */
dueq_status dueq__text_check(const char *what, dueq_bytes text, size_t most,
                             struct dueq__error *error);
/* Checks a draft's headers alone. */
dueq_status dueq__headers_check(const dueq_draft *draft, struct dueq__error *error);
/*
 * Copies all that a draft points to, so many bytes, to `room`, which is aligned as malloc() does.
 */
size_t dueq__draft_size(const dueq_draft *draft);
void dueq__draft_copy(dueq_draft *out, const dueq_draft *draft, void *room);
/* How many bytes all of a draft's headers take. */
size_t dueq__headers_size(const dueq_draft *draft);

/* envelope.c */

#define DUEQ__ENVELOPE_VERSION 0xD1
enum { /* flags of the envelope */
       DUEQ__FLAG_INCARNATION =
           1, /* the id was given: an incarnation tells this push from an earlier one */
       DUEQ__FLAG_LEASE = 2,
       DUEQ__FLAG_HEADERS = 4,
       DUEQ__FLAG_EXPIRES = 8, /* 0 until the push script sets it */
       DUEQ__FLAG_POLICY = 16, /* the part that says how failures go on */
       DUEQ__FLAG_HIGH = 32,
       DUEQ__FLAG_LOW = 64
};
#define DUEQ__ENVELOPE_FIXED 4

struct dueq__stored_backoff {
    dueq_backoff backoff; /* whose list, if it has one, is the one below */
    int64_t list[DUEQ_MAX_BACKOFF_LIST];
};

/*
 * Writes a checked draft's envelope and returns its size; out: NULL where that alone is asked for.
 * incarnation: NULL for an id that the core made.
 */
size_t dueq__envelope_write(const dueq_draft *draft, const char *incarnation, unsigned char *out);
/*
 * Reads an envelope into message: all that is the same in each delivery; headers when `headers` has
 * room. The number of headers comes back in message->header_count. False: it is none.
 */
bool dueq__envelope_read(dueq_bytes envelope, dueq_message *message, dueq_header *headers,
                         size_t room);

/* The same, and the backoff; without one all of it is 0. */
bool dueq__envelope_read_all(dueq_bytes envelope, dueq_message *message, dueq_header *headers,
                             size_t room, struct dueq__stored_backoff *backoff);

/* ticket.c */

struct dueq__ticket {
    uint32_t deliveries; /* that ended before this one */
    dueq_bytes suffix;   /* the incarnation, and h or l; empty for a made id of normal priority */
    dueq_bytes id;
};

/* What is kept of a message that came back. */
struct dueq__attempts {
    uint32_t deliveries, forgiven, crashes;
    dueq_bytes error;
};

bool dueq__ticket_read(dueq_bytes text, struct dueq__ticket *ticket);
/* When the message was made, as far as its ticket says; -1: it does not. */
int64_t dueq__ticket_time(const struct dueq__ticket *ticket);
/* False: it is none of these. */
bool dueq__attempts_read(dueq_bytes text, struct dueq__attempts *attempts);

#endif
