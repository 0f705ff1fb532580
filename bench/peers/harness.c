#include "harness.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BULK 200
#define HOUR_MS 3600000.0

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

/* Enqueue */

static size_t wanted, done;

static void *must_allocate(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    if (!memory)
        die("out of memory");
    return memory;
}

/* Bodies for `wanted` jobs: their due times as text, or nothing but a letter. */
static struct job *make_jobs(double spread_ms, double base_ms) {
    struct job *jobs = must_allocate(wanted, sizeof *jobs);
    char *bodies = must_allocate(wanted, BODY_SIZE + 1);
    for (size_t i = 0; i < wanted; i++) {
        char *body = bodies + i * (BODY_SIZE + 1);
        jobs[i] = (struct job){body, (int64_t)(base_ms + (double)i * spread_ms / (double)wanted)};
        snprintf(body, BODY_SIZE + 1, "%-*lld", BODY_SIZE, (long long)jobs[i].due_ms);
        if (!base_ms) {
            memset(body, 'x', BODY_SIZE);
            jobs[i].due_ms = 0;
        }
    }
    return jobs;
}

static double begin, begin_cpu;

static void await_go(void) {
    printf("{\"ready\": true}\n");
    getchar();
    begin = now_seconds();
    begin_cpu = cpu_seconds();
}

static void tell_count(void) {
    printf("{\"count\": %zu, \"seconds\": %.9f, \"cpu\": %.9f}\n", wanted - 1,
           now_seconds() - begin, cpu_seconds() - begin_cpu);
}

/* The first job, then, once it is told to, the others. */
static void push(const struct peer *peer, const struct job *jobs, bool bulk) {
    if (bulk && !peer->push_many) {
        printf("{\"absent\": \"%s\"}\n", peer->no_bulk);
        return;
    }
    for (size_t at = 0; at < wanted;) {
        size_t some = !bulk || at == 0 ? 1 : wanted - at < BULK ? wanted - at : BULK;
        if (bulk)
            peer->push_many(jobs + at, some);
        else
            peer->push(jobs + at, NULL);
        if (bulk && peer->flush && (at == 0 || at + some == wanted))
            peer->flush();
        at += some;
        if (at == 1)
            await_go();
    }
    tell_count();
}

static void cancel(const struct peer *peer, const struct job *jobs) {
    char (*ids)[ID_SIZE] = must_allocate(wanted, sizeof *ids);
    for (size_t i = 0; i < wanted; i++)
        peer->push(&jobs[i], ids[i]);
    peer->cancel(ids[0]);
    await_go();
    for (size_t i = 1; i < wanted; i++)
        peer->cancel(ids[i]);
    tell_count();
}

/* Work */

void tell_ready(const char *format, ...) {
    va_list list;
    va_start(list, format);
    printf("{\"ready\": true, \"worker\": ");
    vprintf(format, list);
    printf("}\n");
    va_end(list);
}

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

/* Commands */

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
    wanted = (size_t)strtoull(most, NULL, 10);
    peer->connect();
    if (!strcmp(command, "push") && count == 5) {
        push(peer, make_jobs(0, 0), !strcmp(words[4], "bulk"));
    } else if (!strcmp(command, "delay") && count == 7) {
        push(peer, make_jobs(atof(words[4]), atof(words[5])), !strcmp(words[6], "bulk"));
    } else if (!strcmp(command, "cancel") && count == 4) {
        cancel(peer, make_jobs(1000, seconds_of(CLOCK_REALTIME) * 1000 + HOUR_MS));
    } else if (!strcmp(command, "work") && count == 5) {
        peer->work(words[4], count_job);
    } else if (!strcmp(command, "listen") && count == 5) {
        late_ms = must_allocate(wanted, sizeof *late_ms);
        peer->work(words[4], note_late);
    } else if (!strcmp(command, "idle") || !strcmp(command, "rescue")) {
        peer->work("one", tell);
    } else if (!strcmp(command, "hold") && count == 4) {
        hold_seconds = atof(most);
        peer->work("one", hold);
    } else {
        die("there is no command '%s'", command);
    }
    return 0;
}
