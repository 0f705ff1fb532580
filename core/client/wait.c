#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

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
/* How often a call looks while its waiting connections cannot be had: the server may be gone, or full. */
#define BLIND_PAUSE_MS 1000

static bool patient(const struct dueq__wait *wait) { return dueq__monotonic_ms() < wait->until_ms; }

/* A probe is about one slot. */
static int64_t next_probe_ms(const dueq_client *client) {
    int64_t pause = PROBE_MS + dueq__random_below(PROBE_SPREAD_MS);
    return dueq__monotonic_ms() + pause / (int64_t)dueq__wait_conn_count(client);
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
    wait->probes = (unsigned)dueq__random_below(2);
    int64_t now = dueq__monotonic_ms();
    if (timeout_ms)
        wait->until_ms =
            timeout_ms == DUEQ_FOREVER ? DUEQ__NEVER - DUEQ_MAX_TIME_MS : now + timeout_ms;
    client->call.retry_until_ms = wait->until_ms;
    wait->end_ms = (timeout_ms ? wait->until_ms : now) + client->url.timeout_ms;
    return DUEQ_OK;
}

dueq_status dueq__wait_request(dueq_client *client, size_t at) {
    struct dueq__call *call = &client->call;
    struct dueq__wait *wait = &call->wait;
    struct dueq__watch *watch = &wait->watches[at];
    /* Before each was asked once, only the last can tell that there is nothing; but where nobody else looks. */
    bool stay = patient(wait) && (wait->ordered || wait->begun == wait->watch_count);
    const struct dueq__unanswered *doubt = &watch->queue->doubt;
    wait->at = at;
    watch->ask = !stay;
    watch->declared = watch->token || watch->timekeeper;
    if (call->queue != watch->queue)
        memcpy(call->keys, watch->queue->keys, sizeof call->keys);
    call->queue = watch->queue;
    dueq_status status = wait->ask(client, stay);
    if (doubt->count == wait->count && doubt->lease_ms == wait->lease_ms &&
        doubt->default_lease_ms == wait->default_lease_ms)
        call->doubtful = doubt->number;
    return status;
}

/* Those that are not to be asked count as asked. */
static void pass_quiet(struct dueq__wait *wait) {
    while (wait->begun < wait->watch_count && !wait->watches[wait->begun].ask)
        wait->begun++;
}

static dueq_status ask_next(dueq_client *client) {
    struct dueq__wait *wait = &client->call.wait;
    size_t at = wait->begun++;
    pass_quiet(wait);
    return dueq__wait_request(client, at);
}

dueq_status dueq__wait_start(dueq_client *client) {
    struct dueq__wait *wait = &client->call.wait;
    wait->begun = 0;
    pass_quiet(wait);
    if (wait->begun < wait->watch_count)
        return ask_next(client);
    wait->probe_ms = next_probe_ms(client);
    if (client->cluster)
        client->call.slot = dueq__slot(client->call.keys[DUEQ__KEY_FIRST]);
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

/* What comes after the answer about a queue, or without one. */
static void go_on(dueq_client *client) {
    struct dueq__wait *wait = &client->call.wait;
    if (wait->begun < wait->watch_count) {
        ask_next(client);
    } else if (!patient(wait)) {
        dueq__wait_finish(client);
    } else if (first_to_ask(wait) < wait->watch_count) {
        dueq__wait_request(client, first_to_ask(wait));
    } else {
        client->call.phase = DUEQ__PHASE_WAITING;
        wait->probing = false;
        wait->probe_ms = next_probe_ms(client);
    }
}

void dueq__wait_found_nothing(dueq_client *client, int64_t now, int64_t pause_us) {
    struct dueq__watch *watch = &client->call.wait.watches[client->call.wait.at];
    watch->away = watch->declared = false;
    watch->ahead_ms = now - dueq__monotonic_ms();
    watch->look_us =
        pause_us < 0 ? DUEQ__NEVER : dueq__monotonic_us() + pause_us + client->call.wait.slack_us;
    go_on(client);
}

bool dueq__wait_all_nodes_down(const struct dueq__wait *wait) {
    bool away = true;
    for (size_t i = 0; i < wait->watch_count; i++)
        away = away && wait->watches[i].away;
    return away;
}

bool dueq__wait_skip_down_node(dueq_client *client) {
    struct dueq__call *call = &client->call;
    struct dueq__wait *wait = &call->wait;
    if (!client->cluster || wait->watch_count < 2 || dueq__call_settlement(call))
        return false;
    struct dueq__watch *watch = &wait->watches[wait->at];
    watch->away = true;
    if (!patient(wait) && dueq__wait_all_nodes_down(wait))
        return false;
    dueq__outage_log_failure(client, client->error.text);
    if (call->doubtful)
        watch->queue->doubt = (struct dueq__unanswered){call->doubtful, wait->count, wait->lease_ms,
                                                        wait->default_lease_ms};
    /* What that node counts on this client for, others find out by their probes. */
    watch->ask = watch->timekeeper = watch->token = false;
    watch->look_us = dueq__monotonic_us() + 1000 * BLIND_PAUSE_MS;
    go_on(client);
    return true;
}

void dueq__wait_on_node_back(dueq_client *client, const struct dueq__node *node) {
    const struct dueq__call *call = &client->call;
    const struct dueq__wait *wait = &call->wait;
    for (size_t i = 0; i < wait->watch_count; i++) {
        struct dueq__watch *watch = &wait->watches[i];
        bool asked = call->phase == DUEQ__PHASE_RUNNING && i == wait->at;
        if (watch->away && !asked && dueq__route_node(watch->queue) == node)
            watch->ask = true;
    }
}

void dueq__wait_check_by(dueq_client *client, int64_t look_us) {
    struct dueq__wait *wait = &client->call.wait;
    for (size_t i = 0; i < wait->watch_count; i++)
        if (look_us < wait->watches[i].look_us)
            wait->watches[i].look_us = look_us;
}

void dueq__wait_fall_back_to_checks(dueq_client *client) {
    dueq__wait_check_by(client, dueq__monotonic_us() + 1000 * BLIND_PAUSE_MS);
}

void dueq__wait_on_conn_lost(dueq_client *client, const struct dueq__conn *conn, bool was_on) {
    struct dueq__call *call = &client->call;
    if (call->phase == DUEQ__PHASE_WAITING && dueq__backoff_is_fatal(client, &conn->error)) {
        client->error = conn->error;
        dueq__call_finish(client, conn->error.status);
        return;
    }
    dueq__backoff_retry_later(client, conn->error.text);
    if (call->phase == DUEQ__PHASE_ENDING)
        dueq__wait_finish(client);
    else if (call->phase == DUEQ__PHASE_WAITING && was_on) {
        int64_t retry_ms = call->retry_ms;
        /* The request also finds out whether the server is there. */
        dueq__wait_request(client, first_to_ask(&call->wait) % call->wait.watch_count);
        call->retry_ms = retry_ms;
    } else if (call->phase == DUEQ__PHASE_WAITING)
        dueq__wait_fall_back_to_checks(client);
}

int64_t dueq__wait_next_check_us(const struct dueq__wait *wait) {
    return wait->watches[first_to_look(wait)].look_us;
}

bool dueq__wait_checks_soon(const struct dueq__wait *wait) {
    return dueq__wait_next_check_us(wait) <= dueq__monotonic_us() + SOON_US;
}

bool dueq__wait_may_block(const dueq_client *client) {
    const struct dueq__call *call = &client->call;
    return call->phase == DUEQ__PHASE_WAITING && patient(&call->wait) &&
           first_to_ask(&call->wait) == call->wait.watch_count &&
           dueq__monotonic_ms() >= call->retry_ms && !dueq__wait_checks_soon(&call->wait);
}

/* ---- The timer ---- */

/* The queue that this probe is about. */
static struct dueq__watch *probed_watch(const struct dueq__wait *wait) {
    return &wait->watches[wait->probes / 2 % wait->watch_count];
}

/* Is it about that queue's next time, and not about what there is in any of its slot? */
static bool probes_time(const struct dueq__wait *wait) {
    return !wait->locks && wait->probes % 2 == 1;
}

static bool is_probed(const struct dueq__wait *wait, const struct dueq__watch *watch) {
    const struct dueq__watch *probed = probed_watch(wait);
    return watch == probed || (!probes_time(wait) && watch->waiter == probed->waiter);
}

static bool send_probe(dueq_client *client) {
    struct dueq__wait *wait = &client->call.wait;
    static const enum dueq__key lines[] = {DUEQ__KEY_READY, DUEQ__KEY_HIGH, DUEQ__KEY_LOW};
    if (wait->probing || wait->foreign)
        return false;
    const struct dueq__watch *watch = probed_watch(wait);
    bool time = probes_time(wait);
    struct dueq__node *node = dueq__route_node(watch->queue);
    if (!node)
        return false;
    client->node = node;
    struct dueq__resp words;
    dueq__resp_init(&words);
    dueq__resp_text(&words, time ? "HGET" : "EXISTS");
    if (time) {
        dueq_bytes meta = watch->queue->keys[DUEQ__KEY_META];
        dueq__resp_bytes(&words, meta.data, meta.size);
        dueq__resp_text(&words, "next_event");
    } else if (wait->locks) {
        dueq_bytes lock = client->call.keys[DUEQ__KEY_LOCK];
        dueq__resp_bytes(&words, lock.data, lock.size);
    } else {
        for (size_t i = 0; i < wait->watch_count; i++)
            for (size_t k = 0; is_probed(wait, &wait->watches[i]) && k < 3; k++) {
                dueq_bytes line = wait->watches[i].queue->keys[lines[k]];
                dueq__resp_bytes(&words, line.data, line.size);
            }
    }
    wait->probing = dueq__node_send_resp(node, DUEQ__EXPECT_PROBE, &words);
    dueq__resp_free(&words);
    if (!wait->probing)
        return false;
    wait->probe_ms = dueq__monotonic_ms() + client->url.timeout_ms;
    dueq__conn_flush(&node->conn);
    return true;
}

void dueq__wait_on_probe(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__wait *wait = &client->call.wait;
    int64_t number = 0;
    if (!wait->probing)
        return;
    wait->probing = false;
    if (client->call.phase != DUEQ__PHASE_WAITING) {
        wait->probes++;
        return;
    }
    wait->probe_ms = next_probe_ms(client);
    bool known = dueq__reply_number(reply, &number) && number >= 0 && number <= DUEQ_MAX_TIME_MS;
    int64_t server_ms = dueq__monotonic_ms() + probed_watch(wait)->ahead_ms;
    bool forgotten = probes_time(wait) ? number + OVERDUE_MS < server_ms
                     : wait->locks     ? number == 0
                                       : number > 0;
    bool takes_over = dueq__reply_is_error(reply) || (known && forgotten);
    /* Whoever was to see to it did not: this consumer takes that over. */
    for (size_t i = 0; takes_over && i < wait->watch_count; i++)
        if (is_probed(wait, &wait->watches[i]))
            wait->watches[i].token = wait->watches[i].ask = true;
    wait->probes++;
    if (takes_over)
        dueq__wait_request(client, first_to_ask(wait));
}

/* It is time to look: as its timekeeper, or because a probe was not answered. */
static void look(dueq_client *client, size_t at) {
    struct dueq__wait *wait = &client->call.wait;
    if (wait->probing)
        dueq__node_drop(client, client->node);
    wait->probing = false;
    /* As timekeeper there is likely something: the block ends first, so that it cannot take the wake token
     * which this very request may set for another consumer. */
    struct dueq__wait_conn *waiter = wait->watches[at].waiter;
    if ((wait->watches[at].timekeeper || wait->ordered) && waiter && waiter->blocked &&
        !client->no_unblock)
        dueq__wait_conn_unblock(client, waiter);
    dueq__wait_request(client, at);
}

void dueq__wait_pump(dueq_client *client) {
    struct dueq__call *call = &client->call;
    struct dueq__wait *wait = &call->wait;
    dueq__wait_conn_pump_all(client);
    if (wait->foreign && wait->foreign->pump)
        wait->foreign->pump(client);
    dueq__wait_finish_pump(client);
    if (call->phase != DUEQ__PHASE_WAITING)
        return;
    int64_t now = dueq__monotonic_ms();
    size_t due = first_to_look(wait);
    if (patient(wait) && first_to_ask(wait) < wait->watch_count) {
        dueq__wait_request(client, first_to_ask(wait));
    } else if (!patient(wait)) {
        dueq__wait_finish(client);
    } else if (dueq__monotonic_us() >= wait->watches[due].look_us) {
        look(client, due);
    } else if (now >= wait->probe_ms && (client->no_unblock || !send_probe(client))) {
        for (size_t i = 0; i < wait->watch_count; i++)
            wait->watches[i].ask = true;
        look(client, 0);
    }
}

int64_t dueq__wait_next_us(const dueq_client *client) {
    const struct dueq__call *call = &client->call;
    const struct dueq__wait *wait = &call->wait;
    int64_t next = DUEQ__NEVER / 1000;
    bool waiting = call->phase == DUEQ__PHASE_WAITING;
    if (waiting) {
        next = wait->until_ms < wait->probe_ms ? wait->until_ms : wait->probe_ms;
        if (dueq__wait_conn_due(client) && dueq__wait_conn_retry_ms(client) < next)
            next = dueq__wait_conn_retry_ms(client);
        if (wait->foreign && wait->foreign->next_ms && wait->foreign->next_ms(client) < next)
            next = wait->foreign->next_ms(client);
    }
    if (call->phase == DUEQ__PHASE_ENDING)
        next = call->deadline_ms;
    int64_t block_ms = dueq__wait_conn_next_ms(client);
    next = block_ms < next ? block_ms : next;
    next = next < DUEQ__NEVER / 1000 ? next * 1000 : DUEQ__NEVER;
    int64_t look_us = waiting ? dueq__wait_next_check_us(wait) : DUEQ__NEVER;
    return look_us < next ? look_us : next;
}
