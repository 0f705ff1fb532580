#include <stdio.h>
#include <stdlib.h>

#include "verbs.h"

/*
 * The relay moves messages from a queue's outbox to other queues. Each step is a call of its own:
 * take entries for one other queue under a lease, put them into that queue, remove them from the
 * outbox (done), and have the other queue forget their tickets. Notes for batches are counted
 * where messages are put. A relay that died left a step without the next one. The relay after it
 * repeats the steps, which changes nothing more: docs/internals/protocol.md, "The outbox".
 */

#define LEASE_MS 30000
/*
 * relay_put refuses entries this long before the lease's end: the clocks of two servers differ, and
 * another relay may take the entries at the end.
 */
#define MARGIN_MS 5000
/* An entry is due in a second. The client that made the entry takes it this long before. */
#define AHEAD_MS 1000
/* The most entries of a round. */
#define MOST 100
/* The caller waits for the relay: each step may delay the answer of its call by so much. */
#define PATIENCE_MS 2000
#define MOST_ROUNDS 10

enum { TAKEN_END = 0, TAKEN_NAME = 1, TAKEN_FIXED = 2, TAKEN_EACH = 6 };

enum step { TAKE, PUT, COUNT, DONE, NOTE_FAILURE, FORGET };

struct entry {
    char ticket[DUEQ_MAX_ID + 32];
    size_t size;
    char digit;
};

/* The state of a relay, between its steps. */
struct relay {
    enum step step; /* that runs, or ran last */
    dueq_queue *source;
    dueq_durability durability; /* that each step must reach before the next one begins */
    int64_t end_ms;             /* when the lease of the entries ends, by the server's clock */
    char name[DUEQ_MAX_NAME];   /* of the other queue */
    size_t name_size, count;
    unsigned rounds;
    struct entry entries[MOST];
    size_t refused; /* how many of the entries, at their end, the other queue refused for now */
};

/* The relay whose step is the client's operation. */
static struct relay *relay_of(const dueq_client *client) { return client->op->parent->verb; }

/* The relay ends. The entries that it has not moved stay in the outbox. */
static void end(dueq_client *client) { dueq__op_finish(client, DUEQ_OK); }

/* What the steps make of their answers */

/* EMPTY: no entry is due. Otherwise the step's result has the reply, for put(). */
static void decode_take(dueq_client *client, const struct dueq__reply *reply) {
    struct relay *relay = relay_of(client);
    struct dueq__error ignored = {0};
    dueq_bytes name = {0};
    size_t count = dueq__reply_count(reply);
    /*
     * If this server loses how the delivery ended, the message is in this queue again. So it must
     * not be in the other queue before this server has stored the end durably.
     */
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

/*
 * EMPTY: the put came too late, and another relay takes the entries. Or the other queue's server
 * has not stored the entries durably: then this queue must not forget them yet.
 */
static void decode_put(dueq_client *client, const struct dueq__reply *reply) {
    struct relay *relay = relay_of(client);
    dueq_bytes digits;
    bool stored = dueq__reply_bytes(reply, &digits) &&
                  dueq__outcomes_are_valid(digits, relay->count) &&
                  dueq__durable_is_met(client->op);
    for (size_t i = 0; stored && i < relay->count; i++)
        relay->entries[i].digit = ((const char *)digits.data)[i];
    dueq__op_finish(client, stored ? DUEQ_OK : DUEQ_EMPTY);
}

/* EMPTY: entries of the round may still be in the outbox. */
static void decode_done(dueq_client *client, const struct dueq__reply *reply) {
    int64_t left;
    /*
     * Another relay has taken the entries that did not leave, and puts them again. The other queue
     * must know them then. The same holds if this server loses that they have left.
     */
    bool all = dueq__durable_is_met(client->op) && dueq__reply_number(reply, &left) &&
               left == (int64_t)relay_of(client)->count;
    dueq__op_finish(client, all ? DUEQ_OK : DUEQ_EMPTY);
}

static void decode_forget(dueq_client *client, const struct dueq__reply *reply) {
    (void)reply;
    dueq__op_finish(client, DUEQ_OK);
}

/* The steps */

static const struct {
    const struct dueq__script *script;
    dueq__decode *decode;
    bool other; /* it runs on the keys of the other queue */
} steps[] = {[TAKE] = {&dueq__script_relay_take, decode_take, false},
             [PUT] = {&dueq__script_relay_put, decode_put, true},
             [COUNT] = {&dueq__script_relay_count, decode_put, true},
             [DONE] = {&dueq__script_relay_done, decode_done, false},
             [NOTE_FAILURE] = {&dueq__script_relay_done, decode_done, false},
             [FORGET] = {&dueq__script_relay_forget, decode_forget, true}};

static void on_step(dueq_client *client, dueq_status status, dueq_result *result);

/* Begins a step, as client->op. False: out of memory, and the relay has ended. */
static bool begin(dueq_client *client, enum step number, struct dueq__resp *words) {
    struct relay *relay = client->op->verb;
    struct dueq__op *step = dueq__op_child(client, on_step);
    if (!step) {
        end(client);
        return false;
    }
    relay->step = number;
    dueq__op_begin(relay->source, steps[number].script, false);
    step->decode = steps[number].decode;
    step->durable.wanted = relay->durability;
    /* A put that the server runs late, after the forget, would store the message again. */
    step->request.at_most_once = true;
    /* The caller does not wait for a node that is down: the entries wait in the outbox. */
    step->retry.skip_down_node = client->cluster != NULL;
    dueq__op_arguments(client, words);
    if (steps[number].other) {
        words->failed = !dueq__keys_make(step->request.keys, relay->name, relay->name_size);
        if (!words->failed)
            step->request.named_keys = (void *)(uintptr_t)step->request.keys[0].data;
    }
    return true;
}

static void submit(dueq_client *client, struct dueq__resp *words) {
    struct dueq__op *step = client->op;
    step->parent->retry.deadline_ms = dueq__monotonic_ms() + PATIENCE_MS;
    dueq__op_child_submitted(client, step, dueq__op_submit(client, words));
}

static void put_source(struct dueq__resp *words, const struct relay *relay) {
    dueq_bytes name = dueq__keys_name(relay->source->keys);
    dueq__arg_put(words, &name, 1);
}

/* A round, for one other queue, begins. */
static void take(dueq_client *client) {
    struct relay *relay = client->op->verb;
    struct dueq__resp words;
    if (relay->rounds++ == MOST_ROUNDS) {
        end(client);
        return;
    }
    relay->count = 0;
    if (!begin(client, TAKE, &words))
        return;
    client->op->request.max_messages = MOST;
    dueq__resp_number(&words, AHEAD_MS);
    dueq__resp_number(&words, MOST);
    dueq__resp_number(&words, LEASE_MS);
    submit(client, &words);
}

/*
 * Keeps the ticket of an entry that was taken, and adds the entry to the put. False: the script
 * does not answer this.
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
    dueq__arg_put(words, &parts[1], TAKEN_EACH - 1);
    dueq__arg_put(words, &parts[0], 1);
    return true;
}

/* Whether the taken entries are notes for batches: relay_take mixes them with no others. */
static bool are_notes(const struct dueq__reply *taken) {
    dueq_bytes envelope;
    return dueq__reply_bytes(dueq__reply_item(taken, TAKEN_FIXED + 2), &envelope) &&
           envelope.size && *(const unsigned char *)envelope.data == DUEQ__NOTE_VERSION;
}

static void put(dueq_client *client, const struct dueq__reply *taken) {
    struct relay *relay = client->op->verb;
    struct dueq__resp words;
    if (!begin(client, are_notes(taken) ? COUNT : PUT, &words))
        return;
    bool sound = true;
    dueq__resp_number(&words, relay->end_ms - MARGIN_MS);
    put_source(&words, relay);
    for (size_t at = TAKEN_FIXED; sound && at < dueq__reply_count(taken); at += TAKEN_EACH)
        sound = add(relay, taken, at, &words);
    words.failed = words.failed || !sound;
    submit(client, &words);
}

/* Puts the entries whose groups are at their backlog in the other queue behind the others. */
static void sort_refused(struct relay *relay) {
    size_t kept = 0;
    for (size_t i = 0; i < relay->count; i++) {
        const struct entry entry = relay->entries[i];
        if (dueq__status_of(entry.digit) == DUEQ_BACKLOG)
            continue;
        relay->entries[i] = relay->entries[kept];
        relay->entries[kept++] = entry;
    }
    relay->refused = relay->count - kept;
}

/*
 * Tells this queue what became of the entries from index `from` to `end`. error: why they stay; "":
 * they have their digits.
 */
static void done(dueq_client *client, size_t from, size_t end, const char *error) {
    const struct relay *relay = client->op->verb;
    struct dueq__resp words;
    if (!begin(client, *error ? NOTE_FAILURE : DONE, &words))
        return;
    dueq__resp_number(&words, relay->end_ms);
    dueq__resp_bytes(&words, relay->name, relay->name_size);
    dueq__resp_text(&words, error);
    for (size_t i = from; i < end; i++) {
        dueq__resp_bytes(&words, relay->entries[i].ticket, relay->entries[i].size);
        dueq__resp_bytes(&words, &relay->entries[i].digit, 1);
    }
    submit(client, &words);
}

static void forget(dueq_client *client) {
    const struct relay *relay = client->op->verb;
    struct dueq__resp words;
    if (!begin(client, FORGET, &words))
        return;
    put_source(&words, relay);
    for (size_t i = 0; i < relay->count; i++)
        dueq__resp_bytes(&words, relay->entries[i].ticket, relay->entries[i].size);
    submit(client, &words);
}

/* A put has failed. Nobody knows what a server did whose connection was lost. */
static bool is_unknown(dueq_status status) {
    return status == DUEQ_CONNECT || status == DUEQ_CLOSED || status == DUEQ_TIMEOUT ||
           status == DUEQ_NO_MEMORY;
}

/* The refused entries stay in the outbox; then the others leave it, and the next round begins. */
static void put_ended(dueq_client *client) {
    struct relay *relay = client->op->verb;
    sort_refused(relay);
    if (relay->refused)
        done(client, relay->count - relay->refused, relay->count, dueq_status_text(DUEQ_BACKLOG));
    else
        done(client, 0, relay->count, "");
}

static void refusals_noted(dueq_client *client) {
    struct relay *relay = client->op->verb;
    relay->count -= relay->refused;
    relay->refused = 0;
    if (relay->count)
        done(client, 0, relay->count, "");
    else
        take(client);
}

/* A step has ended: begins the next one, or ends the relay. */
static void on_step(dueq_client *client, dueq_status status, dueq_result *result) {
    struct relay *relay = client->op->verb;
    struct dueq__error error = client->error;
    if (relay->step == TAKE && status == DUEQ_OK)
        put(client, result->reply);
    else if ((relay->step == PUT || relay->step == COUNT) && status == DUEQ_OK)
        put_ended(client);
    else if ((relay->step == PUT || relay->step == COUNT) && status != DUEQ_EMPTY &&
             !is_unknown(status))
        done(client, 0, relay->count, error.text);
    else if (relay->step == NOTE_FAILURE && status >= 0 && relay->refused)
        refusals_noted(client);
    else if (relay->step == DONE && status == DUEQ_OK)
        forget(client);
    else if ((relay->step == DONE && status == DUEQ_EMPTY) ||
             (relay->step == FORGET && status >= 0))
        take(client);
    else
        end(client);
    dueq_result_free(result);
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
