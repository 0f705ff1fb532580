/*
 * Messages as bytes: the draft, the envelope with its policy, the ticket and the attempts.
 * docs/internals/protocol.md has the layouts.
 */
#ifndef DUEQ_MESSAGE_H
#define DUEQ_MESSAGE_H

#include "../base/base.h"

/* draft.c: what a producer asks for */

/* The time to live of a draft that has expired already. Only the core pushes such drafts. */
#define DUEQ__TTL_EXPIRED (-1)

/* The id of a schedule's message begins with this. */
#define DUEQ__SCHEDULE_PREFIX "schedule:"

/*
 * Checks all of a draft that can be checked without its queue. by_schedule: a schedule verb made
 * the draft, which may have a schedule's id and headers.
 */
dueq_status dueq__draft_check(const dueq_draft *draft, bool by_schedule, struct dueq__error *error);
dueq_status dueq__due_check(int64_t delay_ms, int64_t at_ms, struct dueq__error *error);

/* An argument and its range. what, unit: as errors name them; unit NULL: it has none. */
struct dueq__range {
    const char *what, *unit;
    int64_t value, least, most;
};
dueq_status dueq__ranges_check(const struct dueq__range *ranges, size_t count,
                               struct dueq__error *error);
/* Fails unless the text is 1 to `most` bytes of UTF-8 without control characters. */
dueq_status dueq__text_check(const char *what, dueq_bytes text, size_t most,
                             struct dueq__error *error);
/* Checks the headers of a draft, and nothing else. */
dueq_status dueq__headers_check(const dueq_draft *draft, struct dueq__error *error);
/*
 * Copies a draft. What the draft points to goes to `room`: as many bytes as dueq__draft_size()
 * says, aligned as malloc() aligns.
 */
size_t dueq__draft_size(const dueq_draft *draft);
void dueq__draft_copy(dueq_draft *out, const dueq_draft *draft, void *room);
/* How many bytes all of a draft's headers take. */
size_t dueq__headers_size(const dueq_draft *draft);

/* envelope.c */

/* The first byte of an envelope, and of a note for a batch, which is an entry of the outbox. */
#define DUEQ__ENVELOPE_VERSION 0xD1
#define DUEQ__ENVELOPE_NOTED 0xD3 /* the end of the message is noted; else as VERSION */
#define DUEQ__NOTE_VERSION 0xD4
enum { /* flags of the envelope */
       /* The producer gave the id: an incarnation tells this push from an earlier one. */
       DUEQ__FLAG_INCARNATION = 1,
       DUEQ__FLAG_LEASE = 2,
       DUEQ__FLAG_HEADERS = 4,
       DUEQ__FLAG_EXPIRES = 8, /* the time is 0 until the push script sets it */
       DUEQ__FLAG_POLICY = 16, /* what happens after failures */
       DUEQ__FLAG_HIGH = 32,
       DUEQ__FLAG_LOW = 64,
       DUEQ__FLAG_GROUP = 128
};
#define DUEQ__ENVELOPE_FIXED 4

struct dueq__stored_backoff {
    dueq_backoff backoff; /* whose list, if it has one, is the one below */
    int64_t list[DUEQ_MAX_BACKOFF_LIST];
};

/*
 * Writes the envelope of a checked draft, and returns its size. out: NULL: it only returns the
 * size. incarnation: NULL: the core makes the id. home: the queue of the draft's batch; size 0:
 * that of the message.
 */
size_t dueq__envelope_write(const dueq_draft *draft, const char *incarnation, dueq_bytes home,
                            unsigned char *out);
/*
 * Reads an envelope into the members of `message` that are the same in each delivery. headers: gets
 * up to `room` headers; message->header_count is their number in the envelope. False: the bytes are
 * no envelope.
 */
bool dueq__envelope_read(dueq_bytes envelope, dueq_message *message, dueq_header *headers,
                         size_t room);

/* The same, and the backoff. If the envelope has none, all of backoff->backoff is 0. */
bool dueq__envelope_read_all(dueq_bytes envelope, dueq_message *message, dueq_header *headers,
                             size_t room, struct dueq__stored_backoff *backoff);

/* ticket.c */

struct dueq__ticket {
    uint32_t deliveries; /* that ended before this one */
    /*
     * ! if the end of the message is noted, the incarnation, and h or l, or = and the group. Empty:
     * it has none of them.
     */
    dueq_bytes suffix;
    dueq_bytes id;
};

/* What the server keeps of a message that came back. */
struct dueq__attempts {
    uint32_t deliveries, forgiven, crashes;
    dueq_bytes error;
};

/* False: the text is no ticket. */
bool dueq__ticket_read(dueq_bytes text, struct dueq__ticket *ticket);
/* Whether the ticket names a group. */
bool dueq__ticket_has_group(dueq_bytes text);
/* Whether the ticket says that the end of the message is noted. */
bool dueq__ticket_is_noted(dueq_bytes text);
/* When the message was pushed, in ms since 1970; -1: the ticket does not say that. */
int64_t dueq__ticket_time(const struct dueq__ticket *ticket);
/* False: the text is no attempts. */
bool dueq__attempts_read(dueq_bytes text, struct dueq__attempts *attempts);

#endif
