#include <inttypes.h>
#include <stdio.h>

#include "redisson.h"

/*
 * take. While a call waits, the server moves a value that comes to the list of parked values, so
 * that no value is lost with a connection or a process. The next take of any client finds it there.
 *
 * The server keeps the answer of a take. If no answer came, the next take of the handle has the
 * server put these values back. If several takes in a row had no answer, each put back the values
 * of the one before, so the server keeps those of the last take that it ran.
 */

/* How long the server keeps the values of a take for the next take of the handle. */
#define UNREAD_MS (2 * 3600 * 1000)

static void put_arguments(struct dueq__resp *words, size_t most, uint64_t unread) {
    dueq__resp_number(words, (int64_t)most);
    dueq__resp_number(words, (int64_t)unread);
}

/* Notes that the answer of this take, or of an earlier one, was not read. */
static void keep_unread(dueq_redisson *queue) {
    if (!queue->first_unread)
        queue->first_unread = queue->queue.client->op->request.number;
}

static dueq_status ask(dueq_client *client, bool stay, bool has_token) {
    dueq_redisson *queue = dueq__redisson_of(client);
    struct dueq__resp words;
    (void)stay;
    (void)has_token;
    snprintf(queue->take_session, sizeof queue->take_session, "%s/%" PRIu64, client->session,
             queue->serial);
    dueq__op_arguments_for_session(client, &words, queue->take_session, UNREAD_MS);
    put_arguments(&words, client->op->item_count, queue->first_unread);
    keep_unread(queue);
    return dueq__op_submit(client, &words);
}

static void decode(dueq_client *client, const struct dueq__reply *reply) {
    dueq__redisson_of(client)->first_unread = 0;
    dueq__redisson_values(client, reply);
}

/*
 * The call is abandoned, so nobody reads what its request takes. Writes the command that puts these
 * values back. The next take asks for the same, in case this command does not arrive.
 */
static void let_go(dueq_client *client, const struct dueq__watch *watch, struct dueq__resp *words) {
    struct dueq__op *op = client->op;
    dueq_redisson *queue = dueq__redisson_of(client);
    (void)watch;
    keep_unread(queue);
    dueq__script_write(words, &dueq__script_redisson_take, op->request.keys);
    dueq__resp_text(words, "0");
    dueq__resp_text(words, "1");
    dueq__resp_text(words, "0");
    put_arguments(words, 0, queue->first_unread);
}

static void block(const dueq_client *client, struct dueq__resp *words) {
    const dueq_bytes *keys = client->op->request.keys;
    dueq_bytes from = keys[DUEQ__REDISSON_DESTINATION], to = keys[DUEQ__REDISSON_PARKED];
    dueq__resp_text(words, "BLMOVE");
    dueq__resp_bytes(words, from.data, from.size);
    dueq__resp_bytes(words, to.data, to.size);
    dueq__resp_text(words, "LEFT");
    dueq__resp_text(words, "RIGHT");
}

static void give_back(dueq_client *client, const struct dueq__watch *watch) {
    const dueq_bytes words[] = {dueq__text("LMOVE"),
                                client->op->request.keys[DUEQ__REDISSON_PARKED], watch->wake_key,
                                dueq__text("LEFT"), dueq__text("LEFT")};
    dueq__node_send(client->node, DUEQ__EXPECT_IGNORED, words, 5);
}

dueq_status dueq_redisson_take_submit(dueq_redisson *queue, size_t count, int64_t timeout_ms) {
    static const struct dueq__foreign_wait takes = {.block = block, .give_back = give_back};
    dueq_client *client = queue->queue.client;
    const struct dueq__wait_terms terms = {
        .count = count,
        .timeout_ms = timeout_ms,
        .wake_key = queue->queue.keys[DUEQ__REDISSON_DESTINATION],
        .foreign = &takes,
        .request = ask,
        .decode = decode,
        .build_release = let_go,
    };
    dueq__client_check_fork(client);
    dueq_status status = dueq__arg_check_count(&queue->queue, queue, count);
    if (!status)
        status = dueq__arg_check_wait(&queue->queue, timeout_ms);
    if (!status)
        status = dueq__wait_begin(&queue->queue, &dueq__script_redisson_take, 1, &terms);
    return status ? status : dueq__wait_start(client);
}

dueq_status dueq_redisson_take(dueq_redisson *queue, size_t count, int64_t timeout_ms,
                               dueq_result **result) {
    return dueq__verb_run(queue->queue.client, dueq_redisson_take_submit(queue, count, timeout_ms),
                          result);
}
