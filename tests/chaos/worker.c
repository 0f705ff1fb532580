/*
 * The worker of the chaos run in C:
 * chaos-worker ROLE LEDGER URL QUEUE AWAY FAR NUMBER SEED RATE STOP
 *
 * ROLE is produce, consume (from QUEUE and AWAY), reach (consume from FAR), or drain (consume from
 * all without mischief). It pushes to QUEUE and AWAY, and what ends or has successors goes to all
 * three. It ends when the file STOP exists. README.md says what it writes to LEDGER.
 */
#include <inttypes.h>

#include "worker_common.h"

#define MOST DUEQ_MAX_BATCH
#define MARK 48
#define BODY 320
#define QUEUES 3

static struct {
    const char *names[QUEUES];
    unsigned pushes;
    dueq_client *client;
    dueq_queue *queues[QUEUES];
} self;

static bool unknown(dueq_status status) {
    return status == DUEQ_CLOSED || status == DUEQ_TIMEOUT || status == DUEQ_NOT_DURABLE;
}

static dueq_status told(const char *verb, dueq_status status) {
    if (status < 0) {
        note("error %d %s %s", status, verb, dueq_error_text(self.client));
        flush();
    }
    if (status == DUEQ_CONNECT || status == DUEQ_READONLY || status == DUEQ_WRONG_TYPE)
        sleep_ms(50);
    return status;
}

/* The producer */

static const struct backoff {
    const char *name;
    dueq_backoff policy;
} backoffs[] = {
    {"default", {.kind = DUEQ_BACKOFF_DEFAULT}},
    {"fixed:0:none", {.kind = DUEQ_BACKOFF_FIXED}},
    {"fixed:150:none", {.kind = DUEQ_BACKOFF_FIXED, .base_ms = 150}},
    {"linear:60,150:none", {.kind = DUEQ_BACKOFF_LINEAR, .base_ms = 60, .cap_ms = 150}},
    {"exponential:50,300:equal",
     {DUEQ_BACKOFF_EXPONENTIAL, DUEQ_JITTER_EQUAL, .base_ms = 50, .cap_ms = 300}},
    {"list:20,200,80:full",
     {DUEQ_BACKOFF_LIST, DUEQ_JITTER_FULL, .list_ms = (int64_t[]){20, 200, 80}, .list_count = 3}},
};

/* `draft` gets its id and body from here, when it is marked. `dead_letter`: -1 none. */
struct item {
    dueq_draft draft;
    const struct backoff *backoff;
    int dead_letter;
    size_t padding;
    char id[MARK], mark[MARK], body[BODY];
};

static struct item items[MOST];

static void plain_draft(struct item *item) {
    *item = (struct item){
        .draft = DUEQ_DRAFT, .backoff = backoffs, .dead_letter = -1, .padding = below(201)};
}

/* One that may ask for anything. own: with an id of its own. */
static void any_draft(struct item *item, bool own) {
    static const uint32_t limits[] = {0, 1, 2, 5};
    static const dueq_priority priorities[] = {DUEQ_HIGH, DUEQ_NORMAL, DUEQ_NORMAL, DUEQ_LOW};
    unsigned kind = below(100), later = 20 + below(1981);
    bool unique = rare(200);
    plain_draft(item);
    self.pushes++;
    if (own)
        snprintf(item->id, sizeof item->id, "%s-%s-%u", unique ? "once" : "own", worker.number,
                 self.pushes);
    item->backoff = &backoffs[below(sizeof backoffs / sizeof *backoffs)];
    item->dead_letter = rare(500) ? (int)below(QUEUES) : -1;
    item->draft = (dueq_draft){.struct_size = sizeof(dueq_draft),
                               .delay_ms = kind < 30 ? later : 0,
                               .at_ms = kind >= 30 && kind < 40 ? now_ms() + later : 0,
                               .max_attempts = limits[below(4)],
                               .lease_ms = rare(100) ? 1500 : 0,
                               .priority = priorities[below(4)],
                               .max_crashes = limits[below(4)],
                               .ttl_ms = rare(200) ? 86400000 : 0,
                               .backoff = item->backoff->policy,
                               .unique_ms = own && unique ? 5000 : 0};
}

/* Only one queue has groups, so its messages do not move to another one. */
static void group_draft(struct item *item) {
    static const char *const groups[] = {"a", "b", "c", "d:%"};
    const char *group = groups[below(4)];
    item->draft.group = (dueq_bytes){group, strlen(group)};
    item->draft.priority = DUEQ_NORMAL;
    item->dead_letter = -1;
}

static const char *name_of(int queue) { return queue < 0 ? "-" : self.names[queue]; }

static dueq_bytes bytes_of(int queue) {
    return queue < 0 ? (dueq_bytes){0} : (dueq_bytes){self.names[queue], strlen(self.names[queue])};
}

/* Marks items, says so in the ledger, and fills `drafts`. */
static void intend(int queue, struct item *list, size_t count, dueq_draft *drafts) {
    for (size_t i = 0; i < count; i++) {
        struct item *item = &list[i];
        dueq_draft *draft = &item->draft;
        snprintf(item->mark, sizeof item->mark, "%s.%u", worker.number, ++self.pushes);
        int size = snprintf(item->body, sizeof item->body, "%s ", item->mark);
        memset(item->body + size, 'x', item->padding);
        draft->body = (dueq_bytes){item->body, (size_t)size + item->padding};
        draft->id = (dueq_bytes){item->id, strlen(item->id)};
        draft->dead_letter = bytes_of(item->dead_letter);
        drafts[i] = *draft;
        note("intend %s %s %" PRId64 " %s %" PRIu32 " %" PRIu32 " %s %s", item->mark,
             *item->id ? item->id : "-", draft->at_ms ? draft->at_ms : now_ms() + draft->delay_ms,
             name_of(queue), draft->max_attempts, draft->max_crashes, name_of(item->dead_letter),
             item->backoff->name);
        if (draft->group.size && !draft->at_ms && !draft->delay_ms)
            note("grouped %s %.*s", item->mark, (int)draft->group.size,
                 (const char *)draft->group.data);
    }
}

/* Notes what came of a push. `first`: the item of the result that is the first draft's. */
static void outcomes(const struct item *list, size_t count, dueq_status status,
                     const dueq_result *result, size_t first) {
    int64_t end = now_ms();
    for (size_t i = 0; i < count; i++) {
        const char *word = "refused";
        bool each = result && status != DUEQ_NOT_DURABLE;
        dueq_status one = each ? dueq_result_status(result, first + i) : status;
        if (one == DUEQ_OK)
            word = "accepted";
        else if (one == DUEQ_DUPLICATE)
            word = "duplicate";
        else if (unknown(one))
            word = "unknown";
        note("%s %s %" PRId64, word, list[i].mark, end);
    }
}

/*
 * Keeps in items those to push again (an id of their own, an outcome not known); returns how many.
 */
static size_t push(int queue, size_t count) {
    dueq_draft drafts[MOST];
    intend(queue, items, count, drafts);
    flush();
    dueq_result *result;
    dueq_status status = told("push", dueq_push(self.queues[queue], drafts, count, &result));
    outcomes(items, count, status, result, 0);
    flush();
    dueq_result_free(result);
    size_t again = 0;
    for (size_t i = 0; i < count; i++)
        if (unknown(status) && *items[i].id)
            items[again++] = items[i];
    return again;
}

/* As push(), by a pusher. */
static size_t fly(int queue, size_t count) {
    dueq_draft drafts[MOST];
    bool failed[MOST] = {false};
    dueq_pusher *pusher;
    if (dueq_pusher_open(self.queues[queue], 30, &pusher))
        die("pusher");
    intend(queue, items, count, drafts);
    flush();
    for (size_t sent = 0, done = 0; done < count;) {
        dueq_status status = DUEQ_OK;
        while (sent < count && (status = dueq_pusher_push(pusher, &drafts[sent])) == DUEQ_OK)
            sent++;
        if (status && status != DUEQ_PENDING)
            die("pusher_push");
        dueq_result *result;
        size_t now = dueq_pusher_done(pusher, &status, &result);
        if (!now) {
            dueq_wait(self.client, 100);
            continue;
        }
        told("push", status);
        outcomes(&items[done], now, status, result, 0);
        flush();
        dueq_result_free(result);
        for (size_t i = 0; i < now; i++)
            failed[done + i] = unknown(status);
        done += now;
    }
    dueq_pusher_close(pusher);
    size_t again = 0;
    for (size_t i = 0; i < count; i++)
        if (failed[i] && *items[i].id)
            items[again++] = items[i];
    return again;
}

static void produce(double rate) {
    static const size_t counts[] = {1, 1, 5, 20, 50, 100};
    double due = (double)monotonic_ns() / 1e6;
    while (!stopped()) {
        size_t count = counts[below(6)], again = count;
        int queue = rare(300);
        bool plain = rare(400);
        for (size_t i = 0; i < count; i++) {
            if (plain)
                plain_draft(&items[i]);
            else
                any_draft(&items[i], !rare(200));
            if (queue == 1 && !rare(400))
                group_draft(&items[i]);
        }
        for (int tries = 0; again && tries < 4 && !stopped(); tries++)
            again = rare(500) ? fly(queue, again) : push(queue, again);
        double now = (double)monotonic_ns() / 1e6;
        due += (double)count * 1000 / rate;
        if (due < now - 2000)
            due = now - 2000;
        for (; now < due && !stopped(); now += 500)
            sleep_ms(due - now < 500 ? (int64_t)(due - now) : 500);
    }
}

/* The consumer */

static const char *number(int64_t value) {
    static char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    return text;
}

/* Notes that a verb begins, and what it asks for. */
static void doing(const char *word, const dueq_message *message, const char *asked) {
    note("%s " KEY " %" PRId64 " %s", word, KEY_OF(message), now_ms(), asked);
    flush();
}

/* Notes what came of a verb for one message. `past` is the word for having done it. */
static void outcome(const char *past, dueq_status status, const dueq_message *message) {
    if (status == DUEQ_OK)
        note("%s " KEY " %" PRId64, past, KEY_OF(message), now_ms());
    else if (status == DUEQ_EXHAUSTED)
        note("buried " KEY " %" PRId64, KEY_OF(message), now_ms());
    else if (status == DUEQ_LEASE_LOST)
        note("lost " KEY " %" PRId64, KEY_OF(message), now_ms());
    else if (status > 0)
        note("error %d %s", status, past);
    else if (!unknown(status))
        note("undone " KEY, KEY_OF(message));
}

static void retry(int queue, const dueq_message *message, int64_t delay) {
    bool by_policy = rare(500);
    doing("retrying", message, by_policy ? "backoff" : number(now_ms() + delay));
    dueq_status status = dueq_retry(self.queues[queue], message->ticket,
                                    by_policy ? DUEQ_BY_POLICY : delay, (dueq_bytes){"?", 1});
    outcome("retried", told("retry", status), message);
    flush();
}

static void release(int queue, const dueq_message *message, int64_t delay) {
    doing("releasing", message, number(now_ms() + delay));
    dueq_status status = dueq_release(self.queues[queue], &message->ticket, 1, delay, NULL);
    outcome("released", told("release", status), message);
    flush();
}

static void bury(int queue, const dueq_message *message) {
    doing("burying", message, "-");
    dueq_status status = dueq_bury(self.queues[queue], message->ticket, (dueq_bytes){0});
    outcome("buried", told("bury", status), message);
    flush();
}

static void extend(int queue, const dueq_message *message) {
    int64_t lease = 1000 + below(1001);
    doing("extending", message, number(now_ms() + lease));
    dueq_status status = dueq_extend(self.queues[queue], &message->ticket, 1, lease, NULL);
    outcome("extended", told("extend", status), message);
    flush();
}

/* Acknowledges a message and pushes some in its place, the last perhaps under its id. */
static void succeed(int queue, const dueq_message *message) {
    static struct item list[MOST];
    static char marks[MOST * MARK];
    dueq_draft drafts[MOST];
    int target = (int)below(QUEUES);
    size_t count = rare(10) ? MOST - 1 : 1, length = 0;
    for (size_t i = 0; i < count; i++)
        any_draft(&list[i], rare(500));
    if (rare(500)) {
        struct item *last = &list[count++];
        plain_draft(last);
        if (message->id.size > 4 && message->id.size < MARK &&
            memcmp(message->id.data, "own-", 4) == 0)
            memcpy(last->id, message->id.data, message->id.size);
    }
    intend(target, list, count, drafts);
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(marks + length, sizeof marks - length, "%s%s", i ? "," : "",
                                   list[i].mark);
    doing("acking", message, marks);
    dueq_result *result;
    dueq_status status = told("ack", dueq_ack_push(self.queues[queue], message->ticket,
                                                   self.queues[target], drafts, count, &result));
    outcomes(list, count, status, result, 1);
    outcome("acked", result ? dueq_result_status(result, 0) : status, message);
    flush();
    dueq_result_free(result);
}

static void ack(int queue, const dueq_message **messages, size_t count) {
    dueq_bytes tickets[MOST];
    int64_t now = now_ms();
    for (size_t i = 0; i < count; i++) {
        tickets[i] = messages[i]->ticket;
        note("acking " KEY " %" PRId64 " -", KEY_OF(messages[i]), now);
    }
    flush();
    dueq_result *result;
    dueq_status status = told("ack", dueq_ack(self.queues[queue], tickets, count, &result));
    for (size_t i = 0; i < count; i++)
        outcome("acked", result ? dueq_result_status(result, i) : status, messages[i]);
    flush();
    dueq_result_free(result);
}

/* Dawdles, does all but acknowledge to some of those delivered, and acknowledges the rest. */
static void work(int queue, const dueq_result *result, bool calm) {
    const dueq_message *rest[MOST];
    size_t count = 0;
    unsigned dawdle = calm ? 100 : below(100);
    if (dawdle < 10)
        sleep_ms(below(dawdle < 2 ? 2200 : 200));
    for (size_t i = 0; i < dueq_result_count(result); i++) {
        const dueq_message *message = dueq_result_message(result, i);
        /*
         * What failed is likely to fail again, but not so often that its backoff lasts for minutes.
         */
        bool often = message->dead_letter.size || message->attempt > 1;
        unsigned fails = message->attempt >= 6 ? 0 : often ? 400 : 20;
        unsigned crashes = message->max_crashes == 2 || message->crashes ? 100 : 5;
        int64_t delay = below(2) ? 1 + below(1000) : 0;
        if (calm) {
            rest[count++] = message;
        } else if (rare(fails)) {
            retry(queue, message, delay);
        } else if (rare(crashes)) {
            continue;
        } else if (rare(20)) {
            release(queue, message, delay);
        } else if (rare(30)) {
            bury(queue, message);
        } else if (rare(100)) {
            succeed(queue, message);
        } else {
            if (rare(10))
                extend(queue, message);
            rest[count++] = message;
        }
    }
    if (count)
        ack(queue, rest, count);
}

/* Consumes by a loop with a heartbeat. What it notes is done when nothing was lost or failed. */
static void loop(int first, size_t queues, dueq_order order) {
    static char noted[MOST][MARK];
    size_t count = 0, left = 1 + below(MOST);
    int64_t lease = 1500 + below(1001);
    dueq_consumer_options options = DUEQ_CONSUMER;
    options.prefetch = 1 + below(20);
    options.lease_ms = lease;
    options.order = order;
    dueq_consumer *consumer;
    if (dueq_consumer_open(&self.queues[first], queues, &options, &consumer))
        die("consumer");
    const dueq_message *message;
    size_t place;
    dueq_status status = DUEQ_OK;
    while (left-- && !stopped() &&
           !(status = told("loop", dueq_consumer_next(consumer, 500, &message, &place)))) {
        int queue = first + (int)place;
        note("kept " KEY " %" PRId64 " %" PRId64 " %s %" PRIu32 " %" PRIu32 " %s", KEY_OF(message),
             message->time_ms - lease, message->time_ms, self.names[queue], message->attempt,
             message->crashes, worker.number);
        flush();
        if (rare(10))
            sleep_ms(below(4000));
        if (rare(message->dead_letter.size || message->attempt > 1 ? 400 : 20)) {
            doing("retrying", message, "backoff");
            if (dueq_consumer_retry(consumer, message->ticket, DUEQ_BY_POLICY, (dueq_bytes){0}))
                die("consumer_retry");
        } else if (rare(20)) {
            release(queue, message, 100);
            dueq_consumer_forget(consumer, message->ticket);
        } else if (rare(100)) {
            succeed(queue, message);
            dueq_consumer_forget(consumer, message->ticket);
        } else if (!rare(5)) {
            doing("acking", message, "-");
            snprintf(noted[count++], MARK, KEY, KEY_OF(message));
            if (dueq_consumer_ack(consumer, message->ticket))
                die("consumer_ack");
        }
    }
    if (!told("loop", dueq_consumer_stop(consumer)) && status >= 0 && !dueq_consumer_lost(consumer))
        for (size_t i = 0; i < count; i++)
            note("acked %s %" PRId64, noted[i], now_ms());
    note("empty");
    flush();
    dueq_consumer_close(consumer);
}

/* from: the first of `queues` queues. */
static void consume(int from, unsigned queues, bool calm) {
    static const size_t counts[] = {1, 10, 50, 100, 200};
    static const unsigned waits[] = {1, 1000, 5000};
    while (!stopped()) {
        /* One of the queues, or all by preference, or all in turn. */
        unsigned choice = below(queues + 2);
        bool all = choice >= queues;
        dueq_order order = choice > queues ? DUEQ_ROUND_ROBIN : DUEQ_PREFERENCE;
        int first = from + (int)(all ? 0 : choice);
        size_t count = all ? queues : 1;
        if (!calm && rare(500)) {
            loop(first, count, order);
            continue;
        }
        dueq_result *result;
        const dueq_reserve_options options = {.struct_size = sizeof options,
                                              .order = order,
                                              .count = counts[below(5)],
                                              .timeout_ms = below(waits[below(3)]),
                                              .lease_ms = 1000 + below(1001)};
        dueq_status status =
            told("reserve", dueq_reserve_any(&self.queues[first], count, &options, &result));
        if (status) {
            note("empty");
            flush();
            continue;
        }
        int queue = first + (int)dueq_result_queue(result);
        for (size_t i = 0; i < dueq_result_count(result); i++) {
            const dueq_message *message = dueq_result_message(result, i);
            note("got " KEY " %" PRId64 " %" PRId64 " %s %" PRIu32 " %" PRIu32, KEY_OF(message),
                 message->now_ms, message->time_ms, self.names[queue], message->attempt,
                 message->crashes);
        }
        flush();
        work(queue, result, calm);
        dueq_result_free(result);
    }
}

int main(int argc, char **argv) {
    if (argc != 11) {
        fputs("usage: chaos-worker ROLE LEDGER URL QUEUE AWAY FAR NUMBER SEED RATE STOP\n", stderr);
        return 2;
    }
    begin_worker(argv[2], argv[7], argv[8], argv[10]);
    dueq_status status = dueq_open(argv[3], &self.client);
    for (int i = 0; i < QUEUES && !status; i++) {
        self.names[i] = argv[4 + i];
        status =
            dueq_queue_open(self.client, self.names[i], strlen(self.names[i]), &self.queues[i]);
    }
    if (status) {
        fprintf(stderr, "%s\n", dueq_error_text(self.client));
        return 1;
    }
    if (strcmp(argv[1], "produce") == 0)
        produce(atof(argv[9]));
    else if (strcmp(argv[1], "consume") == 0)
        consume(0, 2, false);
    else if (strcmp(argv[1], "reach") == 0)
        consume(2, 1, false);
    else
        consume(0, QUEUES, true);
    for (int i = 0; i < QUEUES; i++)
        dueq_queue_close(self.queues[i]);
    dueq_close(self.client);
    return 0;
}
