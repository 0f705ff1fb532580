#include <stdlib.h>
#include <string.h>

#include "doctor.h"

#define PAGE "100"
#define ROOM_OF_KEY (DUEQ_MAX_NAME + 24)
#define PATIENCE_MS 60000
#define LATE_MS 300000
#define OVERDUE_MS 10000
#define MANY_DEAD 1000
#define MANY_IDS 100000
#define MANY_CRASHED 5

/* What there is to say of one queue: nothing of a check means that it is fine. */
struct queue {
    struct doctor *doctor;
    const char *name;
    const dueq_counts *counts;
    int64_t reserved, died; /* in the last five minutes, in the last hour */
    bool *found;            /* by check */
};

#define say_queue(queue, check, level, fix, ...)                                                   \
    do {                                                                                           \
        (queue)->found[CHECK_##check] = true;                                                      \
        doctor_say((queue)->doctor, CHECK_##check, LEVEL_##level, NULL, (queue)->name, (fix),      \
                   __VA_ARGS__);                                                                   \
    } while (0)

static void name_key(const struct queue *queue, const char *what, char key[ROOM_OF_KEY]) {
    snprintf(key, ROOM_OF_KEY, "dueq:{%s}:%s", queue->name, what);
}

static void read_rates(struct queue *queue) {
    struct cli *cli = queue->doctor->cli;
    const int64_t now = queue->counts->now_ms;
    dueq_result *result;
    if (cli_wait(cli, dueq_rates_submit(cli->queue, 60, 0), &result) == DUEQ_OK)
        for (size_t i = 0; i < dueq_result_count(result); i++) {
            const dueq_rate *rate = dueq_result_rate(result, i);
            int64_t end = rate->start_ms + rate->span_ms;
            queue->reserved += end > now - 300000 ? rate->reserved : 0;
            queue->died += end > now - 3600000 ? rate->died : 0;
        }
    dueq_result_free(result);
}

static void check_flow(struct queue *queue) {
    const dueq_counts *counts = queue->counts;
    char age[TIME_ROOM];
    int64_t waited_ms = counts->oldest_ms ? counts->now_ms - counts->oldest_ms : 0;
    time_format_span(waited_ms, age);
    if (counts->paused && counts->ready > 0)
        say_queue(queue, PAUSED, WARNING, "dueq resume, when it may go on",
                  "it is paused, and %lld messages are ready", (long long)counts->ready);
    else if (counts->paused)
        say_queue(queue, PAUSED, NOTE, "dueq resume, when it may go on", "it is paused");
    else if (waited_ms > PATIENCE_MS && queue->reserved == 0)
        say_queue(queue, STUCK, PROBLEM, "start workers for it, or see why they do not reserve",
                  "%lld messages are ready, the oldest for %s, and nobody takes them",
                  (long long)counts->ready, age);
    else if (waited_ms > LATE_MS)
        say_queue(queue, STUCK, WARNING, "more workers, or faster ones",
                  "the workers do not keep up: %lld messages are ready, the oldest for %s",
                  (long long)counts->ready, age);
}

static void check_dead(struct queue *queue) {
    const dueq_counts *counts = queue->counts;
    if (queue->died > 0)
        say_queue(queue, DEAD, WARNING,
                  "dueq peek QUEUE dead says why; then dueq kick or dueq purge",
                  "%lld messages died in the last hour, %lld are dead", (long long)queue->died,
                  (long long)counts->dead);
    else if (counts->dead >= MANY_DEAD)
        say_queue(queue, DEAD, WARNING, "dueq kick, or dueq purge QUEUE dead: they stay until then",
                  "%lld dead messages take memory", (long long)counts->dead);
    else if (counts->dead > 0)
        say_queue(queue, DEAD, NOTE, "dueq peek QUEUE dead says why", "%lld messages are dead",
                  (long long)counts->dead);
    if (counts->outbox_error[0])
        say_queue(queue, OUTBOX, PROBLEM, "mend the other queue; dueq peek QUEUE outbox shows them",
                  "%lld messages do not get to another queue: %s", (long long)counts->outbox,
                  counts->outbox_error);
    if (counts->quarantined > 0)
        say_queue(queue, DAMAGED, WARNING, "dueq check QUEUE; see who else writes these keys",
                  "%lld entries were damaged and put aside", (long long)counts->quarantined);
}

/* Of entries of `attempts`, "DELIVERIES FORGIVEN CRASHES SUFFIX ERROR", those that a consumer was lost with. */
static size_t count_crashed(const dueq_answer *entries) {
    size_t crashed = 0;
    for (size_t i = 1; i < dueq_answer_count(entries); i += 2) {
        long crashes = 0;
        sscanf(dueq_answer_text(dueq_answer_item(entries, i)).data, "%*d %*d %ld", &crashes);
        crashed += crashes > 0;
    }
    return crashed;
}

/* Leases that are over and that nobody has taken back, and consumers that were lost before. */
static void check_leases(struct queue *queue, struct server *server) {
    static const char fix[] = "see why workers are killed; a longer lease, or a heartbeat";
    static const char what[] = "messages that were looked at were with a worker that was lost";
    struct doctor *doctor = queue->doctor;
    char leased[ROOM_OF_KEY], attempts[ROOM_OF_KEY], now[24];
    name_key(queue, "leased", leased);
    name_key(queue, "attempts", attempts);
    snprintf(now, sizeof now, "%lld", (long long)queue->counts->now_ms - OVERDUE_MS);
    const dueq_answer *answer = server_ask(doctor, server, "ZCOUNT", leased, "-inf", now, NULL);
    int64_t over = answer ? dueq_answer_number(answer) : 0;
    answer =
        answer ? server_ask(doctor, server, "HSCAN", attempts, "0", "COUNT", PAGE, NULL) : NULL;
    const dueq_answer *entries = answer ? dueq_answer_item(answer, 1) : NULL;
    size_t crashed = answer ? count_crashed(entries) : 0;
    if (!answer)
        say_queue(queue, LAPSED, UNKNOWN, "permit this user +zcount +hscan",
                  "its leases cannot be looked at: %s", dueq_peer_error_text(server->peer));
    else if (over > 0)
        say_queue(queue, LAPSED, WARNING, "start workers for it: who waits or reserves takes them",
                  "%lld leases ended, and nobody takes these messages", (long long)over);
    else if (crashed >= MANY_CRASHED)
        say_queue(queue, LAPSED, WARNING, fix, "%zu %s", crashed, what);
    else if (crashed > 0)
        say_queue(queue, LAPSED, NOTE, fix, "%zu %s", crashed, what);
}

static void check_ids(struct queue *queue, struct server *server) {
    char key[ROOM_OF_KEY];
    const dueq_counts *counts = queue->counts;
    name_key(queue, "unique", key);
    const dueq_answer *count = server_ask(queue->doctor, server, "ZCARD", key, NULL);
    int64_t ids = count ? dueq_answer_number(count) : 0;
    int64_t living = counts->ready + counts->delayed + counts->leased + counts->dead;
    if (!count)
        say_queue(queue, UNIQUE, UNKNOWN, "permit this user +zcard",
                  "its ids cannot be counted: %s", dueq_peer_error_text(server->peer));
    else if (ids >= MANY_IDS && ids > 10 * living)
        say_queue(queue, UNIQUE, WARNING, "push with a shorter unique",
                  "%lld ids are kept as unique, for %lld messages", (long long)ids,
                  (long long)living);
}

/* What is not counted by stats is asked of its server. */
static void check_keys(struct queue *queue, struct server *server) {
    const struct doctor *doctor = queue->doctor;
    if (server && doctor->wanted[CHECK_LAPSED])
        check_leases(queue, server);
    if (server && doctor->wanted[CHECK_UNIQUE])
        check_ids(queue, server);
    if (!server)
        say_queue(queue, QUEUES, UNKNOWN, "see what is said of the servers",
                  "it is not known which server has it");
}

/* False: others would fail as this one did, each for as long as a call tries. */
static bool look(struct doctor *doctor, const char *name, bool found[CHECKS]) {
    struct cli *cli = doctor->cli;
    struct queue queue = {doctor, name, NULL, 0, 0, found};
    struct server *server = server_of(doctor, name);
    dueq_result *result = NULL;
    if (server && !server->answers) {
        say_queue(&queue, QUEUES, PROBLEM, "see what is said of it", "its node %s does not answer",
                  dueq_peer_address(server->peer));
        return true;
    }
    dueq_status status = cli_wait(cli, dueq_stats_submit(cli->queue), &result);
    if (status == DUEQ_OK) {
        queue.counts = dueq_result_counts(result);
        read_rates(&queue);
        check_flow(&queue);
        check_dead(&queue);
        check_keys(&queue, server);
    } else {
        say_queue(&queue, QUEUES, UNKNOWN, "see what is said of the servers",
                  "it cannot be looked at: %s: %s", dueq_status_name(status),
                  dueq_error_text(cli->client));
    }
    dueq_result_free(result);
    return status == DUEQ_OK || !dueq_status_retriable(status);
}

/* The checks of queues, and what is said where none has anything. */
static const struct {
    enum check check;
    const char *fine;
} fine[] = {{CHECK_STUCK, "no queue has ready messages that nobody takes in time"},
            {CHECK_PAUSED, "no queue is paused"},
            {CHECK_DEAD, "no queue has dead messages"},
            {CHECK_LAPSED, "no lease ended without a settlement"},
            {CHECK_OUTBOX, "all messages get to the queues that they are for"},
            {CHECK_DAMAGED, "no entry was damaged"},
            {CHECK_UNIQUE, "no queue keeps ids in great number"}};

void check_queues(struct doctor *doctor) {
    struct cli *cli = doctor->cli;
    bool found[CHECKS] = {0}, any = false;
    int code;
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        any = any || doctor->wanted[fine[i].check];
    for (size_t i = 0; any && i < doctor->names.count; i++)
        if (cli_open_queue(cli, doctor->names.list[i], &code)) {
            any = look(doctor, doctor->names.list[i], found);
            cli_close_queue(cli);
        } else {
            doctor->bad = true;
        }
    for (size_t i = 0;
         i < sizeof fine / sizeof *fine && doctor->names.count && !found[CHECK_QUEUES]; i++)
        if (!found[fine[i].check])
            doctor_say(doctor, fine[i].check, LEVEL_OK, NULL, NULL, NULL, "%s", fine[i].fine);
}
