#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "request.h"

/*
 * A call that waits sits in one blocking command, for a queue BZPOPMIN on its wake token, on a connection
 * of its own, and keeps the next due time of each by its own clock: the server ends blocking
 * commands on its hz tick, up to 100 ms late. Where that time is close it does not block at all. Which
 * consumers keep a queue's time is its script's decision (its timekeeper lease). Queues of other systems have
 * no timekeeper and no probes: each who waits looks.
 */

/*
 * How often a consumer that nobody wakes probes whether it was forgotten (a wake token went to a consumer
 * that died): one plain command, in turn about ready messages and about the next time. Spread, so that
 * consumers do not probe at once, nor all about the same.
 */
#define PROBE_MS 12000
#define PROBE_SPREAD_MS 3000
/* How long a time may be over before a probe takes it for forgotten by its timekeeper. */
#define OVERDUE_MS 500
/*
 * A look so soon is waited for without a block, which would have to be ended first: three commands for each message
 * become one where they fall due at a rate. A message that is pushed ready meanwhile waits for that look.
 */
#define SOON_US 5000
/* A block's own end, so that a vanished consumer does not stay in the server's list for ever. */
#define LONGEST_BLOCK_MS 300000
/* How often a call looks while its waiting connections cannot be had: the server may be gone, or full. */
#define BLIND_PAUSE_MS 1000
/* How often a call that waits for a list looks while the server has no memory to park anything. */
#define FULL_PAUSE_MS 500

static bool patient(const struct dueq__wait *wait) { return dueq__monotonic_ms() < wait->until_ms; }

static uint16_t draw(void) {
    uint16_t chance;
    dueq__id_random(&chance, sizeof chance);
    return chance;
}

static int64_t next_probe_ms(void) {
    return dueq__monotonic_ms() + PROBE_MS + PROBE_SPREAD_MS * draw() / 65536;
}

/* ---- Asking ---- */

dueq_status dueq__wait_begin(dueq_queue *queue, const struct dueq__script *script, size_t count,
                             int64_t timeout_ms) {
    dueq_client *client = queue->client;
    dueq_status status = dueq__call_begin(queue, script, true);
    if (status)
        return status;
    struct dueq__wait *wait = &client->call.wait;
    wait->watches = calloc(count, sizeof *wait->watches);
    if (!wait->watches)
        return dueq__call_no_memory(client);
    for (size_t i = 0; i < count; i++)
        wait->watches[i] = (struct dueq__watch){.ask = true, .look_us = DUEQ__NEVER};
    wait->watch_count = count;
    wait->begun = 1;
    wait->probes = draw() % 2;
    int64_t now = dueq__monotonic_ms();
    if (timeout_ms)
        wait->until_ms =
            timeout_ms == DUEQ_FOREVER ? DUEQ__NEVER - DUEQ_MAX_TIME_MS : now + timeout_ms;
    client->call.patient_ms = wait->until_ms;
    wait->end_ms = (timeout_ms ? wait->until_ms : now) + client->url.timeout_ms;
    return DUEQ_OK;
}

dueq_status dueq__wait_ask(dueq_client *client, size_t at) {
    struct dueq__call *call = &client->call;
    struct dueq__wait *wait = &call->wait;
    struct dueq__watch *watch = &wait->watches[at];
    /* Before each was asked once, only the last can tell that there is nothing. */
    bool stay = patient(wait) && wait->begun == wait->watch_count;
    wait->at = at;
    watch->ask = !stay;
    if (call->queue != watch->queue)
        memcpy(call->keys, watch->queue->keys, sizeof call->keys);
    call->queue = watch->queue;
    return wait->ask(client, stay);
}

dueq_status dueq__wait_quietly(dueq_client *client) {
    struct dueq__wait *wait = &client->call.wait;
    for (size_t i = 0; i < wait->watch_count; i++)
        wait->watches[i].ask = false;
    wait->begun = wait->watch_count;
    wait->probe_ms = next_probe_ms();
    client->error = (struct dueq__error){0};
    client->call.phase = DUEQ__PHASE_WAITING;
    return DUEQ_PENDING;
}

static size_t first_to_ask(const struct dueq__wait *wait) {
    size_t i = 0;
    while (i < wait->watch_count && !wait->watches[i].ask)
        i++;
    return i;
}

static size_t first_to_look(const struct dueq__wait *wait) {
    size_t first = 0;
    for (size_t i = 1; i < wait->watch_count; i++)
        if (wait->watches[i].look_us < wait->watches[first].look_us)
            first = i;
    return first;
}

void dueq__wait_nothing(dueq_client *client, int64_t now, int64_t pause_us) {
    struct dueq__wait *wait = &client->call.wait;
    wait->ahead_ms = now - dueq__monotonic_ms();
    wait->watches[wait->at].look_us =
        pause_us < 0 ? DUEQ__NEVER : dueq__monotonic_us() + pause_us + wait->slack_us;
    if (wait->begun < wait->watch_count) {
        dueq__wait_ask(client, wait->begun++);
    } else if (!patient(wait)) {
        dueq__wait_end(client);
    } else if (first_to_ask(wait) < wait->watch_count) {
        dueq__wait_ask(client, first_to_ask(wait));
    } else {
        client->call.phase = DUEQ__PHASE_WAITING;
        wait->probing = false;
        wait->probe_ms = next_probe_ms();
    }
}

void dueq__wait_look_by(dueq_client *client, int64_t look_us) {
    struct dueq__wait *wait = &client->call.wait;
    for (size_t i = 0; i < wait->watch_count; i++)
        if (look_us < wait->watches[i].look_us)
            wait->watches[i].look_us = look_us;
}

void dueq__wait_blind(dueq_client *client) {
    dueq__wait_look_by(client, dueq__monotonic_us() + 1000 * BLIND_PAUSE_MS);
}

/* ---- The waiting connection ---- */

/* Is there anything that it blocks on? */
static bool may_block(const struct dueq__wait *wait) {
    return !wait->foreign || wait->foreign->block;
}

static bool send_block(dueq_client *client, int64_t left_ms) {
    const struct dueq__wait *wait = &client->call.wait;
    struct dueq__resp words;
    const struct dueq__resp *all = &words;
    char seconds[32];
    dueq__resp_init(&words);
    if (wait->foreign) {
        wait->foreign->block(client, &words);
    } else {
        dueq__resp_text(&words, "BZPOPMIN");
        for (size_t i = 0; i < wait->watch_count; i++)
            dueq__resp_bytes(&words, wait->watches[i].wake.data, wait->watches[i].wake.size);
    }
    snprintf(seconds, sizeof seconds, "%" PRId64 ".%03" PRId64, left_ms / 1000, left_ms % 1000);
    dueq__resp_text(&words, seconds);
    bool sent = dueq__conn_send(client->waiter, &all, 1);
    dueq__resp_free(&words);
    return sent;
}

static void block(dueq_client *client) {
    struct dueq__wait *wait = &client->call.wait;
    int64_t now = dueq__monotonic_ms(), left = wait->until_ms - now + 1000;
    int64_t look_ms = wait->watches[first_to_look(wait)].look_us / 1000;
    if (client->no_unblock)
        left = (look_ms < wait->until_ms ? look_ms : wait->until_ms) - now;
    if (client->no_unblock && wait->probe_ms - now < left)
        left = wait->probe_ms - now;
    left = left < 1 ? 1 : left > LONGEST_BLOCK_MS ? LONGEST_BLOCK_MS : left;
    wait->blocked = send_block(client, left);
    if (wait->blocked)
        dueq__conn_pump(client->waiter);
    else
        dueq__wait_close(client);
}

/* The block's answer: nil, a list that begins with the key, or an item that was parked, alone. */
static void unblocked(struct dueq__wait *wait, const struct dueq__reply *reply) {
    dueq_bytes key;
    bool parked = dueq__reply_bytes(reply, &key);
    if (!parked && !dueq__reply_bytes(dueq__reply_item(reply, 0), &key))
        return;
    for (size_t i = 0; i < wait->watch_count; i++)
        if (parked || dueq__same(key, wait->watches[i].wake))
            wait->watches[i].token = wait->watches[i].ask = true;
}

/* A wait that ended with neither a wake token nor a nil: an error of its own, or a passing one. */
static void refused(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__watch *watch = client->call.wait.watches;
    struct dueq__error error = {0};
    dueq_status status = dueq__reply_error(reply, &error);
    if (client->call.phase == DUEQ__PHASE_ENDING)
        return;
    if (status == DUEQ_FULL) {
        /* Nothing can be parked, but taken. */
        dueq__again_later(client, error.text);
        if (watch->look_us == DUEQ__NEVER)
            watch->look_us = dueq__monotonic_us() + FULL_PAUSE_MS * 1000;
    } else if (dueq__again_refused(client, &error)) {
        /* Meanwhile requests find out whether it has passed, perhaps on another server. */
        dueq__wait_close(client);
        dueq__wait_blind(client);
    } else {
        client->error = error;
        dueq__call_finish(client, status);
    }
}

void dueq__wait_lost(dueq_client *client, const struct dueq__conn *conn, bool was_on) {
    struct dueq__call *call = &client->call;
    if (call->phase == DUEQ__PHASE_WAITING && dueq__again_hopeless(client, conn->error.status)) {
        client->error = conn->error;
        dueq__call_finish(client, conn->error.status);
        return;
    }
    dueq__again_later(client, conn->error.text);
    if (call->phase == DUEQ__PHASE_ENDING)
        dueq__wait_end(client);
    else if (call->phase == DUEQ__PHASE_WAITING && was_on)
        /* The request also finds out whether the server is there. */
        dueq__wait_ask(client, 0);
    else if (call->phase == DUEQ__PHASE_WAITING)
        dueq__wait_blind(client);
}

/* Takes in what the server says of the block. */
static void take_waited(dueq_client *client) {
    struct dueq__wait *wait = &client->call.wait;
    struct dueq__reply *reply;
    while (dueq__call_under_way(client) && (reply = dueq__conn_reply(client->waiter))) {
        if (!wait->blocked) {
            dueq__wait_close(client);
            dueq__command_unasked(client);
        } else {
            wait->blocked = wait->unblocking = false;
            if (dueq__reply_is_error(reply))
                refused(client, reply);
            else
                unblocked(wait, reply);
            if (client->call.phase == DUEQ__PHASE_ENDING)
                dueq__wait_end(client);
        }
        dueq__reply_free(reply);
    }
}

static bool looks_soon(const struct dueq__wait *wait) {
    return wait->watches[first_to_look(wait)].look_us <= dueq__monotonic_us() + SOON_US;
}

/* Is it to block now? */
static bool blocks(const dueq_client *client) {
    const struct dueq__call *call = &client->call;
    return client->waiter->state == DUEQ__CONN_READY && !call->wait.blocked &&
           call->phase == DUEQ__PHASE_WAITING &&
           first_to_ask(&call->wait) == call->wait.watch_count &&
           dueq__monotonic_ms() >= call->retry_ms && !looks_soon(&call->wait);
}

static void pump_waiter(dueq_client *client) {
    struct dueq__call *call = &client->call;
    struct dueq__wait *wait = &call->wait;
    if (!may_block(wait))
        return;
    if (client->waiter->state == DUEQ__CONN_CLOSED && !client->waiter->up &&
        (call->phase != DUEQ__PHASE_WAITING || dueq__monotonic_ms() < call->retry_ms ||
         !dueq__command_connect(client, client->waiter)))
        return;
    dueq__conn_pump(client->waiter);
    if (client->waiter->state == DUEQ__CONN_READY) {
        if (client->waiter->id == 0)
            client->no_unblock = true;
        take_waited(client);
        while (patient(wait) && blocks(client)) {
            block(client);
            take_waited(client);
        }
    }
    if (client->waiter->up && client->waiter->state == DUEQ__CONN_CLOSED) {
        /* A wake token may be lost with it. */
        bool blocked = wait->blocked;
        dueq__wait_close(client);
        dueq__wait_lost(client, client->waiter, blocked);
    }
}

/* ---- The timer ---- */

/* The queue whose next time this probe is about; NULL: it is about what there is in any. */
static struct dueq__watch *probed_watch(const struct dueq__wait *wait) {
    bool times = !wait->locks && wait->probes % 2 == 1;
    return times ? &wait->watches[wait->probes / 2 % wait->watch_count] : NULL;
}

static bool send_probe(dueq_client *client) {
    struct dueq__wait *wait = &client->call.wait;
    static const enum dueq__key lines[] = {DUEQ__KEY_READY, DUEQ__KEY_HIGH, DUEQ__KEY_LOW};
    if (wait->probing || wait->foreign)
        return false;
    const struct dueq__watch *watch = probed_watch(wait);
    struct dueq__resp words;
    dueq__resp_init(&words);
    dueq__resp_text(&words, watch ? "HGET" : "EXISTS");
    if (watch) {
        dueq_bytes meta = watch->queue->keys[DUEQ__KEY_META];
        dueq__resp_bytes(&words, meta.data, meta.size);
        dueq__resp_text(&words, "next_event");
    } else if (wait->locks) {
        dueq_bytes lock = client->call.keys[DUEQ__KEY_LOCK];
        dueq__resp_bytes(&words, lock.data, lock.size);
    } else {
        for (size_t i = 0; i < wait->watch_count; i++)
            for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
                dueq_bytes line = wait->watches[i].queue->keys[lines[k]];
                dueq__resp_bytes(&words, line.data, line.size);
            }
    }
    wait->probing = dueq__command_send_resp(client, DUEQ__ANSWER_PROBE, &words);
    dueq__resp_free(&words);
    if (!wait->probing)
        return false;
    wait->probe_ms = dueq__monotonic_ms() + client->url.timeout_ms;
    dueq__conn_flush(client->command);
    return true;
}

void dueq__wait_probed(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__wait *wait = &client->call.wait;
    int64_t number = 0;
    if (!wait->probing)
        return;
    const struct dueq__watch *watch = probed_watch(wait);
    wait->probing = false;
    wait->probes++;
    if (client->call.phase != DUEQ__PHASE_WAITING)
        return;
    wait->probe_ms = next_probe_ms();
    bool known = dueq__reply_number(reply, &number) && number >= 0 && number <= DUEQ_MAX_TIME_MS;
    bool forgotten = watch         ? number + OVERDUE_MS < dueq__monotonic_ms() + wait->ahead_ms
                     : wait->locks ? number == 0
                                   : number > 0;
    if (!dueq__reply_is_error(reply) && !(known && forgotten))
        return;
    /* Whoever was to see to it did not: this consumer takes that over. */
    for (size_t i = 0; i < wait->watch_count; i++)
        if (!watch || watch == &wait->watches[i])
            wait->watches[i].token = wait->watches[i].ask = true;
    dueq__wait_ask(client, first_to_ask(wait));
}

/* It is time to look: as its timekeeper, or because a probe was not answered. */
static void look(dueq_client *client, size_t at) {
    struct dueq__wait *wait = &client->call.wait;
    if (wait->probing)
        dueq__command_drop(client);
    wait->probing = false;
    /* As timekeeper there is likely something: the block ends first, so that it cannot take the wake token
     * which this very request may set for another consumer. */
    if (wait->watches[at].timekeeper && wait->blocked && !client->no_unblock)
        dueq__wait_unblock(client);
    dueq__wait_ask(client, at);
}

void dueq__wait_pump(dueq_client *client) {
    struct dueq__call *call = &client->call;
    struct dueq__wait *wait = &call->wait;
    pump_waiter(client);
    if (wait->foreign && wait->foreign->pump)
        wait->foreign->pump(client);
    dueq__wait_end_pump(client);
    if (call->phase != DUEQ__PHASE_WAITING)
        return;
    int64_t now = dueq__monotonic_ms();
    size_t due = first_to_look(wait);
    if (patient(wait) && first_to_ask(wait) < wait->watch_count) {
        dueq__wait_ask(client, first_to_ask(wait));
    } else if (!patient(wait)) {
        dueq__wait_end(client);
    } else if (dueq__monotonic_us() >= wait->watches[due].look_us) {
        look(client, due);
    } else if (now >= wait->probe_ms && (client->no_unblock || !send_probe(client))) {
        for (size_t i = 0; i < wait->watch_count; i++)
            wait->watches[i].ask = true;
        look(client, 0);
    }
}

/* Is it to connect, or to block, once a back-off is over? */
static bool block_due(const dueq_client *client) {
    const struct dueq__wait *wait = &client->call.wait;
    return may_block(wait) && !wait->blocked &&
           (!client->waiter->up ||
            (client->waiter->state == DUEQ__CONN_READY && !looks_soon(wait)));
}

int64_t dueq__wait_next_us(const dueq_client *client) {
    const struct dueq__call *call = &client->call;
    const struct dueq__wait *wait = &call->wait;
    int64_t next = DUEQ__NEVER / 1000;
    bool waiting = call->phase == DUEQ__PHASE_WAITING;
    if (waiting) {
        next = wait->until_ms < wait->probe_ms ? wait->until_ms : wait->probe_ms;
        if (block_due(client) && call->retry_ms < next)
            next = call->retry_ms;
        if (wait->foreign && wait->foreign->next_ms && wait->foreign->next_ms(client) < next)
            next = wait->foreign->next_ms(client);
    }
    if (call->phase == DUEQ__PHASE_ENDING)
        next = call->deadline_ms;
    if (wait->blocked && wait->unblocking && wait->unblock_ms < next &&
        !dueq__command_awaits(client, DUEQ__ANSWER_UNBLOCK))
        next = wait->unblock_ms;
    next = next < DUEQ__NEVER / 1000 ? next * 1000 : DUEQ__NEVER;
    int64_t look_us = waiting ? wait->watches[first_to_look(wait)].look_us : DUEQ__NEVER;
    return look_us < next ? look_us : next;
}
