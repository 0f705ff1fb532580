#include <stdlib.h>
#include <string.h>

#include "fleet.h"

/* Consumers */

static void enter(struct consumer *consumer, enum consumer_state state) {
    consumer->state = state;
    consumer->since_us = now_us(CLOCK_MONOTONIC);
}

static void work(struct fleet *fleet, struct consumer *consumer, const dueq_message *message) {
    consumer->ticket = message->ticket;
    consumer->taken++;
    fleet->taken++;
    if (fleet->note)
        fleet->note(fleet, consumer, message);
    enter(consumer, WORKING);
    consumer->done_us = consumer->since_us + fleet->work_us;
}

static void wait_for_more(struct consumer *consumer) {
    dueq_status status = dueq_consumer_submit(consumer->loop, DUEQ_FOREVER);
    if (status != DUEQ_PENDING)
        die("the consumer does not wait: %s", dueq_error_text(consumer->client));
    enter(consumer, WAITING);
}

/* Moves a consumer on until it waits, or works for some time. */
static void advance(struct fleet *fleet, struct consumer *consumer) {
    for (;;) {
        if (consumer->state == WORKING) {
            if (now_us(CLOCK_MONOTONIC) < consumer->done_us)
                return;
            must(consumer->client, dueq_consumer_ack(consumer->loop, consumer->ticket));
            fleet->done++;
            wait_for_more(consumer);
        }
        if (dueq_pump(consumer->client) == DUEQ_PENDING)
            return;
        const dueq_message *message;
        dueq_status status = dueq_consumer_take(consumer->loop, &message, NULL);
        if (status == DUEQ_PENDING)
            continue;
        must(consumer->client, status);
        work(fleet, consumer, message);
    }
}

void fleet_drive(struct fleet *fleet, size_t done, double until_us) {
    while (!done || fleet->done < done) {
        double now = now_us(CLOCK_MONOTONIC), alarm_us = until_us;
        if (now >= until_us)
            return;
        for (size_t i = 0; i < fleet->count; i++) {
            const struct consumer *consumer = &fleet->consumers[i];
            bool works = consumer->state == WORKING;
            fleet->set[i].events = works ? 0 : POLLIN;
            if (works && consumer->done_us < alarm_us)
                alarm_us = consumer->done_us;
        }
        double left_us = alarm_us > now ? alarm_us - now : 0;
        const struct timespec left = {(time_t)(left_us / 1e6), (long)left_us % 1000000 * 1000};
        if (ppoll(fleet->set, fleet->count, &left, NULL) < 0)
            die("poll failed");
        for (size_t i = 0; i < fleet->count; i++)
            if (fleet->set[i].revents || fleet->consumers[i].state == WORKING)
                advance(fleet, &fleet->consumers[i]);
    }
}

void fleet_finish(struct fleet *fleet, size_t done) {
    fleet_drive(fleet, done, now_us(CLOCK_MONOTONIC) + 60e6);
    if (fleet->done < done)
        die("%zu of %zu messages came within a minute", fleet->done, done);
}

void fleet_run(struct fleet *fleet, double ms) {
    fleet_drive(fleet, 0, now_us(CLOCK_MONOTONIC) + ms * 1000);
}

static long long info_number(redisContext *control, const char *section, const char *name) {
    redisReply *info = bare_command(control, "INFO %s", section);
    const char *found = strstr(info->str, name);
    long long value = found ? atoll(found + strlen(name)) : 0;
    freeReplyObject(info);
    return value;
}

void fleet_begin(struct fleet *fleet, size_t room) {
    *fleet = (struct fleet){0};
    fleet->consumers = must_allocate(room, sizeof *fleet->consumers);
    fleet->set = must_allocate(room, sizeof *fleet->set);
}

void fleet_add(struct fleet *fleet, dueq_client *client, dueq_queue **queues, size_t queue_count) {
    const dueq_consumer_options options = DUEQ_CONSUMER;
    struct consumer *consumer = &fleet->consumers[fleet->count];
    *consumer = (struct consumer){.client = client, .queues = queues, .queue_count = queue_count};
    must(client, dueq_consumer_open(queues, queue_count, &options, &consumer->loop));
    wait_for_more(consumer);
    fleet->set[fleet->count].fd = dueq_descriptor(client);
    if (fleet->set[fleet->count++].fd < 0)
        die("no descriptors left");
    advance(fleet, consumer);
}

void fleet_open(struct fleet *fleet, const char *socket, const char *name, size_t count) {
    fleet_begin(fleet, count);
    for (size_t i = 0; i < count; i++) {
        struct link link = link_open(socket, name);
        dueq_queue **queue = must_allocate(1, sizeof *queue);
        *queue = link.queue;
        fleet_add(fleet, link.client, queue, 1);
    }
    redisContext *control = bare_open(socket);
    double limit_us = now_us(CLOCK_MONOTONIC) + 30e6;
    while (info_number(control, "clients", "blocked_clients:") != (long long)count) {
        if (now_us(CLOCK_MONOTONIC) > limit_us)
            die("not all of the %zu consumers wait", count);
        fleet_run(fleet, 5);
    }
    redisFree(control);
}

void fleet_close(struct fleet *fleet) {
    for (size_t i = 0; i < fleet->count; i++) {
        struct consumer *consumer = &fleet->consumers[i];
        dueq_abandon(consumer->client);
        dueq_consumer_close(consumer->loop);
        for (size_t k = 0; k < consumer->queue_count; k++)
            dueq_queue_close(consumer->queues[k]);
        free(consumer->queues);
        dueq_close(consumer->client);
    }
    free(fleet->consumers);
    free(fleet->set);
}

/* What the server is sent */

static long long unblocks(struct meter *meter) {
    return info_number(meter->control, "commandstats", "cmdstat_client|unblock:calls=");
}

void meter_open(struct meter *meter, const char *socket) {
    meter->control = bare_open(socket);
    meter->monitor = bare_open(socket);
    freeReplyObject(bare_command(meter->monitor, "MONITOR"));
    meter->unblocks = unblocks(meter);
    meter_read(meter);
}

/* A line is: TIME [DB CLIENT] "COMMAND" "WORD" ..., and CLIENT is `lua` inside a script. */
static bool is_verb(const char *line, const char *verb) {
    const char *command = strstr(line, "] \"");
    return command && !strncasecmp(command + strlen("] \""), verb, strlen(verb));
}

struct traffic meter_read(struct meter *meter) {
    struct traffic traffic = {0};
    bool registers = false;
    freeReplyObject(bare_command(meter->control, "ECHO here"));
    for (bool end = false; !end;) {
        redisReply *line = bare_reply(meter->monitor);
        end = is_verb(line->str, "ECHO\" \"here");
        bool inside = strstr(line->str, " lua] ") != NULL;
        bool probe = !inside && (is_verb(line->str, "EXISTS\"") || is_verb(line->str, "HGET\""));
        /* What the script calls follows its own line. */
        if (!inside)
            registers = is_verb(line->str, "EVALSHA\"") &&
                        (strstr(line->str, ":consumers\"") || strstr(line->str, ":timings\""));
        if (!end && !probe && !registers && !is_verb(line->str, "INFO\"")) {
            traffic.calls++;
            traffic.sent += !inside;
        }
        freeReplyObject(line);
    }
    long long before = meter->unblocks;
    meter->unblocks = unblocks(meter);
    traffic.sent += (double)(meter->unblocks - before);
    traffic.calls += (double)(meter->unblocks - before);
    return traffic;
}

void meter_close(struct meter *meter) {
    redisFree(meter->control);
    redisFree(meter->monitor);
}
