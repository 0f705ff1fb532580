#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

/*
 * A call that waits sends one blocking command, on a connection of its own: BZPOPMIN of the wake
 * keys. Meanwhile it keeps the time of each queue's next check by its own clock, because the server
 * ends blocking commands at its hz tick, up to 100 ms late. If that time is close, the call does
 * not block at all. A queue's script decides which consumers keep its time: the timekeepers. A wake
 * token with the time of an event makes the call that takes it a timekeeper without a request.
 * Queues of other systems have no timekeepers and no probes: each call that waits checks them.
 */

/*
 * How often a consumer that is not woken sends a probe, in case the wake token went to a consumer
 * that died: one plain command, in turn about ready messages and about the next event. The spread
 * keeps consumers from probing at the same time.
 */
#define PROBE_MS 12000
#define PROBE_SPREAD_MS 3000
/* The timekeeper has missed an event that was due this long ago: a probe takes over. */
#define OVERDUE_MS 500
/*
 * If a check comes this soon, the call waits without a block, which it would have to end first. If
 * messages fall due one after the other, that saves two of three commands for each. A message that
 * is pushed ready in this time waits for the check.
 */
#define SOON_US 5000
/*
 * How often a call checks its queues while its waiting connections cannot be made: the server may
 * be gone, or full.
 */
#define FALLBACK_CHECK_MS 1000
/*
 * A difference to the server's clock counts for this long, in which two clocks drift apart by few
 * ms. A client that has none, or one that may be wrong by more ms than this, asks when it is woken
 * for the time of an event. The answer tells the pause.
 */
#define CLOCK_US 60000000
#define CLOCK_ERROR_MS 4
/* The most wake keys of one EXISTS of a look. */
#define LOOK_KEYS 32

static bool has_time_left(const struct dueq__wait *wait) {
    return dueq__monotonic_ms() < wait->until_ms;
}

bool dueq__wait_is_idle(const struct dueq__op *op) {
    return op->phase == DUEQ__PHASE_WAITING || op->phase == DUEQ__PHASE_PROBING;
}

/* When to probe next. A probe is about one slot: of several slots each has its turn. */
static int64_t next_probe_ms(const dueq_client *client) {
    int64_t pause = PROBE_MS + dueq__random_below(PROBE_SPREAD_MS);
    return dueq__monotonic_ms() + pause / (int64_t)dueq__wait_conn_count(client);
}

/*
 * Sets when to probe, as a wait begins or goes on after a request. With `looks` the time stays as
 * an earlier wait left it: the call skips queues that had no message, so only probes find what was
 * lost there.
 */
static void set_probe_time(dueq_client *client) {
    struct dueq__wait *wait = &client->op->wait;
    if (!wait->probe_ms || !wait->terms.looks)
        wait->probe_ms = next_probe_ms(client);
}

/* Asking */

dueq_status dueq__wait_begin(dueq_queue *queue, const struct dueq__script *script, size_t count,
                             const struct dueq__wait_terms *terms) {
    dueq_client *client = queue->client;
    struct dueq__op *op = client->op;
    dueq_status status = dueq__op_begin(queue, script, true);
    if (status)
        return status;
    struct dueq__wait *wait = &op->wait;
    op->decode = terms->decode;
    op->request.max_messages = op->item_count = terms->count;
    wait->terms = *terms;
    wait->watches = calloc(count, sizeof *wait->watches);
    if (!wait->watches)
        return dueq__op_no_memory(client);
    for (size_t i = 0; i < count; i++)
        wait->watches[i] = (struct dueq__watch){.queue = queue,
                                                .wake_key = terms->wake_key,
                                                .needs_request = true,
                                                .next_check_us = DUEQ__NEVER};
    wait->watch_count = count;
    wait->probe_ms = terms->probe_ms;
    wait->probe_count = terms->probe_ms ? terms->probe_count : (unsigned)dueq__random_below(2);
    int64_t now = dueq__monotonic_ms();
    if (terms->timeout_ms)
        wait->until_ms = terms->timeout_ms == DUEQ_FOREVER ? DUEQ__NEVER - DUEQ_MAX_TIME_MS
                                                           : now + terms->timeout_ms;
    op->retry.until_ms = wait->until_ms;
    wait->end_ms = (terms->timeout_ms ? wait->until_ms : now) + client->url.timeout_ms;
    return DUEQ_OK;
}

dueq_status dueq__wait_request(dueq_client *client, size_t at) {
    struct dueq__op *op = client->op;
    struct dueq__wait *wait = &op->wait;
    struct dueq__watch *watch = &wait->watches[at];
    /*
     * Until the call has asked each queue once, only the last request may make this client a
     * timekeeper: if a later queue has a message, the client gives all timekeeping back. Two kinds
     * of calls let each request do so: WAIT_ORDERED, as no other consumer looks at these queues,
     * and keeps_time, which gives no timekeeping back.
     */
    bool keep_waiting = has_time_left(wait) && !wait->only_settles &&
                        (wait->terms.kind == DUEQ__WAIT_ORDERED || wait->terms.keeps_time ||
                         wait->requested_count == wait->watch_count);
    const struct dueq__unanswered *unanswered = &watch->queue->unanswered;
    wait->current = at;
    watch->needs_request = !keep_waiting;
    wait->look_until_ms = 0;
    wait->told_duties = watch->duties != 0;
    watch->duties = 0;
    wait->told_place_ms = watch->place_ms;
    watch->place_ms = 0;
    if (op->queue != watch->queue)
        memcpy(op->request.keys, watch->queue->keys, sizeof op->request.keys);
    op->queue = watch->queue;
    dueq_status status = wait->terms.request(client, keep_waiting, wait->told_duties);
    if (unanswered->count == op->item_count && unanswered->lease_ms == wait->terms.lease_ms &&
        unanswered->default_lease_ms == wait->terms.default_lease_ms)
        op->recall.unanswered = unanswered->number;
    return status;
}

/* The first queue, from the index `from` on, that needs a request; watch_count: none does. */
static size_t needing_request(const struct dueq__wait *wait, size_t from) {
    while (from < wait->watch_count && !wait->watches[from].needs_request)
        from++;
    return from;
}

/* Asks the next queue for the first time. A queue that needs no request counts as asked. */
static dueq_status request_next(dueq_client *client) {
    struct dueq__wait *wait = &client->op->wait;
    size_t at = wait->requested_count;
    wait->requested_count = needing_request(wait, at + 1);
    return dueq__wait_request(client, at);
}

/*
 * Asks the first queue that needs a request. The settlement goes along if it is of this queue. Else
 * a request of its own goes before, since the call may end with messages of an earlier queue.
 */
static dueq_status begin_requests(dueq_client *client) {
    struct dueq__op *op = client->op;
    struct dueq__wait *wait = &op->wait;
    wait->requested_count = needing_request(wait, 0);
    wait->only_settles = op->settling.count && op->settling.watch != wait->requested_count;
    return wait->only_settles ? dueq__wait_request(client, op->settling.watch)
                              : request_next(client);
}

/*
 * Looks. With `looks` the call skips queues that had no message when they were last asked. Since
 * then a message may have been pushed to a skipped queue in front of one that the call asks. The
 * skipped queue then has a wake token, unless another consumer has taken the token. So before its
 * first request the call looks which of these queues have tokens, and asks those.
 */

/*
 * Sends EXISTS for the wake keys of the first `count` queues, but for those that need a request
 * anyway: one for up to `most` neighbours with the same slot. only_woken: only for queues with
 * maybe_woken. A queue whose node cannot be asked needs a request. False: no EXISTS was sent.
 */
static bool send_looks(dueq_client *client, size_t count, size_t most, bool only_woken) {
    struct dueq__wait *wait = &client->op->wait;
    bool sent = false;
    for (size_t i = 0, n; i < count; i += n) {
        struct dueq__watch *watch = &wait->watches[i];
        struct dueq__resp words = {0};
        n = 1;
        if (watch->needs_request || (only_woken && !watch->maybe_woken))
            continue;
        struct dueq__node *node = dueq__route_node(watch->queue);
        dueq__resp_text(&words, "EXISTS");
        for (n = 0; i + n < count && n < most && !watch[n].needs_request &&
                    watch[n].queue->slot == watch->queue->slot;
             n++)
            dueq__resp_bytes(&words, watch[n].wake_key.data, watch[n].wake_key.size);
        if (node && dueq__node_send_resp(node, DUEQ__EXPECT_LOOK, &words)) {
            watch->look_node = node;
            watch->look_count = n;
            sent = true;
            continue;
        }
        for (size_t k = 0; k < n; k++)
            watch[k].needs_request = true;
    }
    for (struct dueq__node *node = client->nodes; node && sent; node = node->next)
        if (dueq__node_expects(node, DUEQ__EXPECT_LOOK))
            dueq__conn_flush(&node->conn);
    return sent;
}

/*
 * Begins a look at the queues in front of the last one that needs a request. False: there are none,
 * or none can be looked at, and those need a request.
 */
static bool look(dueq_client *client) {
    struct dueq__wait *wait = &client->op->wait;
    size_t count = wait->terms.looks ? wait->watch_count : 0;
    while (count && !wait->watches[count - 1].needs_request)
        count--;
    /*
     * If a node has not answered a look that was given up, its answer would count for this look. So
     * the call asks all these queues instead.
     */
    for (const struct dueq__node *node = client->nodes; node; node = node->next)
        for (size_t i = 0; i < count && dueq__node_expects(node, DUEQ__EXPECT_LOOK); i++)
            wait->watches[i].needs_request = true;
    if (!send_looks(client, count, LOOK_KEYS, false))
        return false;
    wait->look_until_ms = dueq__monotonic_ms() + DUEQ__SLOW_MS;
    return true;
}

/* The answer to an EXISTS has come, or is given up. woken: its queues need a request. */
static void end_look(struct dueq__watch *watch, bool woken) {
    for (size_t i = 0; i < watch->look_count && woken; i++)
        watch[i].needs_request = true;
    watch->look_node = NULL;
}

void dueq__wait_on_look(dueq_client *client, const struct dueq__node *node,
                        const struct dueq__reply *reply) {
    struct dueq__wait *wait = &client->op->wait;
    int64_t number;
    bool known = dueq__reply_number(reply, &number), one;
    size_t i = 0;
    while (i < wait->watch_count && wait->watches[i].look_node != node)
        i++;
    if (i == wait->watch_count)
        return;
    struct dueq__watch *watch = &wait->watches[i];
    one = watch->look_count == 1;
    for (size_t k = 0; k < watch->look_count; k++)
        watch[k].maybe_woken = known && number > 0 && !one;
    end_look(watch, !known || (one && number > 0));
}

/*
 * Goes on with a look when all nodes have answered, or its time is over. If an EXISTS of several
 * keys counted any, each of its queues now gets an EXISTS of its own. Then the requests begin.
 */
static void pump_look(dueq_client *client) {
    struct dueq__wait *wait = &client->op->wait;
    bool over = dueq__monotonic_ms() >= wait->look_until_ms, maybe_woken = false;
    for (size_t i = 0; i < wait->watch_count; i++) {
        struct dueq__watch *watch = &wait->watches[i];
        const struct dueq__node *node = client->nodes;
        while (node && node != watch->look_node)
            node = node->next;
        bool pending = node && dueq__node_expects(node, DUEQ__EXPECT_LOOK) && !over;
        if (watch->look_node && pending)
            return;
        if (watch->look_node)
            end_look(watch, true);
        watch->needs_request = watch->needs_request || (over && watch->maybe_woken);
        maybe_woken = maybe_woken || watch->maybe_woken;
    }
    if (maybe_woken) {
        bool sent = send_looks(client, wait->watch_count, 1, true);
        for (size_t i = 0; i < wait->watch_count; i++)
            wait->watches[i].maybe_woken = false;
        if (sent)
            return;
    }
    begin_requests(client);
}

dueq_status dueq__wait_start(dueq_client *client) {
    struct dueq__wait *wait = &client->op->wait;
    wait->requested_count = needing_request(wait, 0);
    if (wait->requested_count < wait->watch_count && !look(client))
        return begin_requests(client);
    set_probe_time(client);
    if (client->cluster)
        client->op->request.slot = dueq__slot(client->op->request.keys[DUEQ__KEY_FIRST]);
    client->error = (struct dueq__error){0};
    client->op->phase = DUEQ__PHASE_WAITING;
    /* No answer comes for which an event loop would call dueq_pump(). */
    dueq__wait_conn_pump_all(client);
    return DUEQ_PENDING;
}

static size_t first_check(const struct dueq__wait *wait) {
    size_t first = 0;
    for (size_t i = 1; i < wait->watch_count; i++)
        if (wait->watches[i].next_check_us < wait->watches[first].next_check_us)
            first = i;
    return first;
}

/* Goes on after a queue was asked, or skipped because its node is down. */
static void proceed(dueq_client *client) {
    struct dueq__wait *wait = &client->op->wait;
    if (wait->requested_count < wait->watch_count) {
        request_next(client);
    } else if (!has_time_left(wait)) {
        dueq__wait_finish(client);
    } else if (needing_request(wait, 0) < wait->watch_count) {
        dueq__wait_request(client, needing_request(wait, 0));
    } else {
        client->op->phase = DUEQ__PHASE_WAITING;
        set_probe_time(client);
    }
}

void dueq__wait_on_settled(dueq_client *client) {
    client->op->wait.only_settles = false;
    proceed(client);
}

void dueq__wait_ask_again(dueq_client *client) { client->op->wait.watches->needs_request = true; }

void dueq__wait_take_token(struct dueq__watch *watch) {
    watch->needs_request = true;
    watch->duties |= DUEQ__DUTY_TOKEN;
}

static bool clock_counts(const dueq_queue *queue) {
    return queue->clock_read_us && dueq__monotonic_us() < queue->clock_read_us + CLOCK_US;
}

void dueq__wait_take_time(dueq_client *client, struct dueq__watch *watch, int64_t at_ms) {
    const struct dueq__wait *wait = &client->op->wait;
    const dueq_queue *queue = watch->queue;
    bool known = clock_counts(queue) && queue->clock_error_ms <= CLOCK_ERROR_MS;
    int64_t check_us = 1000 * at_ms - queue->clock_offset_us + wait->slack_us;
    watch->duties |= DUEQ__DUTY_TIMEKEEPER;
    watch->place_ms = at_ms;
    if (!known || wait->terms.kind == DUEQ__WAIT_ORDERED || !dueq__wait_is_idle(client->op))
        watch->needs_request = true;
    else if (check_us < watch->next_check_us)
        watch->next_check_us = check_us;
}

/*
 * The server read its clock after the request was sent, and before the answer came. With the time
 * of the answer, no client looks too early. Of several answers the quickest counts, and of equally
 * quick ones the one with the greatest difference.
 */
void dueq__wait_note_clock(dueq_client *client, int64_t server_us) {
    dueq_queue *queue = client->op->wait.watches[client->op->wait.current].queue;
    int64_t now_us = dueq__monotonic_us();
    int64_t error_ms = now_us / 1000 - client->op->request.sent_ms;
    int64_t offset_us = server_us - now_us;
    bool worse = clock_counts(queue) &&
                 (error_ms > queue->clock_error_ms ||
                  (error_ms == queue->clock_error_ms && offset_us < queue->clock_offset_us));
    /* A recalled answer tells what the clock showed when the lost request ran. */
    if (worse || dueq__op_was_recalled(client->op))
        return;
    queue->clock_offset_us = offset_us;
    queue->clock_read_us = now_us;
    queue->clock_error_ms = error_ms;
}

int64_t dueq__wait_server_ms(const dueq_queue *queue) {
    return (dueq__monotonic_us() + queue->clock_offset_us) / 1000;
}

void dueq__wait_found_nothing(dueq_client *client, int64_t now, int64_t pause_us) {
    struct dueq__watch *watch = &client->op->wait.watches[client->op->wait.current];
    client->op->wait.told_duties = false;
    if (watch->state == DUEQ__WATCH_NODE_DOWN)
        watch->state = DUEQ__WATCH_ANSWERED;
    dueq__wait_note_clock(client, 1000 * now);
    watch->next_check_us =
        pause_us < 0 ? DUEQ__NEVER : dueq__monotonic_us() + pause_us + client->op->wait.slack_us;
    proceed(client);
}

bool dueq__wait_all_nodes_down(const struct dueq__wait *wait) {
    bool away = true;
    for (size_t i = 0; i < wait->watch_count; i++)
        away = away && wait->watches[i].state == DUEQ__WATCH_NODE_DOWN;
    return away;
}

bool dueq__wait_skip_down_node(dueq_client *client) {
    struct dueq__op *op = client->op;
    struct dueq__wait *wait = &op->wait;
    if (!client->cluster || wait->watch_count < 2 || dueq__op_settlement(op))
        return false;
    struct dueq__watch *watch = &wait->watches[wait->current];
    watch->state = DUEQ__WATCH_NODE_DOWN;
    if (!has_time_left(wait) && dueq__wait_all_nodes_down(wait))
        return false;
    dueq__outage_log_failure(client, client->error.text);
    if (op->recall.unanswered)
        watch->queue->unanswered =
            (struct dueq__unanswered){op->recall.unanswered, op->item_count, wait->terms.lease_ms,
                                      wait->terms.default_lease_ms};
    /* The node may expect this client to keep time. Others notice a missed time by their probes. */
    watch->needs_request = false;
    watch->duties = 0;
    watch->place_ms = 0;
    watch->next_check_us = dueq__monotonic_us() + 1000 * FALLBACK_CHECK_MS;
    proceed(client);
    return true;
}

void dueq__wait_on_node_back(dueq_client *client, const struct dueq__node *node) {
    const struct dueq__op *op = client->op;
    const struct dueq__wait *wait = &op->wait;
    for (size_t i = 0; i < wait->watch_count; i++) {
        struct dueq__watch *watch = &wait->watches[i];
        bool asked = op->phase == DUEQ__PHASE_RUNNING && i == wait->current;
        if (watch->state == DUEQ__WATCH_NODE_DOWN && !asked &&
            dueq__route_node(watch->queue) == node)
            watch->needs_request = true;
    }
}

void dueq__wait_check_by(dueq_client *client, int64_t check_us) {
    struct dueq__wait *wait = &client->op->wait;
    for (size_t i = 0; i < wait->watch_count; i++)
        if (check_us < wait->watches[i].next_check_us)
            wait->watches[i].next_check_us = check_us;
}

void dueq__wait_fall_back_to_checks(dueq_client *client) {
    dueq__wait_check_by(client, dueq__monotonic_us() + 1000 * FALLBACK_CHECK_MS);
}

void dueq__wait_on_conn_lost(dueq_client *client, const struct dueq__conn *conn, bool was_on) {
    struct dueq__op *op = client->op;
    if (dueq__wait_is_idle(op) && dueq__backoff_is_fatal(client, &conn->error)) {
        client->error = conn->error;
        dueq__op_finish(client, conn->error.status);
        return;
    }
    dueq__backoff_retry_later(client, conn->error.text);
    if (op->phase == DUEQ__PHASE_ENDING)
        dueq__wait_finish(client);
    else if (dueq__wait_is_idle(op) && was_on) {
        int64_t retry_ms = op->retry.next_ms;
        /* The request also finds out whether the server can be reached. */
        dueq__wait_request(client, needing_request(&op->wait, 0) % op->wait.watch_count);
        op->retry.next_ms = retry_ms;
    } else if (dueq__wait_is_idle(op))
        dueq__wait_fall_back_to_checks(client);
}

int64_t dueq__wait_next_check_us(const struct dueq__wait *wait) {
    return wait->watches[first_check(wait)].next_check_us;
}

bool dueq__wait_may_block(const dueq_client *client) {
    const struct dueq__op *op = client->op;
    return dueq__wait_is_idle(op) && has_time_left(&op->wait) &&
           needing_request(&op->wait, 0) == op->wait.watch_count &&
           dueq__monotonic_ms() >= op->retry.next_ms &&
           dueq__wait_next_check_us(&op->wait) > dueq__monotonic_us() + SOON_US;
}

/* The timer */

/* The queue that this probe is about. */
static struct dueq__watch *probed_watch(const struct dueq__wait *wait) {
    return &wait->watches[wait->probe_count / 2 % wait->watch_count];
}

/* True: the probe is about that queue's next event. False: about ready messages, or the lock. */
static bool probes_next_time(const struct dueq__wait *wait) {
    return wait->terms.kind != DUEQ__WAIT_LOCK && wait->probe_count % 2 == 1;
}

static bool is_probed(const struct dueq__wait *wait, const struct dueq__watch *watch) {
    const struct dueq__watch *probed = probed_watch(wait);
    return watch == probed || (!probes_next_time(wait) && watch->wait_conn == probed->wait_conn);
}

static bool send_probe(dueq_client *client) {
    struct dueq__wait *wait = &client->op->wait;
    static const enum dueq__key lines[] = {DUEQ__KEY_READY, DUEQ__KEY_HIGH, DUEQ__KEY_LOW};
    if (client->op->phase == DUEQ__PHASE_PROBING || wait->terms.foreign ||
        wait->terms.kind == DUEQ__WAIT_END)
        return false;
    const struct dueq__watch *watch = probed_watch(wait);
    bool time = probes_next_time(wait);
    struct dueq__node *node = dueq__route_node(watch->queue);
    if (!node)
        return false;
    client->node = node;
    struct dueq__resp words = {0};
    dueq__resp_text(&words, time ? "HGET" : "EXISTS");
    if (time) {
        dueq_bytes meta = watch->queue->keys[DUEQ__KEY_META];
        dueq__resp_bytes(&words, meta.data, meta.size);
        dueq__resp_text(&words, "next_event");
    } else if (wait->terms.kind == DUEQ__WAIT_LOCK) {
        dueq_bytes lock = client->op->request.keys[DUEQ__KEY_LOCK];
        dueq__resp_bytes(&words, lock.data, lock.size);
    } else {
        for (size_t i = 0; i < wait->watch_count; i++)
            for (size_t k = 0; is_probed(wait, &wait->watches[i]) && k < 3; k++) {
                dueq_bytes line = wait->watches[i].queue->keys[lines[k]];
                dueq__resp_bytes(&words, line.data, line.size);
            }
    }
    if (!dueq__node_send_resp(node, DUEQ__EXPECT_PROBE, &words))
        return false;
    client->op->phase = DUEQ__PHASE_PROBING;
    wait->probe_ms = dueq__monotonic_ms() + client->url.timeout_ms;
    dueq__conn_flush(&node->conn);
    return true;
}

void dueq__wait_on_probe(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__wait *wait = &client->op->wait;
    int64_t number = 0;
    if (client->op->phase != DUEQ__PHASE_PROBING) {
        wait->probe_count += !dueq__wait_is_idle(client->op);
        return;
    }
    client->op->phase = DUEQ__PHASE_WAITING;
    wait->probe_ms = next_probe_ms(client);
    bool known = dueq__reply_number(reply, &number) && number >= 0 && number <= DUEQ_MAX_TIME_MS;
    int64_t server_ms = dueq__wait_server_ms(probed_watch(wait)->queue);
    bool forgotten = probes_next_time(wait)                ? number + OVERDUE_MS < server_ms
                     : wait->terms.kind == DUEQ__WAIT_LOCK ? number == 0
                                                           : number > 0;
    bool takes_over = dueq__reply_is_error(reply) || (known && forgotten);
    /* The timekeeper missed a due time, or a wake token was lost: this consumer looks itself. */
    for (size_t i = 0; takes_over && i < wait->watch_count; i++)
        if (is_probed(wait, &wait->watches[i]))
            dueq__wait_take_token(&wait->watches[i]);
    wait->probe_count++;
    if (takes_over)
        dueq__wait_request(client, needing_request(wait, 0));
}

/* It is time to check the queue: as its timekeeper, or because a probe was not answered. */
static void check_now(dueq_client *client, size_t at) {
    struct dueq__wait *wait = &client->op->wait;
    if (client->op->phase == DUEQ__PHASE_PROBING)
        dueq__node_drop(client, client->node);
    /*
     * A timekeeper probably finds messages. So it ends its block first: the block must not take the
     * wake token that this request may set for another consumer.
     */
    struct dueq__wait_conn *wait_conn = wait->watches[at].wait_conn;
    if ((wait->watches[at].duties >= DUEQ__DUTY_TIMEKEEPER ||
         wait->terms.kind == DUEQ__WAIT_ORDERED) &&
        wait_conn && dueq__wait_conn_blocks(wait_conn) && !client->no_unblock)
        dueq__wait_conn_unblock(client, wait_conn);
    dueq__wait_request(client, at);
}

void dueq__wait_pump(dueq_client *client) {
    struct dueq__op *op = client->op;
    struct dueq__wait *wait = &op->wait;
    dueq__wait_conn_pump_all(client);
    if (wait->terms.foreign && wait->terms.foreign->pump)
        wait->terms.foreign->pump(client);
    dueq__wait_finish_pump(client);
    if (!dueq__wait_is_idle(op))
        return;
    if (wait->look_until_ms) {
        pump_look(client);
        return;
    }
    int64_t now = dueq__monotonic_ms();
    size_t due = first_check(wait);
    if (has_time_left(wait) && needing_request(wait, 0) < wait->watch_count) {
        dueq__wait_request(client, needing_request(wait, 0));
    } else if (!has_time_left(wait)) {
        dueq__wait_finish(client);
    } else if (dueq__monotonic_us() >= wait->watches[due].next_check_us) {
        check_now(client, due);
    } else if (now >= wait->probe_ms && (client->no_unblock || !send_probe(client))) {
        for (size_t i = 0; i < wait->watch_count; i++)
            wait->watches[i].needs_request = true;
        wait->probe_ms = next_probe_ms(client);
        check_now(client, 0);
    }
}

int64_t dueq__wait_next_us(const dueq_client *client) {
    const struct dueq__op *op = client->op;
    const struct dueq__wait *wait = &op->wait;
    int64_t next = DUEQ__NEVER / 1000;
    bool waiting = dueq__wait_is_idle(op);
    if (waiting) {
        next = wait->until_ms < wait->probe_ms ? wait->until_ms : wait->probe_ms;
        next = wait->look_until_ms ? wait->look_until_ms : next;
        if (wait->terms.foreign && wait->terms.foreign->next_ms &&
            wait->terms.foreign->next_ms(client) < next)
            next = wait->terms.foreign->next_ms(client);
    }
    if (op->phase == DUEQ__PHASE_ENDING)
        next = op->retry.deadline_ms;
    int64_t block_ms = dueq__wait_conn_next_ms(client);
    next = block_ms < next ? block_ms : next;
    next = next < DUEQ__NEVER / 1000 ? next * 1000 : DUEQ__NEVER;
    bool checks = waiting && !wait->look_until_ms;
    int64_t check_us = checks ? dueq__wait_next_check_us(wait) : DUEQ__NEVER;
    return check_us < next ? check_us : next;
}
