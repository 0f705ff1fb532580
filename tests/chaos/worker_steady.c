/*
 * A worker in C whose handler never fails: chaos-worker-steady ROLE LEDGER URL QUEUE NUMBER SEED
 * RATE STOP
 *
 * It consumes from QUEUE until it gets SIGTERM, whatever happens to the server: only a poison
 * message kills it. README.md says what it writes to LEDGER.
 */
#include <inttypes.h>
#include <signal.h>

#include "worker_common.h"

static volatile sig_atomic_t over;

static void end(int number) {
    (void)number;
    over = 1;
}

static void note_alive(void) {
    note("alive %s %" PRId64, worker.number, now_ms());
    flush();
}

/* As long as the message asks for; its process dies of a poisoned one. */
static void work(const dueq_message *message) {
    char text[64], kind[8] = "";
    int ms = 0;
    snprintf(text, sizeof text, "%.*s", (int)message->body.size, (const char *)message->body.data);
    sscanf(text, "%*s %7s %d", kind, &ms);
    if (strcmp(kind, "poison") == 0) {
        note("dying " KEY " %" PRId64, KEY_OF(message), now_ms());
        flush();
        raise(below(2) ? SIGKILL : SIGSEGV);
    }
    for (int64_t until = now_ms() + ms; !over && now_ms() < until;) {
        sleep_ms(until - now_ms() < 500 ? until - now_ms() : 500);
        note_alive();
    }
}

int main(int argc, char **argv) {
    static const size_t prefetches[] = {1, 5, 20, 100};
    if (argc != 9) {
        fputs("usage: chaos-worker-steady ROLE LEDGER URL QUEUE NUMBER SEED RATE STOP\n", stderr);
        return 2;
    }
    begin_worker(argv[2], argv[5], argv[6], argv[8]);
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = end}, NULL);
    const char *name = argv[4];
    dueq_client *client;
    dueq_queue *queue;
    dueq_consumer *consumer;
    dueq_consumer_options options = DUEQ_CONSUMER;
    options.prefetch = prefetches[below(4)];
    options.lease_ms = 1500 + below(1001);
    if (dueq_open(argv[3], &client) || dueq_queue_open(client, name, strlen(name), &queue) ||
        dueq_consumer_open(&queue, 1, &options, &consumer)) {
        fprintf(stderr, "%s\n", dueq_error_text(client));
        return 1;
    }
    while (!over) {
        const dueq_message *message;
        dueq_status status = dueq_consumer_next(consumer, 1000, &message, NULL);
        note_alive();
        if (status) {
            if (status < 0)
                note("error %d loop %s", status, dueq_error_text(client));
            sleep_ms(status < 0 ? 50 : 0);
            continue;
        }
        note("begun " KEY " %" PRId64 " %" PRId64 " %s %" PRIu32 " %" PRIu32 " %s", KEY_OF(message),
             message->time_ms - options.lease_ms, message->time_ms, name, message->attempt,
             message->crashes, worker.number);
        flush();
        work(message);
        note("acking " KEY " %" PRId64 " -", KEY_OF(message), now_ms());
        flush();
        if (dueq_consumer_ack(consumer, message->ticket))
            die("consumer_ack");
    }
    dueq_consumer_stop(consumer);
    dueq_consumer_close(consumer);
    dueq_queue_close(queue);
    dueq_close(client);
    return 0;
}
