#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

void die(const char *format, ...) {
    va_list list;
    va_start(list, format);
    fputs("dueq-bench: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    exit(1);
}

void must(const dueq_client *client, dueq_status status) {
    if (status < 0)
        die("%s: %s", dueq_status_name(status), dueq_error_text(client));
    if (status > 0)
        die("unexpected outcome: %s", dueq_status_text(status));
}

void *must_allocate(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (!memory)
        die("out of memory");
    return memory;
}

dueq_client *client_open(const char *url) {
    dueq_client *client;
    dueq_status status = dueq_open(url, &client);
    if (!client)
        die("out of memory");
    must(client, status);
    return client;
}

struct link link_open(const char *socket, const char *name) {
    struct link link;
    char url[256];
    snprintf(url, sizeof url, "unix://%s", socket);
    link.client = client_open(url);
    must(link.client, dueq_queue_open(link.client, name, strlen(name), &link.queue));
    return link;
}

void link_close(struct link *link) {
    dueq_queue_close(link->queue);
    dueq_close(link->client);
}

void submit_reserve(struct link *link) {
    dueq_status status = dueq_reserve_submit(link->queue, 1, DUEQ_FOREVER, LEASE_MS);
    if (status != DUEQ_PENDING)
        must(link->client, status);
}

void begin_wait(struct link *link) {
    submit_reserve(link);
    dueq_status status = dueq_wait(link->client, 500);
    if (status != DUEQ_PENDING)
        die("the consumer does not wait: %s", dueq_status_name(status));
}

redisContext *bare_open(const char *socket) {
    redisContext *bare = redisConnectUnix(socket);
    if (!bare || bare->err)
        die("%s: %s", socket, bare ? bare->errstr : "out of memory");
    return bare;
}

redisReply *bare_reply(redisContext *bare) {
    void *reply;
    if (redisGetReply(bare, &reply) != REDIS_OK)
        die("%s", bare->errstr);
    if (((redisReply *)reply)->type == REDIS_REPLY_ERROR)
        die("%s", ((redisReply *)reply)->str);
    return reply;
}

redisReply *bare_command(redisContext *bare, const char *format, ...) {
    va_list list;
    va_start(list, format);
    redisvAppendCommand(bare, format, list);
    va_end(list);
    return bare_reply(bare);
}

double now_us(clockid_t clock) {
    struct timespec time;
    if (clock_gettime(clock, &time))
        die("the clock of the server's CPU time cannot be read");
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

clockid_t server_clock(redisContext *bare) {
    redisReply *info = bare_command(bare, "INFO server");
    const char *line = strstr(info->str, "process_id:");
    clockid_t clock;
    if (!line || clock_getcpuclockid((pid_t)atol(line + strlen("process_id:")), &clock))
        die("the server is not a process of this machine");
    freeReplyObject(info);
    return clock;
}

uint32_t draw(uint32_t below) {
    static uint32_t state = 2463534242;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state % below;
}

void print_list(const char *name, const double *numbers, size_t count) {
    printf("\"%s\": [", name);
    for (size_t i = 0; i < count; i++)
        printf("%s%.4f", i ? ", " : "", numbers[i]);
    printf("]");
}

/* The cost of a round trip without any work: what every call pays. */
static void measure_ping(const char *socket, size_t count) {
    redisContext *bare = bare_open(socket);
    clockid_t clock = server_clock(bare);
    for (size_t i = 0; i < 100; i++)
        freeReplyObject(bare_command(bare, "PING"));
    double server = now_us(clock), wall = now_us(CLOCK_MONOTONIC);
    for (size_t i = 0; i < count; i++)
        freeReplyObject(bare_command(bare, "PING"));
    printf("{\"server_us\": %.4f, \"wall_us\": %.4f}\n", (now_us(clock) - server) / (double)count,
           (now_us(CLOCK_MONOTONIC) - wall) / (double)count);
    redisFree(bare);
}

static void print_versions(void) {
    printf("{\"dueq\": \"%s\", \"hiredis\": \"%d.%d.%d\", \"compiler\": \"%s\"}\n", dueq_version(),
           HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH,
#ifdef __clang__
           __VERSION__
#else
           "GCC " __VERSION__
#endif
    );
}

static size_t number(const char *text) {
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    if (*end || end == text || value == 0)
        die("'%s' is not a number from 1", text);
    return (size_t)value;
}

int main(int count, char **words) {
    const char *verb = count > 1 ? words[1] : "";
    if (!strcmp(verb, "versions") && count == 2)
        print_versions();
    else if (!strcmp(verb, "timers") && count == 3)
        measure_timers(number(words[2]));
    else if (!strcmp(verb, "ping") && count == 4)
        measure_ping(words[2], number(words[3]));
    else if ((!strcmp(verb, "scripts") || !strcmp(verb, "loop") || !strcmp(verb, "bare")) &&
             count == 5)
        measure_cost(words[2], verb, number(words[3]), number(words[4]));
    else if (!strcmp(verb, "client") && count == 5) {
        run_client(words[2], words[3], number(words[4]));
        printf("{}\n");
    } else if (!strcmp(verb, "life") && count == 7)
        measure_life(words[2], !strcmp(words[3], "bare"), words[4], number(words[5]),
                     number(words[6]));
    else if (!strcmp(verb, "lateness") && count == 4)
        measure_lateness(words[2], number(words[3]));
    else if (!strcmp(verb, "idle") && count == 5)
        measure_idle(words[2], (double)number(words[3]), number(words[4]));
    else if (!strcmp(verb, "waking") && count == 5)
        measure_waking(words[2], number(words[3]), number(words[4]));
    else if (!strcmp(verb, "burst-wake") && count == 5)
        measure_burst_wake(words[2], number(words[3]), number(words[4]));
    else if (!strcmp(verb, "lease-end") && count == 4)
        measure_lease_end(words[2], number(words[3]));
    else if (!strcmp(verb, "memory") && count == 5)
        measure_memory(words[2], number(words[3]), number(words[4]));
    else if (!strcmp(verb, "group-memory") && count == 4)
        measure_group_memory(words[2], number(words[3]));
    else if (!strcmp(verb, "durable") && count == 6)
        measure_durable(words[2], words[3], !strcmp(words[4], "replica"), number(words[5]));
    else if (!strcmp(verb, "depth") && count == 6)
        measure_depth(words[2], words[3], number(words[4]), number(words[5]));
    else if (!strcmp(verb, "burst") && count == 6)
        measure_burst(words[2], number(words[3]), number(words[4]), !strcmp(words[5], "own"));
    else if (!strcmp(verb, "partitions-push") && count == 6)
        measure_partitions_push(words[2], number(words[3]), number(words[4]), number(words[5]));
    else if (!strcmp(verb, "partitions-work") && count == 6)
        measure_partitions_work(words[2], number(words[3]), number(words[4]), number(words[5]));
    else if (!strcmp(verb, "many") && count == 5)
        measure_many(words[2], !strcmp(words[3], "partitions"), number(words[4]));
    else
        die("usage: versions | timers COUNT | ping SOCKET COUNT | scripts SOCKET BATCH MESSAGES |\n"
            "  loop SOCKET BATCH MESSAGES | bare SOCKET BATCH MESSAGES | lateness SOCKET MESSAGES "
            "|\n"
            "  life SOCKET bare|dueq STEP BATCH MESSAGES |\n"
            "  client SOCKET push|delay|own|work COUNT |\n"
            "  idle SOCKET SECONDS CONSUMERS | waking SOCKET CONSUMERS MESSAGES |\n"
            "  burst-wake SOCKET CONSUMERS MESSAGES | lease-end SOCKET COUNT |\n"
            "  memory SOCKET MESSAGES BODY | durable SOCKET one|batch|pusher replica|plain "
            "MESSAGES |\n"
            "  depth SOCKET SOCKET MESSAGES MESSAGES |\n"
            "  burst SOCKET MESSAGES BATCH own|made |\n"
            "  partitions-push URL PARTITIONS MESSAGES BATCH |\n"
            "  partitions-work URL PARTITIONS MESSAGES BATCH | many URL queues|partitions COUNT");
    return 0;
}
