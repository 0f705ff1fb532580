#include "bare.h"

#include <string.h>

struct bare bare_begin(const char *socket, size_t messages, size_t batch) {
    struct bare bare = {.line = bare_open(socket)};
    bare.tickets = must_allocate(messages + 1, TICKET_SIZE);
    bare.words = must_allocate(2 * batch + 8, sizeof *bare.words);
    bare.sizes = must_allocate(2 * batch + 8, sizeof *bare.sizes);
    dueq_client *client;
    dueq_status status = dueq_open("unix:///not-connected", &client);
    must(client, status);
    for (size_t i = 0; i < messages; i++) {
        char *ticket = bare.tickets + i * TICKET_SIZE;
        memcpy(ticket, "0:", 2);
        char id[ID_SIZE + 1];
        dueq_new_id(client, id);
        memcpy(ticket + 2, id, ID_SIZE);
    }
    dueq_close(client);
    return bare;
}

char *bare_ticket(struct bare *bare, size_t message, char attempt) {
    char *ticket = bare->tickets + message * TICKET_SIZE;
    ticket[0] = attempt;
    return ticket;
}

const char *bare_id(struct bare *bare, size_t message) {
    return bare->tickets + message * TICKET_SIZE + 2;
}

void bare_word(struct bare *bare, const char *data, size_t size) {
    bare->words[bare->used] = data;
    bare->sizes[bare->used++] = size;
}

void bare_text(struct bare *bare, const char *text) { bare_word(bare, text, strlen(text)); }

void bare_verb(struct bare *bare, const char *verb, const char *key) {
    bare->used = 0;
    bare_text(bare, verb);
    bare_text(bare, key);
}

void bare_tickets(struct bare *bare, size_t first, size_t count, char attempt) {
    for (size_t i = 0; i < count; i++)
        bare_word(bare, bare_ticket(bare, first + i, attempt), TICKET_SIZE);
}

void bare_ids(struct bare *bare, size_t first, size_t count) {
    for (size_t i = 0; i < count; i++)
        bare_word(bare, bare_id(bare, first + i), ID_SIZE);
}

void bare_envelopes(struct bare *bare, size_t first, size_t count) {
    static const char envelope[ENVELOPE_SIZE];
    bare_verb(bare, "HSET", BARE_MESSAGES);
    for (size_t i = 0; i < count; i++) {
        bare_word(bare, bare_id(bare, first + i), ID_SIZE);
        bare_word(bare, envelope, sizeof envelope);
    }
    bare_append(bare);
}

void bare_append(struct bare *bare) {
    if (redisAppendCommandArgv(bare->line, (int)bare->used, bare->words, bare->sizes) != REDIS_OK)
        die("%s", bare->line->errstr);
}

void bare_number(struct bare *bare) {
    redisReply *reply = bare_reply(bare->line);
    if (reply->type != REDIS_REPLY_INTEGER || reply->integer == 0)
        die("a bare command changed nothing");
    freeReplyObject(reply);
}

void bare_list(struct bare *bare, size_t count) {
    redisReply *reply = bare_reply(bare->line);
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != count)
        die("a bare command did not find what it should");
    freeReplyObject(reply);
}

void bare_lease(struct bare *bare, size_t first, size_t count, const char *stop) {
    bare_verb(bare, "ZADD", BARE_LEASED);
    for (size_t i = 0; i < count; i++) {
        bare_text(bare, stop);
        bare_word(bare, bare_ticket(bare, first + i, '1'), TICKET_SIZE);
    }
    bare_append(bare);
    bare_verb(bare, "HMGET", BARE_MESSAGES);
    bare_ids(bare, first, count);
    bare_append(bare);
}

void bare_ack(struct bare *bare, size_t first, size_t count) {
    bare_verb(bare, "ZREM", BARE_LEASED);
    bare_tickets(bare, first, count, '1');
    bare_append(bare);
    bare_verb(bare, "HDEL", BARE_MESSAGES);
    bare_ids(bare, first, count);
    bare_append(bare);
    bare_number(bare);
    bare_number(bare);
}
