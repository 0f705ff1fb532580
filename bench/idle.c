#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet.h"

/* By then a consumer has said who it is, which it does again in half an hour. */
#define REGISTERED_MS 3000

/* Prints the calls of each command since CONFIG RESETSTAT: {"exists": 2, ...}. */
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

void measure_idle(const char *socket, double seconds, size_t consumers) {
    redisContext *control = bare_open(socket);
    clockid_t clock = server_clock(control);
    freeReplyObject(bare_command(control, "FLUSHALL SYNC"));
    struct fleet fleet;
    fleet_open(&fleet, socket, "idle", consumers);

    fleet_run(&fleet, REGISTERED_MS);
    freeReplyObject(bare_command(control, "CONFIG RESETSTAT"));
    double server = now_us(clock), client = now_us(CLOCK_PROCESS_CPUTIME_ID);
    double begin = now_us(CLOCK_MONOTONIC);
    fleet_run(&fleet, seconds * 1000);
    double passed = (now_us(CLOCK_MONOTONIC) - begin) / 1e6;
    client = now_us(CLOCK_PROCESS_CPUTIME_ID) - client;
    server = now_us(clock) - server;
    if (fleet.taken)
        die("the queue was not empty");
    printf("{\"seconds\": %.3f, \"consumers\": %zu, \"client_us\": %.1f, \"server_us\": %.1f, ",
           passed, consumers, client, server);
    print_calls(control);
    printf("}\n");
    fleet_close(&fleet);
    redisFree(control);
}
