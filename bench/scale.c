#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet.h"

#define NAME "scale"
#define LEAD_MS 3000
#define APART_US 5000

static dueq_queue *open_partitions(dueq_client *client, size_t partitions) {
    dueq_queue *queue;
    must(client,
         dueq_partitions_open(client, NAME, strlen(NAME), partitions, (dueq_bytes){0}, &queue));
    return queue;
}

void measure_partitions_push(const char *url, size_t partitions, size_t messages, size_t batch) {
    static const char body[BODY_SIZE];
    dueq_client *client = client_open(url);
    dueq_queue *queue = open_partitions(client, partitions);
    dueq_draft drafts[DUEQ_MAX_BATCH];
    for (size_t i = 0; i < batch; i++) {
        drafts[i] = (dueq_draft)DUEQ_DRAFT;
        drafts[i].body = (dueq_bytes){body, sizeof body};
    }
    double begin = now_us(CLOCK_MONOTONIC);
    for (size_t done = 0; done < messages; done += batch)
        must(client, dueq_push(queue, drafts, batch, NULL));
    printf("{\"wall_us\": %.4f}\n", (now_us(CLOCK_MONOTONIC) - begin) / (double)messages);
    dueq_queue_close(queue);
    dueq_close(client);
}

void measure_partitions_work(const char *url, size_t partitions, size_t messages, size_t batch) {
    dueq_client *client = client_open(url);
    dueq_queue *queue = open_partitions(client, partitions);
    dueq_consumer_options options = DUEQ_CONSUMER;
    options.prefetch = batch;
    dueq_consumer *consumer;
    must(client, dueq_consumer_open(&queue, 1, &options, &consumer));
    double begin = now_us(CLOCK_MONOTONIC);
    for (size_t i = 0; i < messages; i++) {
        const dueq_message *message;
        must(client, dueq_consumer_next(consumer, 60000, &message, NULL));
        must(client, dueq_consumer_ack(consumer, message->ticket));
    }
    must(client, dueq_consumer_stop(consumer));
    printf("{\"wall_us\": %.4f}\n", (now_us(CLOCK_MONOTONIC) - begin) / (double)messages);
    dueq_consumer_close(consumer);
    dueq_queue_close(queue);
    dueq_close(client);
}

/* Many queues */

struct many {
    double *late_ms;
    size_t count, early;
};

static void note_late(struct fleet *fleet, struct consumer *consumer, const dueq_message *message) {
    struct many *many = fleet->own;
    int64_t due_ms;
    (void)consumer;
    memcpy(&due_ms, message->body.data, sizeof due_ms);
    double late_ms = now_us(CLOCK_REALTIME) / 1000 - (double)due_ms;
    many->early += late_ms < 0;
    many->late_ms[many->count++] = late_ms;
}

static dueq_queue *open_queue(dueq_client *client, size_t number, bool partition) {
    char name[64];
    dueq_queue *queue;
    int size = snprintf(name, sizeof name, partition ? NAME "#%zu" : NAME "-%zu", number);
    must(client, dueq_queue_open(client, name, (size_t)size, &queue));
    return queue;
}

static void add_consumers(struct fleet *fleet, const char *url, bool partitions, size_t count) {
    size_t most = partitions ? count : DUEQ_MAX_QUEUES;
    fleet_begin(fleet, (count + most - 1) / most);
    for (size_t first = 0; first < count; first += most) {
        size_t part = partitions ? 1 : count - first < most ? count - first : most;
        dueq_client *client = client_open(url);
        dueq_queue **queues = must_allocate(part, sizeof *queues);
        for (size_t i = 0; i < part; i++)
            queues[i] =
                partitions ? open_partitions(client, count) : open_queue(client, first + i, false);
        fleet_add(fleet, client, queues, part);
    }
}

/*
 * One in each queue, which fall due one after the other, in an order that has nothing to do with
 * the queues'.
 */
static void push_to_each(const char *url, bool partitions, size_t count) {
    dueq_client *client = client_open(url);
    size_t *order = must_allocate(count, sizeof *order);
    for (size_t i = 0; i < count; i++) {
        size_t other = draw((uint32_t)i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    double begin_us = now_us(CLOCK_REALTIME) + LEAD_MS * 1000;
    for (size_t i = 0; i < count; i++) {
        dueq_queue *queue = open_queue(client, order[i], partitions);
        int64_t due_ms = (int64_t)((begin_us + (double)(i * APART_US)) / 1000);
        dueq_draft draft = DUEQ_DRAFT;
        draft.body = (dueq_bytes){&due_ms, sizeof due_ms};
        draft.at_ms = due_ms;
        must(client, dueq_push(queue, &draft, 1, NULL));
        dueq_queue_close(queue);
    }
    free(order);
    dueq_close(client);
}

/* Lets the fleet work until there is a line on stdin. */
static void await_line(struct fleet *fleet) {
    struct pollfd in = {.fd = 0, .events = POLLIN};
    char line[64];
    while (poll(&in, 1, 0) == 0)
        fleet_run(fleet, 100);
    if (!fgets(line, sizeof line, stdin))
        die("nobody asks any more");
}

void measure_many(const char *url, bool partitions, size_t count) {
    struct many many = {.late_ms = must_allocate(count, sizeof *many.late_ms)};
    struct fleet fleet;
    setvbuf(stdout, NULL, _IOLBF, 0);
    add_consumers(&fleet, url, partitions, count);
    fleet.note = note_late;
    fleet.own = &many;
    printf("ready\n");
    await_line(&fleet);
    push_to_each(url, partitions, count);
    double cpu = now_us(CLOCK_PROCESS_CPUTIME_ID);
    fleet_finish(&fleet, count);
    printf("{\"early\": %zu, \"client_us\": %.1f, ", many.early,
           (now_us(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (double)count);
    print_list("late_ms", many.late_ms, count);
    printf("}\n");
    await_line(&fleet);
    fleet_close(&fleet);
    free(many.late_ms);
}
