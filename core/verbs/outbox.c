#include <stdio.h>
#include <stdlib.h>

#include "verbs.h"

/*
 * The relay: takes entries of a queue's outbox under a lease, pushes them to the other queue, takes
 * them out of the outbox, and has the other queue forget that it knows them. Each step is a call of
 * its own. One that is done again after a relay has died changes nothing more: see
 * docs/internals/protocol.md, "The outbox".
 */

#define LEASE_MS 30000
/*
 * A push that comes so late that another relay may have begun is refused, also where clocks differ
 * so much.
 */
#define MARGIN_MS 5000
/* The client that made an entry takes it before its time. */
#define AHEAD_MS 1000
#define MOST 100
/* The longest that one step keeps the call waiting whose answer is there. */
#define PATIENCE_MS 2000
#define MOST_ROUNDS 10

enum { TAKEN_END = 0, TAKEN_NAME = 1, TAKEN_FIXED = 2, TAKEN_EACH = 6 };

struct entry {
    char ticket[DUEQ_MAX_ID + 32];
    size_t size;
    char digit;
};

/* Between the calls of a relay. */
struct relay {
    dueq_queue *source;
    dueq_durability durability; /* of each step, before the next one begins */
    int64_t end_ms;             /* of its lease, by the server's clock */
    char name[DUEQ_MAX_NAME];
    size_t name_size, count;
    unsigned rounds;
    struct entry entries[MOST];
};

static struct relay *relay_of(dueq_client *client) { return client->suspended->owner; }

static void ended(dueq_client *client) { dueq__op_resume(client); }

/*
 * Begins a call of the relay's; `other`: it is about the other queue, whose keys are then the
 * caller's to free by submit().
 */
static void begin(dueq_client *client, const struct dueq__script *script, bool other,
                  void (*decode)(dueq_client *, const struct dueq__reply *),
                  struct dueq__resp *words) {
    struct relay *relay = relay_of(client);
    struct dueq__op *op = client->op;
    op->phase = DUEQ__PHASE_NONE;
    dueq__op_begin(relay->source, script, false);
    op->decode = decode;
    op->on_final = ended;
    op->durable.wanted = relay->durability;
    /* One that the server reads late, when the entry is forgotten, would store it again. */
    op->request.at_most_once = true;
    /*
     * The caller does not wait for a node that is known to be away: the entries wait in the outbox.
     */
    op->retry.skip_down_node = client->cluster != NULL;
    dueq__op_arguments(client, words);
    if (other && !dueq__keys_make(op->request.keys, relay->name, relay->name_size)) {
        op->request.keys[0] = (dueq_bytes){0};
        words->failed = true;
    }
}

static void submit(dueq_client *client, struct dueq__resp *words, bool other) {
    void *keys = other ? (void *)(uintptr_t)client->op->request.keys[0].data : NULL;
    int64_t limit = dueq__monotonic_ms() + PATIENCE_MS + client->op->durable.wanted.timeout_ms;
    if (dueq__op_submit(client, words) == DUEQ_PENDING && limit < client->op->retry.deadline_ms)
        client->op->retry.deadline_ms = limit;
    free(keys);
}

static void put_source(struct dueq__resp *words, const struct relay *relay) {
    dueq_bytes name = dueq__keys_name(relay->source->keys);
    dueq__resp_bytes(words, name.data, name.size);
}

static void take(dueq_client *client);

static void decode_failed(dueq_client *client, const struct dueq__reply *reply) {
    (void)reply;
    dueq__op_resume(client);
}

static void decode_forgotten(dueq_client *client, const struct dueq__reply *reply) {
    (void)reply;
    take(client);
}

static void forget(dueq_client *client) {
    const struct relay *relay = relay_of(client);
    struct dueq__resp words;
    begin(client, &dueq__script_relay_forget, true, decode_forgotten, &words);
    put_source(&words, relay);
    for (size_t i = 0; i < relay->count; i++)
        dueq__resp_bytes(&words, relay->entries[i].ticket, relay->entries[i].size);
    submit(client, &words, true);
}

static void decode_done(dueq_client *client, const struct dueq__reply *reply) {
    int64_t left;
    /*
     * Those that another relay has taken since it pushes again, and must not take them for new. So
     * it would where this queue's server loses the step.
     */
    if (dueq__durable_is_met(client->op) && dueq__reply_number(reply, &left) &&
        left == (int64_t)relay_of(client)->count)
        forget(client);
    else
        take(client);
}

/* error: why nothing could be pushed; empty: the entries have their digits. */
static void done(dueq_client *client, const char *error) {
    const struct relay *relay = relay_of(client);
    struct dueq__resp words;
    begin(client, &dueq__script_relay_done, false, *error ? decode_failed : decode_done, &words);
    dueq__resp_number(&words, relay->end_ms);
    dueq__resp_bytes(&words, relay->name, relay->name_size);
    dueq__resp_text(&words, error);
    for (size_t i = 0; i < relay->count; i++) {
        dueq__resp_bytes(&words, relay->entries[i].ticket, relay->entries[i].size);
        dueq__resp_bytes(&words, &relay->entries[i].digit, 1);
    }
    submit(client, &words, false);
}

static void decode_put(dueq_client *client, const struct dueq__reply *reply) {
    struct relay *relay = relay_of(client);
    dueq_bytes digits;
    if (!dueq__reply_bytes(reply, &digits) || digits.size != relay->count ||
        !dueq__ops_are_outcomes(digits, digits.size)) {
        /* It was too late, and whoever took the entries after it does it. */
        dueq__op_resume(client);
        return;
    }
    /* The other queue may be on another server, and then this one's must not forget it yet. */
    if (!dueq__durable_is_met(client->op)) {
        dueq__op_resume(client);
        return;
    }
    for (size_t i = 0; i < relay->count; i++)
        relay->entries[i].digit = ((const char *)digits.data)[i];
    done(client, "");
}

/*
 * What the server refused is kept with the entries; of what was lost nothing is known, and it is
 * tried again.
 */
static void put_ended(dueq_client *client) {
    struct dueq__error error = client->error;
    bool lost = error.status == DUEQ_CONNECT || error.status == DUEQ_CLOSED ||
                error.status == DUEQ_TIMEOUT || error.status == DUEQ_NO_MEMORY;
    if (lost)
        dueq__op_resume(client);
    else
        done(client, error.text);
}

/*
 * Takes an entry in: keeps its ticket, and adds its words to the push. False: it is not what the
 * script answers.
 */
static bool add(struct relay *relay, const struct dueq__reply *reply, size_t at,
                struct dueq__resp *words) {
    struct entry *entry = &relay->entries[relay->count];
    dueq_bytes parts[TAKEN_EACH];
    for (size_t i = 0; i < TAKEN_EACH; i++)
        if (!dueq__reply_bytes(dueq__reply_item(reply, at + i), &parts[i]))
            return false;
    if (relay->count == MOST || parts[0].size > sizeof entry->ticket)
        return false;
    entry->size = parts[0].size;
    memcpy(entry->ticket, parts[0].data, parts[0].size);
    relay->count++;
    for (size_t i = 1; i < TAKEN_EACH; i++)
        dueq__resp_bytes(words, parts[i].data, parts[i].size);
    dueq__resp_bytes(words, parts[0].data, parts[0].size);
    return true;
}

static void decode_take(dueq_client *client, const struct dueq__reply *reply) {
    struct relay *relay = relay_of(client);
    struct dueq__error ignored = {0};
    struct dueq__resp words;
    dueq_bytes name = {0};
    size_t count = dueq__reply_count(reply);
    /* Where the server loses how the delivery ended, the message is to be in this queue alone. */
    bool sound = dueq__durable_is_met(client->op) &&
                 dueq__reply_number(dueq__reply_item(reply, TAKEN_END), &relay->end_ms) &&
                 dueq__reply_bytes(dueq__reply_item(reply, TAKEN_NAME), &name) &&
                 (count - TAKEN_FIXED) % TAKEN_EACH == 0 &&
                 !dueq__name_check(name.data, name.size, &ignored);
    if (!sound || count == TAKEN_FIXED) {
        dueq__op_resume(client);
        return;
    }
    memcpy(relay->name, name.data, name.size);
    relay->name_size = name.size;
    begin(client, &dueq__script_relay_put, true, decode_put, &words);
    client->op->on_final = put_ended;
    dueq__resp_number(&words, relay->end_ms - MARGIN_MS);
    put_source(&words, relay);
    for (size_t at = TAKEN_FIXED; sound && at < count; at += TAKEN_EACH)
        sound = add(relay, reply, at, &words);
    words.failed = words.failed || !sound;
    submit(client, &words, true);
}

/* One round is for one other queue. */
static void take(dueq_client *client) {
    struct relay *relay = relay_of(client);
    struct dueq__resp words;
    if (relay->rounds++ == MOST_ROUNDS) {
        dueq__op_resume(client);
        return;
    }
    relay->count = 0;
    begin(client, &dueq__script_relay_take, false, decode_take, &words);
    client->op->request.max_messages = MOST;
    dueq__resp_number(&words, AHEAD_MS);
    dueq__resp_number(&words, MOST);
    dueq__resp_number(&words, LEASE_MS);
    submit(client, &words, false);
}

void dueq__relay(dueq_client *client, void (*resume)(dueq_client *client)) {
    struct relay *relay = calloc(1, sizeof *relay);
    if (!relay || !dueq__op_suspend(client, resume, relay)) {
        free(relay);
        resume(client);
        return;
    }
    relay->source = client->suspended->op.queue;
    relay->durability = dueq__durable_for(relay->source, &client->suspended->op.durable.wanted);
    take(client);
}
