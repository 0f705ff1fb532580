#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net.h"

/* Asks servers of which any can tell, one after the other, so that one that is gone costs a second at most. */

#define LONGEST_TRY_MS 1000

/* Each has a fair share of the time that a call has, and so has what comes after the answer. */
static int64_t fair_share(const struct dueq__inquiry *inquiry) {
    int64_t share = inquiry->conn.url->timeout_ms / (int64_t)(inquiry->count + 1);
    return share < 1 ? 1 : share > LONGEST_TRY_MS ? LONGEST_TRY_MS : share;
}

static void ask(struct dueq__inquiry *inquiry) {
    inquiry->sent = false;
    inquiry->until_ms = dueq__monotonic_ms() + inquiry->share_ms;
    dueq__conn_start_at(&inquiry->conn, inquiry->addresses[inquiry->at]);
    /* until_ms is its limit. */
    inquiry->conn.silence_ms = 0;
}

struct dueq__inquiry *dueq__inquiry_start(const struct dueq__url *url, const char *name,
                                          const struct dueq__address *addresses, size_t count,
                                          size_t first, struct dueq__resp *words) {
    struct dueq__inquiry *inquiry = words->failed ? NULL : calloc(1, sizeof *inquiry);
    if (!inquiry) {
        dueq__resp_free(words);
        return NULL;
    }
    dueq__conn_init(&inquiry->conn, url, name, NULL);
    inquiry->addresses = addresses;
    inquiry->count = count;
    inquiry->at = first % count;
    inquiry->words = *words;
    dueq__resp_init(words);
    inquiry->share_ms = fair_share(inquiry);
    ask(inquiry);
    return inquiry;
}

/* Of several failures, what a server said tells more than that another one cannot be reached. */
static dueq_status more_telling(dueq_status before, dueq_status now) {
    if (now == DUEQ_CLOSED || now == DUEQ_TIMEOUT)
        now = DUEQ_CONNECT;
    return before == DUEQ_OK || before == DUEQ_CONNECT ? now : before;
}

/* Goes on to the next; after the last it is over, and its error has the reasons of all. */
static void pass(struct dueq__inquiry *inquiry, dueq_status status, const char *why) {
    size_t size = strlen(inquiry->reasons), room = sizeof inquiry->reasons;
    snprintf(inquiry->reasons + size, room - size, "%s%s", size ? "; " : "", why);
    inquiry->status = more_telling(inquiry->status, status);
    dueq__reply_free(inquiry->reply);
    inquiry->reply = NULL;
    if (++inquiry->tried < inquiry->count) {
        inquiry->at = (inquiry->at + 1) % inquiry->count;
        ask(inquiry);
        return;
    }
    dueq__conn_close(&inquiry->conn);
    dueq__fail(&inquiry->error, inquiry->status, "%s", inquiry->reasons);
    inquiry->error.recovery = DUEQ__FAILOVER;
}

void dueq__inquiry_pass(struct dueq__inquiry *inquiry, dueq_status status, const char *what) {
    char why[DUEQ__SHOWN_ADDRESS + sizeof inquiry->error.text + 16];
    snprintf(why, sizeof why, "%s %s", inquiry->conn.at, what);
    pass(inquiry, status, why);
}

static void lost(struct dueq__inquiry *inquiry) {
    const struct dueq__error *error = &inquiry->conn.error;
    bool named = strstr(error->text, inquiry->conn.at);
    char what[sizeof error->text + 16];
    snprintf(what, sizeof what, "refuses: %s", error->text);
    if (named)
        pass(inquiry, error->status, error->text);
    else
        dueq__inquiry_pass(inquiry, error->status, what);
}

static void take_answer(struct dueq__inquiry *inquiry) {
    struct dueq__error problem;
    bool maps = inquiry->conn.url->topology == DUEQ__CLUSTER;
    inquiry->reply = dueq__conn_reply(&inquiry->conn, maps ? DUEQ__MAP_ANSWER : DUEQ__SMALL_ANSWER);
    if (!inquiry->reply || !dueq__reply_is_error(inquiry->reply))
        return;
    dueq__reply_error(inquiry->reply, &problem);
    char what[sizeof problem.text + 16];
    snprintf(what, sizeof what, "refuses: %s", problem.text);
    dueq__inquiry_pass(inquiry, problem.status, what);
}

static bool is_over(const struct dueq__inquiry *inquiry) {
    return inquiry->reply || inquiry->error.status;
}

/* Moves the one that is asked on; false: nothing more can be done now. */
static bool move_on(struct dueq__inquiry *inquiry) {
    struct dueq__conn *conn = &inquiry->conn;
    size_t tried = inquiry->tried;
    dueq__conn_pump(conn);
    if (conn->state == DUEQ__CONN_READY && !inquiry->sent) {
        const struct dueq__resp *words = &inquiry->words;
        inquiry->sent = true;
        if (!dueq__conn_send(conn, &words, 1))
            pass(inquiry, DUEQ_NO_MEMORY, dueq_status_text(DUEQ_NO_MEMORY));
        dueq__conn_flush(conn);
    } else if (conn->state == DUEQ__CONN_READY) {
        take_answer(inquiry);
    }
    if (is_over(inquiry) || inquiry->tried > tried)
        return !is_over(inquiry);
    if (conn->state == DUEQ__CONN_CLOSED) {
        lost(inquiry);
    } else if (dueq__monotonic_ms() >= inquiry->until_ms) {
        char what[64];
        snprintf(what, sizeof what, "did not answer within %lld ms", (long long)inquiry->share_ms);
        dueq__inquiry_pass(inquiry, DUEQ_TIMEOUT, what);
    } else {
        return false;
    }
    return !is_over(inquiry);
}

bool dueq__inquiry_pump(struct dueq__inquiry *inquiry) {
    while (!is_over(inquiry) && move_on(inquiry))
        ;
    return is_over(inquiry);
}

void dueq__inquiry_drop(struct dueq__inquiry *inquiry) {
    if (!inquiry)
        return;
    dueq__conn_close(&inquiry->conn);
    dueq__reply_free(inquiry->reply);
    dueq__resp_free(&inquiry->words);
    free(inquiry);
}
