#include "limits.h"

#include <stdio.h>
#include <string.h>

void show_progress(const char *step, size_t done, size_t all) {
    fprintf(stderr, "  %-28s %9zu of %zu\n", step, done, all);
}

int64_t clock_ms(void) { return (int64_t)(now_us(CLOCK_REALTIME) / 1000); }

void sleep_until_ms(int64_t at_ms) {
    struct timespec at = {(time_t)(at_ms / 1000), (long)(at_ms % 1000) * 1000000};
    while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL)) {
    }
}

void watch_open(struct watch *watch, redisContext *control) {
    *watch = (struct watch){.control = control, .clock = server_clock(control)};
    freeReplyObject(bare_command(control, "CONFIG SET slowlog-log-slower-than 0"));
    freeReplyObject(bare_command(control, "CONFIG SET latency-monitor-threshold 1"));
    freeReplyObject(bare_command(control, "LATENCY RESET"));
}

void watch_begin(struct watch *watch) {
    freeReplyObject(bare_command(watch->control, "SLOWLOG RESET"));
    watch->begun_us = now_us(watch->clock);
}

double watch_end(struct watch *watch) {
    double used_ms = (now_us(watch->clock) - watch->begun_us) / 1000, longest_ms = 0;
    redisReply *log = bare_command(watch->control, "SLOWLOG GET -1");
    for (size_t i = 0; i < log->elements; i++) {
        /* An entry: its number, time, microseconds and words. */
        const redisReply *entry = log->element[i], *words = entry->element[3];
        double took_ms = (double)entry->element[2]->integer / 1000;
        if (strncmp(words->element[0]->str, "EVAL", 4) != 0)
            continue;
        watch->scripts++;
        if (took_ms > watch->longest_slowlog_ms)
            watch->longest_slowlog_ms = took_ms;
        if (took_ms > longest_ms)
            longest_ms = took_ms;
    }
    freeReplyObject(log);
    if (longest_ms > used_ms)
        longest_ms = used_ms;
    if (longest_ms > watch->longest_ms)
        watch->longest_ms = longest_ms;
    return longest_ms;
}

void watch_print(const struct watch *watch, const char *name) {
    printf(
        "\"%s\": {\"scripts\": %zu, \"longest_ms\": %.3f, \"slowlog_ms\": %.3f, \"latency_ms\": {",
        name, watch->scripts, watch->longest_ms, watch->longest_slowlog_ms);
    redisReply *latest = bare_command(watch->control, "LATENCY LATEST");
    for (size_t i = 0; i < latest->elements; i++)
        printf("%s\"%s\": %lld", i ? ", " : "", latest->element[i]->element[0]->str,
               latest->element[i]->element[3]->integer);
    freeReplyObject(latest);
    printf("}}");
}
