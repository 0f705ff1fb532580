#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

/* Spaced as events that have nothing to do with each other: 5 to 40 ms apart. */
static int64_t draw_gap_ms(void) { return 5 + draw(36); }

static void push_due(struct link *producer, int64_t at_ms) {
    dueq_draft draft = DUEQ_DRAFT;
    draft.body = (dueq_bytes){&at_ms, sizeof at_ms};
    draft.at_ms = at_ms;
    must(producer->client, dueq_push(producer->queue, &draft, 1, NULL));
}

void measure_lateness(const char *socket, size_t messages) {
    redisContext *control = bare_open(socket);
    freeReplyObject(bare_command(control, "FLUSHALL SYNC"));
    redisFree(control);
    struct link producer = link_open(socket, "lateness"), consumer = link_open(socket, "lateness");
    double *late_ms = must_allocate(messages, sizeof *late_ms);
    int64_t *due_ms = must_allocate(messages, sizeof *due_ms);

    /* The consumer waits already when the first message is pushed. */
    begin_wait(&consumer);

    /* Pushed in an order that has nothing to do with their due times. */
    int64_t at_ms = (int64_t)(now_us(CLOCK_REALTIME) / 1000) + 1000;
    for (size_t i = 0; i < messages; i++) {
        size_t other = draw((uint32_t)i + 1);
        due_ms[i] = due_ms[other];
        due_ms[other] = at_ms;
        at_ms += draw_gap_ms();
    }
    for (size_t i = 0; i < messages; i++)
        push_due(&producer, due_ms[i]);

    size_t early = 0;
    for (size_t i = 0; i < messages; i++) {
        dueq_result *result;
        must(consumer.client, dueq_wait(consumer.client, -1));
        double got_us = now_us(CLOCK_REALTIME);
        must(consumer.client, dueq_take(consumer.client, &result));
        const dueq_message *message = dueq_result_message(result, 0);
        int64_t due;
        memcpy(&due, message->body.data, sizeof due);
        late_ms[i] = got_us / 1000 - (double)due;
        early += late_ms[i] < 0 || message->now_ms < due;
        must(consumer.client, dueq_ack(consumer.queue, &message->ticket, 1, NULL));
        dueq_result_free(result);
        if (i + 1 < messages)
            submit_reserve(&consumer);
    }
    printf("{\"early\": %zu, ", early);
    print_list("late_ms", late_ms, messages);
    printf("}\n");
    free(late_ms);
    free(due_ms);
    link_close(&producer);
    link_close(&consumer);
}

void measure_timers(size_t count) {
    double *late_ms = must_allocate(count, sizeof *late_ms);
    for (size_t i = 0; i < count; i++) {
        double due_us = now_us(CLOCK_MONOTONIC) + (double)draw_gap_ms() * 1000;
        struct timespec due = {(time_t)(due_us / 1e6), 0};
        due.tv_nsec = (long)((due_us - (double)due.tv_sec * 1e6) * 1000);
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
        late_ms[i] = (now_us(CLOCK_MONOTONIC) - due_us) / 1000;
    }
    printf("{");
    print_list("late_ms", late_ms, count);
    printf("}\n");
    free(late_ms);
}
