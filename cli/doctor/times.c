#include <stdlib.h>

#include "doctor.h"

/* TIME measures both the server's clock and the round trip. */

#define QUESTIONS 9
#define FAR_MS 1000
#define SLOW_MS 10
#define LONG_MS 2

/*
 * The quickest of some round trips, and by it the server's clock minus this machine's. False: the
 * server refuses TIME.
 */
static bool measure(struct doctor *doctor, struct server *server, int64_t *ahead_ms,
                    int64_t *trip_us) {
    *trip_us = INT64_MAX;
    for (size_t i = 0; i < QUESTIONS; i++) {
        int64_t wall = time_now_ms(), start = time_monotonic_us();
        const dueq_answer *time = server_ask(doctor, server, "TIME", NULL);
        int64_t took_us = time_monotonic_us() - start;
        if (!time)
            return false;
        if (took_us >= *trip_us)
            continue;
        *trip_us = took_us;
        *ahead_ms = dueq_answer_number(dueq_answer_item(time, 0)) * 1000 +
                    dueq_answer_number(dueq_answer_item(time, 1)) / 1000 - wall - took_us / 2000;
    }
    return true;
}

static void say_clock(struct doctor *doctor, const struct server *server, int64_t ahead_ms) {
    char span[TIME_ROOM];
    if (llabs(ahead_ms) >= FAR_MS)
        say_of(doctor, server, CLOCK, WARNING, "let NTP set both clocks, by slewing",
               "its clock is %s %s this machine's: due times and leases go by the server's",
               time_format_span(llabs(ahead_ms), span), ahead_ms > 0 ? "ahead of" : "behind");
    else
        say_of(doctor, server, CLOCK, OK, NULL, "its clock is this machine's, within a second");
}

static void say_latency(struct doctor *doctor, const struct server *server, int64_t us) {
    if (us >= SLOW_MS * 1000)
        say_of(doctor, server, LATENCY, WARNING,
               "bring workers and server closer together, or reserve more at once (prefetch)",
               "a round trip takes %.1f ms, and each reserve and ack needs one", (double)us / 1000);
    else if (us >= LONG_MS * 1000)
        say_of(doctor, server, LATENCY, NOTE, "reserve more at once (prefetch)",
               "a round trip takes %.1f ms", (double)us / 1000);
    else
        say_of(doctor, server, LATENCY, OK, NULL, "a round trip takes %.2f ms", (double)us / 1000);
}

void check_times(struct doctor *doctor) {
    int64_t trip_us, ahead_ms = 0, least = INT64_MAX, most = INT64_MIN;
    char span[TIME_ROOM];
    for (size_t i = 0; i < doctor->count; i++) {
        struct server *server = &doctor->servers[i];
        if (server->role == ROLE_SENTINEL || !server->info)
            continue;
        if (!measure(doctor, server, &ahead_ms, &trip_us)) {
            say_of(doctor, server, CLOCK, UNKNOWN, "permit this user +time",
                   "it does not tell its time: %s", dueq_server_error_text(server->conn));
            continue;
        }
        say_clock(doctor, server, ahead_ms);
        say_latency(doctor, server, trip_us);
        least = ahead_ms < least ? ahead_ms : least;
        most = ahead_ms > most ? ahead_ms : most;
    }
    if (most > least && most - least >= FAR_MS)
        doctor_say(
            doctor, CHECK_CLOCK, LEVEL_WARNING, NULL, NULL,
            "let NTP set the clocks of all servers, by slewing",
            "the servers' clocks are up to %s apart: a failover moves due times and the ends "
            "of leases by that much",
            time_format_span(most - least, span));
}
