/*
 * The worker of the chaos run in C: chaos-worker ROLE LEDGER URL QUEUE NUMBER SEED RATE STOP
 *
 * ROLE is produce, consume, or drain (consume without mischief). It ends when the file STOP exists.
 * README.md says what it writes to LEDGER.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dueq.h"

#define MOST 200
#define MARK 48
#define BODY 320

static struct {
    const char *number, *stop;
    int ledger;
    char lines[MOST * 128];
    size_t length;
    uint64_t random;
    unsigned pushes;
    dueq_client *client;
    dueq_queue *queue;
} self;

static _Noreturn void die(const char *what) {
    perror(what);
    exit(1);
}

static int64_t clock_ms(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t now_ms(void) { return clock_ms(CLOCK_REALTIME); }

static void sleep_ms(int64_t ms) {
    if (ms > 0)
        nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* A number from 0 to below `end`, the same sequence for the same seed. */
static unsigned below(unsigned end) {
    self.random ^= self.random << 13;
    self.random ^= self.random >> 7;
    self.random ^= self.random << 17;
    return (unsigned)((self.random >> 32) % end);
}

static bool stopped(void) { return access(self.stop, F_OK) == 0; }

/* ---- The ledger ---- */

static void flush(void) {
    if (self.length && write(self.ledger, self.lines, self.length) != (ssize_t)self.length)
        die("ledger");
    self.length = 0;
}

/* Adds a line; flush() writes all that were added at once. */
__attribute__((format(printf, 1, 2))) static void note(const char *format, ...) {
    size_t room = sizeof self.lines - self.length;
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(self.lines + self.length, room, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size + 1 >= room)
        die("too much for the ledger");
    self.length += (size_t)size;
    self.lines[self.length++] = '\n';
}

static bool unknown(dueq_status status) { return status == DUEQ_CLOSED || status == DUEQ_TIMEOUT; }

static dueq_status told(const char *verb, dueq_status status) {
    if (status < 0) {
        note("error %d %s %s", status, verb, dueq_error_text(self.client));
        flush();
    }
    if (status == DUEQ_CONNECT)
        sleep_ms(50);
    return status;
}

static int mark_size(const dueq_message *message) {
    const char *space = memchr(message->body.data, ' ', message->body.size);
    return (int)(space ? space - (const char *)message->body.data : (ptrdiff_t)message->body.size);
}

#define KEY "%.*s %" PRIu32
#define KEY_OF(message) mark_size(message), (const char *)(message)->body.data, (message)->attempt

/* ---- The producer ---- */

struct item {
    char id[MARK], mark[MARK], body[BODY];
    int64_t delay_ms, at_ms, lease_ms;
    size_t padding;
};

static struct item items[MOST];

static void draft(struct item *item, bool plain) {
    unsigned kind = plain ? 100 : below(100), later = 20 + below(1981);
    *item = (struct item){.padding = below(200)};
    self.pushes++;
    if (kind < 30)
        item->delay_ms = later;
    else if (kind < 40)
        item->at_ms = now_ms() + later;
    else if (kind > 60 && kind < 70)
        item->lease_ms = 1500;
    if (kind <= 80)
        snprintf(item->id, sizeof item->id, "own-%s-%u", self.number, self.pushes);
}

/* Keeps in items those to push again (an id of their own, an outcome not known); returns how many. */
static size_t push(size_t count) {
    dueq_draft drafts[MOST];
    for (size_t i = 0; i < count; i++) {
        struct item *item = &items[i];
        snprintf(item->mark, sizeof item->mark, "%s.%u", self.number, ++self.pushes);
        int size = snprintf(item->body, sizeof item->body, "%s ", item->mark);
        memset(item->body + size, 'x', item->padding);
        drafts[i] = (dueq_draft){.body = {item->body, (size_t)size + item->padding},
                                 .id = {item->id, strlen(item->id)},
                                 .delay_ms = item->delay_ms,
                                 .at_ms = item->at_ms,
                                 .lease_ms = item->lease_ms};
        note("intend %s %s %" PRId64, item->mark, *item->id ? item->id : "-",
             item->at_ms ? item->at_ms : now_ms() + item->delay_ms);
    }
    flush();
    dueq_result *result;
    dueq_status status = told("push", dueq_push(self.queue, drafts, count, &result));
    size_t again = 0;
    int64_t end = now_ms();
    for (size_t i = 0; i < count; i++) {
        const char *word = "refused";
        if (status >= 0)
            word = dueq_result_status(result, i) == DUEQ_OK ? "accepted" : "duplicate";
        else if (unknown(status))
            word = "unknown";
        note("%s %s %" PRId64, word, items[i].mark, end);
        if (unknown(status) && *items[i].id)
            items[again++] = items[i];
    }
    flush();
    dueq_result_free(result);
    return again;
}

static void produce(double rate) {
    static const size_t counts[] = {1, 1, 5, 20, 50, 100};
    double due = (double)clock_ms(CLOCK_MONOTONIC);
    while (!stopped()) {
        size_t count = counts[below(6)], again = count;
        bool plain = below(10) < 4;
        for (size_t i = 0; i < count; i++)
            draft(&items[i], plain);
        for (int tries = 0; again && tries < 4 && !stopped(); tries++)
            again = push(again);
        double now = (double)clock_ms(CLOCK_MONOTONIC);
        due += (double)count * 1000 / rate;
        if (due < now - 2000)
            due = now - 2000;
        for (; now < due && !stopped(); now += 500)
            sleep_ms(due - now < 500 ? (int64_t)(due - now) : 500);
    }
}

/* ---- The consumer ---- */

/* Notes what came of a verb for one message. `past` is the word for having done it. */
static void outcome(const char *past, dueq_status status, const dueq_message *message) {
    if (status == DUEQ_OK)
        note("%s " KEY " %" PRId64, past, KEY_OF(message), now_ms());
    else if (status == DUEQ_LEASE_LOST)
        note("lost " KEY " %" PRId64, KEY_OF(message), now_ms());
    else if (status > 0)
        note("error %d %s", status, past);
    else if (!unknown(status))
        note("undone " KEY, KEY_OF(message));
}

static void retry(const dueq_message *message) {
    int64_t now = now_ms(), delay = below(2) ? 1 + below(1000) : 0;
    note("retrying " KEY " %" PRId64 " %" PRId64, KEY_OF(message), now, now + delay);
    flush();
    dueq_status status =
        told("retry", dueq_retry(self.queue, message->ticket, delay, (dueq_bytes){"?", 1}));
    outcome("retried", status, message);
    flush();
}

static void extend(const dueq_message *message) {
    int64_t now = now_ms(), lease = 1000 + below(1001);
    note("extending " KEY " %" PRId64 " %" PRId64, KEY_OF(message), now, now + lease);
    flush();
    outcome("extended", told("extend", dueq_extend(self.queue, message->ticket, lease)), message);
    flush();
}

static void ack(const dueq_message **messages, size_t count) {
    dueq_bytes tickets[MOST];
    int64_t now = now_ms();
    for (size_t i = 0; i < count; i++) {
        tickets[i] = messages[i]->ticket;
        note("acking " KEY " %" PRId64 " 0", KEY_OF(messages[i]), now);
    }
    flush();
    dueq_result *result;
    dueq_status status = told("ack", dueq_ack(self.queue, tickets, count, &result));
    for (size_t i = 0; i < count; i++)
        outcome("acked", status < 0 ? status : dueq_result_status(result, i), messages[i]);
    flush();
    dueq_result_free(result);
}

/* Dawdles, retries, extends and forgets some of those delivered, and acknowledges the rest. */
static void work(const dueq_result *result, bool calm) {
    const dueq_message *rest[MOST];
    size_t count = 0;
    unsigned dawdle = calm ? 100 : below(100);
    if (dawdle < 10)
        sleep_ms(below(dawdle < 2 ? 2200 : 200));
    for (size_t i = 0; i < dueq_result_count(result); i++) {
        const dueq_message *message = dueq_result_message(result, i);
        unsigned what = calm ? 1000 : below(1000);
        if (what < 20) {
            retry(message);
        } else if (what >= 25) {
            if (what < 35)
                extend(message);
            rest[count++] = message;
        }
    }
    if (count)
        ack(rest, count);
}

static void consume(bool calm) {
    static const size_t counts[] = {1, 10, 50, 100, 200};
    static const unsigned waits[] = {1, 1000, 5000};
    while (!stopped()) {
        dueq_result *result;
        dueq_status status =
            told("reserve", dueq_reserve(self.queue, counts[below(5)], below(waits[below(3)]),
                                         1000 + below(1001), &result));
        if (status) {
            note("empty");
            flush();
            continue;
        }
        for (size_t i = 0; i < dueq_result_count(result); i++) {
            const dueq_message *message = dueq_result_message(result, i);
            note("got " KEY " %" PRId64 " %" PRId64, KEY_OF(message), message->now_ms,
                 message->time_ms);
        }
        flush();
        work(result, calm);
        dueq_result_free(result);
    }
}

int main(int argc, char **argv) {
    if (argc != 9) {
        fputs("usage: chaos-worker ROLE LEDGER URL QUEUE NUMBER SEED RATE STOP\n", stderr);
        return 2;
    }
    self.ledger = open(argv[2], O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (self.ledger < 0)
        die(argv[2]);
    self.number = argv[5];
    self.random = strtoull(argv[6], NULL, 10) * 2654435761U + 1;
    self.stop = argv[8];
    if (dueq_open(argv[3], &self.client) ||
        dueq_queue_open(self.client, argv[4], strlen(argv[4]), &self.queue)) {
        fprintf(stderr, "%s\n", dueq_error_text(self.client));
        return 1;
    }
    if (strcmp(argv[1], "produce") == 0)
        produce(atof(argv[7]));
    else
        consume(strcmp(argv[1], "drain") == 0);
    dueq_queue_close(self.queue);
    dueq_close(self.client);
    return 0;
}
