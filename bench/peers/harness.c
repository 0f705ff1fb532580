#include "harness.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BULK 200

static char job_body[BODY_SIZE + 1];

void die(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    _exit(1);
}

const char *environment(const char *name) {
    const char *value = getenv(name);
    if (!value)
        die("%s is not set", name);
    return value;
}

static double seconds_of(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

double now_seconds(void) { return seconds_of(CLOCK_MONOTONIC); }
static double cpu_seconds(void) { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

/* ---- Enqueue ---- */

static void push_bulk(const struct peer *peer, size_t count, bool last) {
    peer->push_many(job_body, count);
    if (last && peer->flush)
        peer->flush();
}

static void push(const struct peer *peer, size_t count, bool bulk) {
    if (bulk && !peer->push_many) {
        printf("{\"absent\": \"%s\"}\n", peer->no_bulk);
        return;
    }
    if (bulk)
        push_bulk(peer, 1, true);
    else
        peer->push(job_body);
    printf("{\"ready\": true}\n");
    getchar();
    size_t left = count - 1;
    double begin = now_seconds(), cpu = cpu_seconds();
    while (left > 0) {
        size_t some = !bulk ? 1 : left < BULK ? left : BULK;
        if (bulk)
            push_bulk(peer, some, left == some);
        else
            peer->push(job_body);
        left -= some;
    }
    printf("{\"count\": %zu, \"seconds\": %.9f, \"cpu\": %.9f}\n", count - 1, now_seconds() - begin,
           cpu_seconds() - cpu);
}

static void delay(const struct peer *peer, size_t count, double spread_ms, double base_ms) {
    for (size_t i = 0; i < count; i++) {
        int64_t due_ms = (int64_t)(base_ms + (double)i * spread_ms / (double)count);
        char body[BODY_SIZE + 1];
        snprintf(body, sizeof body, "%-*lld", BODY_SIZE, (long long)due_ms);
        peer->delay(body, due_ms);
    }
    printf("{\"pushed\": %zu}\n", count);
}

/* ---- Work ---- */

static size_t wanted, done;
static double first, first_cpu, hold_seconds;
static double *late_ms;

static bool count_job(const char *body) {
    (void)body;
    if (++done == 1) {
        first = now_seconds();
        first_cpu = cpu_seconds();
    }
    if (done == wanted)
        printf("{\"first\": %.9f, \"last\": %.9f, \"count\": %zu, \"cpu\": %.9f}\n", first,
               now_seconds(), done, cpu_seconds() - first_cpu);
    return done < wanted;
}

static bool note_late(const char *body) {
    if (done < wanted)
        late_ms[done++] = seconds_of(CLOCK_REALTIME) * 1000 - (double)atoll(body);
    if (done < wanted)
        return true;
    printf("{\"late_ms\": [");
    for (size_t i = 0; i < wanted; i++)
        printf("%s%.3f", i ? ", " : "", late_ms[i]);
    printf("]}\n");
    return false;
}

static bool tell(const char *body) {
    (void)body;
    printf("{\"handled\": true, \"at\": %.6f}\n", now_seconds());
    return true;
}

static bool hold(const char *body) {
    (void)body;
    printf("{\"took\": true, \"at\": %.6f}\n", now_seconds());
    struct timespec time = {(time_t)hold_seconds, 0};
    nanosleep(&time, NULL);
    return true;
}

static void work(const struct peer *peer, const char *setting, handle_job *handle) {
    printf("{\"ready\": true}\n");
    peer->work(setting, handle);
}

/* ---- Commands ---- */

static void end(int number) {
    (void)number;
    _exit(0);
}

int run_peer(const struct peer *peer, int count, char **words) {
    if (count < 3)
        die("usage: adapter CACHE COMMAND ARGS...");
    const char *command = words[2], *most = count > 3 ? words[3] : "0";
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    signal(SIGTERM, end);
    memset(job_body, 'x', BODY_SIZE);
    wanted = (size_t)strtoull(most, NULL, 10);
    peer->connect();
    if (!strcmp(command, "push") && count == 5) {
        push(peer, wanted, !strcmp(words[4], "bulk"));
    } else if (!strcmp(command, "delay") && count == 6) {
        delay(peer, wanted, atof(words[4]), atof(words[5]));
    } else if (!strcmp(command, "work") && count == 5) {
        work(peer, words[4], count_job);
    } else if (!strcmp(command, "listen") && count == 4) {
        late_ms = calloc(wanted, sizeof *late_ms);
        if (!late_ms)
            die("out of memory");
        work(peer, "wait", note_late);
    } else if (!strcmp(command, "idle")) {
        work(peer, "wait", tell);
    } else if (!strcmp(command, "rescue")) {
        work(peer, "rescue", tell);
    } else if (!strcmp(command, "hold") && count == 4) {
        hold_seconds = atof(most);
        work(peer, "wait", hold);
    } else {
        die("there is no command '%s'", command);
    }
    return 0;
}
