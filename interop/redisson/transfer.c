#include "../foreign.h"
#include "../subscription.h"
#include "redisson.h"

/*
 * transfer. A waiting call does what Redisson does: it subscribes to the channel on which the
 * earliest due time is published, and looks at that time by its own clock.
 */

static dueq_status ask(dueq_client *client, bool stay, bool has_token) {
    struct dueq__resp words;
    (void)stay;
    (void)has_token;
    dueq__op_arguments(client, &words);
    dueq__resp_number(&words, dueq__redisson_of(client)->layout);
    dueq__resp_number(&words, (int64_t)client->op->item_count);
    return dueq__op_submit(client, &words);
}

static void decode(dueq_client *client, const struct dueq__reply *reply) {
    /* now ms, us to wait, moved, quarantined, the next due time in ms; or only the first two */
    int64_t numbers[5] = {0};
    size_t items = dueq__reply_count(reply);
    bool sound = items == 2 || items == 5;
    for (size_t i = 0; sound && i < items; i++)
        sound = dueq__reply_number(dueq__reply_item(reply, i), &numbers[i]) && numbers[i] >= -1;
    if (!sound) {
        dueq__answer_unexpected(client);
    } else if (items == 2) {
        int64_t most = 1000 * DUEQ_MAX_TIME_MS;
        dueq__wait_found_nothing(client, numbers[0], numbers[1] < most ? numbers[1] : most);
    } else {
        const dueq_moved moved = {.struct_size = sizeof moved,
                                  .moved = (size_t)numbers[2],
                                  .quarantined = (size_t)numbers[3],
                                  .next_ms = numbers[4]};
        dueq__foreign_step(client, &moved);
    }
}

/*
 * message: the earliest due time, in ms of the server's clock. During a request nobody knows
 * whether the message is newer than the answer will be: the call then asks again.
 */
static void told(dueq_client *client, const struct dueq__reply *message) {
    int64_t due;
    bool known = dueq__reply_number(message, &due) && due >= 0 && due <= DUEQ_MAX_TIME_MS;
    if (!known || !dueq__wait_is_idle(client->op)) {
        dueq__wait_ask_again(client);
        return;
    }
    int64_t left = due - dueq__wait_server_ms(client->op->wait.watches->queue);
    dueq__wait_check_by(client, dueq__monotonic_us() + (left > 0 ? left : 0) * 1000);
}

static void read_channel(dueq_client *client) {
    const struct dueq__channel channel = {client->op->wait.watches->wake_key, true, told};
    dueq__subscription_pump(client, &channel);
}

dueq_status dueq_redisson_transfer_submit(dueq_redisson *queue, size_t most, int64_t timeout_ms) {
    static const struct dueq__foreign_wait transfers = {.pump = read_channel,
                                                        .next_ms = dueq__subscription_next_ms};
    dueq_client *client = queue->queue.client;
    const struct dueq__wait_terms terms = {.count = most,
                                           .timeout_ms = timeout_ms,
                                           .wake_key = queue->queue.keys[DUEQ__REDISSON_CHANNEL],
                                           .foreign = &transfers,
                                           .request = ask,
                                           .decode = decode};
    dueq__client_check_fork(client);
    dueq_status status = dueq__arg_check_count(&queue->queue, queue, most);
    if (!status)
        status = dueq__arg_check_wait(&queue->queue, timeout_ms);
    if (!status)
        status = dueq__wait_begin(&queue->queue, &dueq__script_redisson_transfer, 1, &terms);
    return status ? status : dueq__wait_start(client);
}

dueq_status dueq_redisson_transfer(dueq_redisson *queue, size_t most, int64_t timeout_ms,
                                   dueq_moved *moved) {
    dueq_status status = dueq__foreign_check_moved(&queue->queue, moved);
    return status
               ? status
               : dueq__foreign_moved(&queue->queue,
                                     dueq_redisson_transfer_submit(queue, most, timeout_ms), moved);
}
