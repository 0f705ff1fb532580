/*
 * The commands that dueq's scripts stand for, sent by themselves; those of one call are written at
 * once.
 */
#ifndef DUEQ_BENCH_BARE_H
#define DUEQ_BENCH_BARE_H

#include "driver.h"

#define ENVELOPE_SIZE (BODY_SIZE + 4)
#define ID_SIZE 22
#define TICKET_SIZE (ID_SIZE + 2)

struct bare {
    redisContext *line;
    char *tickets; /* TICKET_SIZE bytes each, the message's id at the end */
    const char **words;
    size_t *sizes;
    size_t used;
};

/* With the tickets of so many messages, for calls of `batch`. */
struct bare bare_begin(const char *socket, size_t messages, size_t batch);
char *bare_ticket(struct bare *bare, size_t message, char attempt);
const char *bare_id(struct bare *bare, size_t message);

/* A command is its verb and key, more words, and append. */
void bare_verb(struct bare *bare, const char *verb, const char *key);
void bare_word(struct bare *bare, const char *data, size_t size);
void bare_text(struct bare *bare, const char *text);
/* The tickets or ids of `count` messages from `first` on. */
void bare_tickets(struct bare *bare, size_t first, size_t count, char attempt);
void bare_ids(struct bare *bare, size_t first, size_t count);
/* HSET of `count` envelopes, appended. */
void bare_envelopes(struct bare *bare, size_t first, size_t count);
void bare_append(struct bare *bare);
/*
 * ZADD of the leases, which end at `stop`, and HMGET of the envelopes: two replies, a number and a
 * list.
 */
void bare_lease(struct bare *bare, size_t first, size_t count, const char *stop);
/* ZREM and HDEL, with their replies. */
void bare_ack(struct bare *bare, size_t first, size_t count);

/* Reads a reply, which has to be a number other than 0, or a list of so many. */
void bare_number(struct bare *bare);
void bare_list(struct bare *bare, size_t count);

#define BARE_MESSAGES "bare:{bench}:msg"
#define BARE_READY "bare:{bench}:ready"
#define BARE_DELAYED "bare:{bench}:delayed"
#define BARE_LEASED "bare:{bench}:leased"

#endif
