#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

/* Prints the calls of each command since CONFIG RESETSTAT: {"evalsha": 2, ...}. */
static void print_calls(redisContext *control) {
    redisReply *info = bare_command(control, "INFO commandstats");
    const char *separator = "", *line = info->str;
    printf("\"calls\": {");
    while ((line = strstr(line, "cmdstat_"))) {
        line += strlen("cmdstat_");
        const char *calls = strstr(line, ":calls=");
        if (!calls)
            break;
        printf("%s\"%.*s\": %lld", separator, (int)(calls - line), line,
               atoll(calls + strlen(":calls=")));
        separator = ", ";
    }
    printf("}");
    freeReplyObject(info);
}

void measure_idle(const char *socket, int64_t seconds) {
    redisContext *control = bare_open(socket);
    clockid_t clock = server_clock(control);
    freeReplyObject(bare_command(control, "FLUSHALL SYNC"));
    struct link consumer = link_open(socket, "idle");
    begin_wait(&consumer);

    freeReplyObject(bare_command(control, "CONFIG RESETSTAT"));
    double server = now_us(clock), client = now_us(CLOCK_PROCESS_CPUTIME_ID);
    double begin = now_us(CLOCK_MONOTONIC);
    if (dueq_wait(consumer.client, seconds * 1000) != DUEQ_PENDING)
        die("the consumer does not wait: %s", dueq_error_text(consumer.client));
    double passed = (now_us(CLOCK_MONOTONIC) - begin) / 1e6;
    client = now_us(CLOCK_PROCESS_CPUTIME_ID) - client;
    server = now_us(clock) - server;
    printf("{\"seconds\": %.3f, \"client_us\": %.1f, \"server_us\": %.1f, ", passed, client,
           server);
    print_calls(control);
    printf("}\n");
    dueq_abandon(consumer.client);
    link_close(&consumer);
    redisFree(control);
}
