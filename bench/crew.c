#include <stdlib.h>
#include <string.h>

#include "crew.h"

/* ---- Consumers ---- */

static void enter(struct consumer *consumer, enum consumer_state state) {
    consumer->state = state;
    consumer->since_us = now_us(CLOCK_MONOTONIC);
}

static void work(struct crew *crew, struct consumer *consumer, const dueq_message *message) {
    consumer->ticket = message->ticket;
    consumer->taken++;
    crew->taken++;
    if (crew->note)
        crew->note(crew, consumer, message);
    enter(consumer, WORKING);
    consumer->done_us = consumer->since_us + crew->work_us;
}

static void wait_for_more(struct consumer *consumer) {
    dueq_status status = dueq_consumer_submit(consumer->loop, DUEQ_FOREVER);
    if (status != DUEQ_PENDING)
        die("the consumer does not wait: %s", dueq_error_text(consumer->client));
    enter(consumer, WAITING);
}

/* Moves a consumer on as far as that goes at once. */
static void advance(struct crew *crew, struct consumer *consumer) {
    for (;;) {
        if (consumer->state == WORKING) {
            if (now_us(CLOCK_MONOTONIC) < consumer->done_us)
                return;
            must(consumer->client, dueq_consumer_ack(consumer->loop, consumer->ticket));
            crew->done++;
            wait_for_more(consumer);
        }
        if (dueq_pump(consumer->client) == DUEQ_PENDING)
            return;
        const dueq_message *message;
        dueq_status status = dueq_consumer_take(consumer->loop, &message, NULL);
        if (status == DUEQ_PENDING)
            continue;
        must(consumer->client, status);
        work(crew, consumer, message);
    }
}

void crew_drive(struct crew *crew, size_t done, double until_us) {
    while (!done || crew->done < done) {
        double now = now_us(CLOCK_MONOTONIC), alarm_us = until_us;
        if (now >= until_us)
            return;
        for (size_t i = 0; i < crew->count; i++) {
            const struct consumer *consumer = &crew->consumers[i];
            bool works = consumer->state == WORKING;
            crew->set[i].events = works ? 0 : POLLIN;
            if (works && consumer->done_us < alarm_us)
                alarm_us = consumer->done_us;
        }
        double left_us = alarm_us > now ? alarm_us - now : 0;
        const struct timespec left = {(time_t)(left_us / 1e6), (long)left_us % 1000000 * 1000};
        if (ppoll(crew->set, crew->count, &left, NULL) < 0)
            die("poll failed");
        for (size_t i = 0; i < crew->count; i++)
            if (crew->set[i].revents || crew->consumers[i].state == WORKING)
                advance(crew, &crew->consumers[i]);
    }
}

void crew_finish(struct crew *crew, size_t done) {
    crew_drive(crew, done, now_us(CLOCK_MONOTONIC) + 60e6);
    if (crew->done < done)
        die("%zu of %zu messages came within a minute", crew->done, done);
}

void crew_rest(struct crew *crew, double ms) {
    crew_drive(crew, 0, now_us(CLOCK_MONOTONIC) + ms * 1000);
}

static long long info_number(redisContext *control, const char *section, const char *name) {
    redisReply *info = bare_command(control, "INFO %s", section);
    const char *found = strstr(info->str, name);
    long long value = found ? atoll(found + strlen(name)) : 0;
    freeReplyObject(info);
    return value;
}

void crew_begin(struct crew *crew, size_t room) {
    *crew = (struct crew){0};
    crew->consumers = must_allocate(room, sizeof *crew->consumers);
    crew->set = must_allocate(room, sizeof *crew->set);
}

void crew_add(struct crew *crew, dueq_client *client, dueq_queue **queues, size_t queue_count) {
    const dueq_consumer_options options = DUEQ_CONSUMER;
    struct consumer *consumer = &crew->consumers[crew->count];
    *consumer = (struct consumer){.client = client, .queues = queues, .queue_count = queue_count};
    must(client, dueq_consumer_open(queues, queue_count, &options, &consumer->loop));
    wait_for_more(consumer);
    crew->set[crew->count].fd = dueq_descriptor(client);
    if (crew->set[crew->count++].fd < 0)
        die("no descriptors left");
    advance(crew, consumer);
}

void crew_open(struct crew *crew, const char *socket, const char *name, size_t count) {
    crew_begin(crew, count);
    for (size_t i = 0; i < count; i++) {
        struct link link = link_open(socket, name);
        dueq_queue **queue = must_allocate(1, sizeof *queue);
        *queue = link.queue;
        crew_add(crew, link.client, queue, 1);
    }
    redisContext *control = bare_open(socket);
    double limit_us = now_us(CLOCK_MONOTONIC) + 30e6;
    while (info_number(control, "clients", "blocked_clients:") != (long long)count) {
        if (now_us(CLOCK_MONOTONIC) > limit_us)
            die("not all of the %zu consumers wait", count);
        crew_rest(crew, 5);
    }
    redisFree(control);
}

void crew_close(struct crew *crew) {
    for (size_t i = 0; i < crew->count; i++) {
        struct consumer *consumer = &crew->consumers[i];
        dueq_abandon(consumer->client);
        dueq_consumer_close(consumer->loop);
        for (size_t k = 0; k < consumer->queue_count; k++)
            dueq_queue_close(consumer->queues[k]);
        free(consumer->queues);
        dueq_close(consumer->client);
    }
    free(crew->consumers);
    free(crew->set);
}

/* ---- What the server is sent ---- */

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
    freeReplyObject(bare_command(meter->control, "ECHO here"));
    for (bool end = false; !end;) {
        redisReply *line = bare_reply(meter->monitor);
        end = is_verb(line->str, "ECHO\" \"here");
        bool inside = strstr(line->str, " lua] ") != NULL;
        bool probe = !inside && (is_verb(line->str, "EXISTS\"") || is_verb(line->str, "HGET\""));
        if (!end && !probe && !is_verb(line->str, "INFO\"")) {
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
