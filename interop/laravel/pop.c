#include "laravel.h"

/* The calls that may wait: pop and migrate. */

/* The first two items of both answers: the server's clock, and how long until a job is due. */
static bool take_times(const struct dueq__reply *reply, int64_t *now, int64_t *pause_ms) {
    return dueq__reply_number(dueq__reply_item(reply, 0), now) && *now >= 0 &&
           dueq__reply_number(dueq__reply_item(reply, 1), pause_ms) && *pause_ms >= -1;
}

/* pop */

static dueq_status ask_pop(dueq_client *client, bool stay, bool has_token) {
    struct dueq__op *op = client->op;
    struct dueq__resp words;
    (void)stay;
    dueq__op_arguments(client, &words);
    dueq__resp_number(&words, (int64_t)op->item_count);
    dueq__resp_number(&words, op->wait.terms.lease_ms);
    dueq__resp_text(&words, has_token ? "1" : "0");
    return dueq__op_submit(client, &words);
}

/*
 * The call is abandoned, so nobody reads what its request takes. Writes the command that gives
 * these jobs back.
 */
static void let_go_of_pop(dueq_client *client, const struct dueq__watch *watch,
                          struct dueq__resp *words) {
    struct dueq__op *op = client->op;
    dueq__script_write(words, &dueq__script_laravel_pop, op->request.keys);
    dueq__resp_number(words, (int64_t)op->request.number);
    dueq__resp_text(words, "1");
    dueq__resp_text(words, "0");
    dueq__resp_text(words, "0");
    dueq__resp_text(words, "0");
    dueq__resp_text(words, watch->duties & DUEQ__DUTY_TOKEN ? "1" : "0");
}

static void decode_popped(dueq_client *client, const struct dueq__reply *reply) {
    int64_t now, pause_ms, quarantined;
    if (!take_times(reply, &now, &pause_ms) ||
        !dueq__reply_number(dueq__reply_item(reply, 2), &quarantined) || quarantined < 0) {
        dueq__answer_unexpected(client);
        return;
    }
    dueq_result *result = dueq__laravel_popped(reply, &client->error);
    if (!result) {
        dueq__op_finish(client, client->error.status);
        return;
    }
    result->quarantined = (size_t)quarantined;
    dueq__wait_keep_result(client, result);
    if (dueq_result_count(result) > 0)
        dueq__wait_finish(client);
    else if (quarantined > 0)
        dueq__wait_request(client, 0);
    else
        dueq__laravel_nothing(client, now, pause_ms);
}

static dueq_status submit(dueq_laravel *queue, const struct dueq__script *script,
                          const struct dueq__wait_terms *terms, size_t tracks) {
    dueq_status status = dueq__arg_check_count(&queue->queue, queue, terms->count);
    if (!status)
        status = dueq__arg_check_wait(&queue->queue, terms->timeout_ms);
    if (!status)
        status = dueq__wait_begin(&queue->queue, script, 1, terms);
    if (status)
        return status;
    queue->tracked_count = tracks;
    queue->found_nothing = queue->tracking = false;
    queue->changed_us = DUEQ__NEVER;
    return dueq__wait_start(queue->queue.client);
}

static void block(const dueq_client *client, struct dueq__resp *words) {
    dueq_bytes tokens = client->op->wait.watches->wake_key;
    dueq__resp_text(words, "BLPOP");
    dueq__resp_bytes(words, tokens.data, tokens.size);
}

static void give_back(dueq_client *client, const struct dueq__watch *watch) {
    const dueq_bytes words[] = {dueq__text("RPUSH"), watch->wake_key, dueq__text("1")};
    dueq__node_send(client->node, DUEQ__EXPECT_IGNORED, words, 3);
}

dueq_status dueq_laravel_pop_submit(dueq_laravel *queue, size_t count, int64_t timeout_ms,
                                    int64_t retry_after_ms) {
    static const struct dueq__foreign_wait pops = {
        block,
        give_back,
        dueq__laravel_listen,
        dueq__laravel_listen_ms,
        dueq__laravel_track,
        dueq__laravel_tracked,
    };
    const struct dueq__wait_terms terms = {
        .count = count,
        .timeout_ms = timeout_ms,
        .lease_ms = retry_after_ms ? retry_after_ms : DUEQ_LARAVEL_RETRY_AFTER_MS,
        .wake_key = queue->queue.keys[DUEQ__LARAVEL_NOTIFY],
        .foreign = &pops,
        .request = ask_pop,
        .decode = decode_popped,
        .build_release = let_go_of_pop,
    };
    dueq__client_check_fork(queue->queue.client);
    dueq_status status =
        dueq__arg_check_ms(&queue->queue, "retry_after", retry_after_ms, 0, DUEQ_MAX_TIME_MS);
    return status ? status : submit(queue, &dueq__script_laravel_pop, &terms, DUEQ__LARAVEL_ALL);
}

/* migrate */

static dueq_status ask_migrate(dueq_client *client, bool stay, bool has_token) {
    struct dueq__resp words;
    (void)stay;
    (void)has_token;
    dueq__op_arguments(client, &words);
    dueq__resp_number(&words, (int64_t)client->op->item_count);
    return dueq__op_submit(client, &words);
}

static void decode_migrated(dueq_client *client, const struct dueq__reply *reply) {
    int64_t now, pause_ms, moved, quarantined;
    if (dueq__reply_count(reply) != 4 || !take_times(reply, &now, &pause_ms) ||
        !dueq__reply_number(dueq__reply_item(reply, 2), &moved) || moved < 0 ||
        !dueq__reply_number(dueq__reply_item(reply, 3), &quarantined) || quarantined < 0) {
        dueq__answer_unexpected(client);
        return;
    }
    if (moved + quarantined == 0) {
        dueq__laravel_nothing(client, now, pause_ms);
        return;
    }
    const dueq_moved step = {.struct_size = sizeof step,
                             .moved = (size_t)moved,
                             .quarantined = (size_t)quarantined,
                             .next_ms = pause_ms < 0 ? 0 : now + pause_ms};
    dueq__foreign_step(client, &step);
}

dueq_status dueq_laravel_migrate_submit(dueq_laravel *queue, size_t most, int64_t timeout_ms) {
    static const struct dueq__foreign_wait migrates = {
        .pump = dueq__laravel_listen,
        .next_ms = dueq__laravel_listen_ms,
        .before_request = dueq__laravel_track,
        .on_track_reply = dueq__laravel_tracked,
    };
    const struct dueq__wait_terms terms = {.count = most,
                                           .timeout_ms = timeout_ms,
                                           .foreign = &migrates,
                                           .request = ask_migrate,
                                           .decode = decode_migrated};
    dueq__client_check_fork(queue->queue.client);
    return submit(queue, &dueq__script_laravel_migrate, &terms, DUEQ__LARAVEL_TIMES);
}

/* The blocking forms */

dueq_status dueq_laravel_pop(dueq_laravel *queue, size_t count, int64_t timeout_ms,
                             int64_t retry_after_ms, dueq_result **result) {
    return dueq__verb_run(queue->queue.client,
                          dueq_laravel_pop_submit(queue, count, timeout_ms, retry_after_ms),
                          result);
}

dueq_status dueq_laravel_migrate(dueq_laravel *queue, size_t most, int64_t timeout_ms,
                                 dueq_moved *moved) {
    dueq_status status = dueq__foreign_check_moved(&queue->queue, moved);
    return status ? status
                  : dueq__foreign_moved(
                        &queue->queue, dueq_laravel_migrate_submit(queue, most, timeout_ms), moved);
}
