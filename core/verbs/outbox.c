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

/* The state of a relay, between its steps. */
struct relay {
    dueq_queue *source;
    dueq_durability durability; /* of each step, before the next one begins */
    int64_t end_ms;             /* of its lease, by the server's clock */
    char name[DUEQ_MAX_NAME];   /* of the other queue */
    size_t name_size, count;
    unsigned rounds;
    struct entry entries[MOST];
};

/* In a step. */
static struct relay *relay_of(dueq_client *client) { return client->op->parent->verb; }

/* The relay ends. What it has not done stays in the outbox. */
static void end(dueq_client *client) { dueq__op_finish(client, DUEQ_OK); }

/*
 * Begins a step; `other`: it is about the other queue, whose keys submit() frees. NULL: out of
 * memory, and the relay has ended.
 */
static struct dueq__op *begin(dueq_client *client, const struct dueq__script *script, bool other,
                              void (*decode)(dueq_client *, const struct dueq__reply *),
                              dueq__on_final *on_final, struct dueq__resp *words) {
    const struct relay *relay = client->op->verb;
    struct dueq__op *step = dueq__op_child(client, on_final);
    if (!step) {
        end(client);
        return NULL;
    }
    dueq__op_begin(relay->source, script, false);
    step->decode = decode;
    step->durable.wanted = relay->durability;
    /* If the server runs it late, when the entry is forgotten, it stores the entry again. */
    step->request.at_most_once = true;
    /* The caller does not wait for a node that is down: the entries wait in the outbox. */
    step->retry.skip_down_node = client->cluster != NULL;
    dueq__op_arguments(client, words);
    if (other && !dueq__keys_make(step->request.keys, relay->name, relay->name_size)) {
        step->request.keys[0] = (dueq_bytes){0};
        words->failed = true;
    }
    return step;
}

static void submit(dueq_client *client, struct dueq__op *step, struct dueq__resp *words,
                   bool other) {
    void *keys = other ? (void *)(uintptr_t)step->request.keys[0].data : NULL;
    step->parent->retry.deadline_ms = dueq__monotonic_ms() + PATIENCE_MS;
    dueq__op_child_submitted(client, step, dueq__op_submit(client, words));
    free(keys);
}

static void put_source(struct dueq__resp *words, const struct relay *relay) {
    dueq_bytes name = dueq__keys_name(relay->source->keys);
    dueq__resp_bytes(words, name.data, name.size);
}

static void take(dueq_client *client);

static void decode_forgotten(dueq_client *client, const struct dueq__reply *reply) {
    (void)reply;
    dueq__op_finish(client, DUEQ_OK);
}

static void on_forgotten(dueq_client *client, dueq_status status, dueq_result *result) {
    (void)result;
    if (status < 0)
        end(client);
    else
        take(client);
}

static void forget(dueq_client *client) {
    const struct relay *relay = client->op->verb;
    struct dueq__resp words;
    struct dueq__op *step =
        begin(client, &dueq__script_relay_forget, true, decode_forgotten, on_forgotten, &words);
    if (!step)
        return;
    put_source(&words, relay);
    for (size_t i = 0; i < relay->count; i++)
        dueq__resp_bytes(&words, relay->entries[i].ticket, relay->entries[i].size);
    submit(client, step, &words, true);
}

/* EMPTY: not all of the entries were taken out. */
static void decode_done(dueq_client *client, const struct dueq__reply *reply) {
    int64_t left;
    /*
     * Those that another relay has taken since it pushes again, and must not take them for new. So
     * it would where this queue's server loses the step.
     */
    bool all = dueq__durable_is_met(client->op) && dueq__reply_number(reply, &left) &&
               left == (int64_t)relay_of(client)->count;
    dueq__op_finish(client, all ? DUEQ_OK : DUEQ_EMPTY);
}

static void on_done(dueq_client *client, dueq_status status, dueq_result *result) {
    (void)result;
    if (status == DUEQ_OK)
        forget(client);
    else if (status == DUEQ_EMPTY)
        take(client);
    else
        end(client);
}

static void on_noted(dueq_client *client, dueq_status status, dueq_result *result) {
    (void)status;
    (void)result;
    end(client);
}

/* error: why nothing could be pushed; empty: the entries have their digits. */
static void done(dueq_client *client, const char *error) {
    const struct relay *relay = client->op->verb;
    struct dueq__resp words;
    struct dueq__op *step = begin(client, &dueq__script_relay_done, false, decode_done,
                                  *error ? on_noted : on_done, &words);
    if (!step)
        return;
    dueq__resp_number(&words, relay->end_ms);
    dueq__resp_bytes(&words, relay->name, relay->name_size);
    dueq__resp_text(&words, error);
    for (size_t i = 0; i < relay->count; i++) {
        dueq__resp_bytes(&words, relay->entries[i].ticket, relay->entries[i].size);
        dueq__resp_bytes(&words, &relay->entries[i].digit, 1);
    }
    submit(client, step, &words, false);
}

/*
 * EMPTY: it was too late, and another relay has the entries. Or they are not where they have to be:
 * the other queue may be on another server, and then this one's must not forget them yet.
 */
static void decode_put(dueq_client *client, const struct dueq__reply *reply) {
    struct relay *relay = relay_of(client);
    dueq_bytes digits;
    bool stored = dueq__reply_bytes(reply, &digits) && digits.size == relay->count &&
                  dueq__outcomes_are_valid(digits, digits.size) && dueq__durable_is_met(client->op);
    for (size_t i = 0; stored && i < relay->count; i++)
        relay->entries[i].digit = ((const char *)digits.data)[i];
    dueq__op_finish(client, stored ? DUEQ_OK : DUEQ_EMPTY);
}

/*
 * The outbox keeps with the entries why the other queue's server refused them. After a lost
 * connection nothing is known of them: they are tried again.
 */
static void on_put(dueq_client *client, dueq_status status, dueq_result *result) {
    struct dueq__error error = client->error;
    bool lost = status == DUEQ_CONNECT || status == DUEQ_CLOSED || status == DUEQ_TIMEOUT ||
                status == DUEQ_NO_MEMORY;
    (void)result;
    if (status == DUEQ_EMPTY || lost)
        end(client);
    else
        done(client, status < 0 ? error.text : "");
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

/* EMPTY: no entry is due. Else the step's result has the reply. */
static void decode_take(dueq_client *client, const struct dueq__reply *reply) {
    struct relay *relay = relay_of(client);
    struct dueq__error ignored = {0};
    dueq_bytes name = {0};
    size_t count = dueq__reply_count(reply);
    /* Where the server loses how the delivery ended, the message is to be in this queue alone. */
    bool sound = dueq__durable_is_met(client->op) &&
                 dueq__reply_number(dueq__reply_item(reply, TAKEN_END), &relay->end_ms) &&
                 dueq__reply_bytes(dueq__reply_item(reply, TAKEN_NAME), &name) &&
                 (count - TAKEN_FIXED) % TAKEN_EACH == 0 &&
                 !dueq__name_check(name.data, name.size, &ignored);
    if (!sound || count == TAKEN_FIXED) {
        dueq__op_finish(client, DUEQ_EMPTY);
        return;
    }
    memcpy(relay->name, name.data, name.size);
    relay->name_size = name.size;
    dueq_result *taken = dueq__result_new(NULL, 0, 0, &client->error);
    dueq__result_take_reply(taken, &client->reply);
    dueq__op_finish_result(client, taken, DUEQ_OK);
}

static void put(dueq_client *client, const struct dueq__reply *taken) {
    struct relay *relay = client->op->verb;
    struct dueq__resp words;
    struct dueq__op *step =
        begin(client, &dueq__script_relay_put, true, decode_put, on_put, &words);
    if (!step)
        return;
    bool sound = true;
    dueq__resp_number(&words, relay->end_ms - MARGIN_MS);
    put_source(&words, relay);
    for (size_t at = TAKEN_FIXED; sound && at < dueq__reply_count(taken); at += TAKEN_EACH)
        sound = add(relay, taken, at, &words);
    words.failed = words.failed || !sound;
    submit(client, step, &words, true);
}

static void on_taken(dueq_client *client, dueq_status status, dueq_result *result) {
    if (status == DUEQ_OK)
        put(client, result->reply);
    else
        end(client);
    dueq_result_free(result);
}

/* One round is for one other queue. */
static void take(dueq_client *client) {
    struct relay *relay = client->op->verb;
    struct dueq__resp words;
    if (relay->rounds++ == MOST_ROUNDS) {
        end(client);
        return;
    }
    relay->count = 0;
    struct dueq__op *step =
        begin(client, &dueq__script_relay_take, false, decode_take, on_taken, &words);
    if (!step)
        return;
    step->request.max_messages = MOST;
    dueq__resp_number(&words, AHEAD_MS);
    dueq__resp_number(&words, MOST);
    dueq__resp_number(&words, LEASE_MS);
    submit(client, step, &words, false);
}

void dueq__relay(dueq_client *client, dueq__on_final *on_final) {
    struct dueq__op *op = dueq__op_child(client, on_final);
    if (!op) {
        on_final(client, DUEQ_NO_MEMORY, NULL);
        return;
    }
    op->phase = DUEQ__PHASE_RUNNING;
    op->queue = op->parent->queue;
    struct relay *relay = dueq__op_state(client, sizeof *relay);
    if (!relay) {
        end(client);
        return;
    }
    relay->source = op->queue;
    relay->durability = dueq__durable_for(relay->source, &op->parent->durable.wanted);
    take(client);
}
