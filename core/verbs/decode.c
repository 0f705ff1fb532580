#include <stdlib.h>

#include "verbs.h"

/* How the verbs read the answers of their scripts. */

void dueq__answer_unexpected(dueq_client *client) {
    dueq__op_finish(client, dueq__fail(&client->error, DUEQ_PROTOCOL,
                                       "the server's answer to %s is not what the script returns",
                                       client->op->request.script->name));
}

static bool are_all_of(const char *allowed, dueq_bytes digits, size_t count) {
    bool good = digits.size == count;
    for (size_t i = 0; good && i < count; i++)
        good = memchr(allowed, ((const char *)digits.data)[i], strlen(allowed)) != NULL;
    return good;
}

bool dueq__outcomes_are_valid(dueq_bytes digits, size_t count) {
    return are_all_of("01234589", digits, count);
}

void dueq__refused_tell(dueq_client *client, const dueq_result *result) {
    struct dueq__error *error = &client->error;
    size_t refused = 0;
    for (size_t i = 0; i < result->count; i++)
        refused += result->items[i].status == DUEQ_BACKLOG;
    if (result->first_pushed)
        dueq__fail(error, DUEQ_BACKLOG,
                   "the message is not acknowledged, and nothing is pushed: as many messages of a "
                   "successor's group wait as its backlog allows; try it again later");
    else if (result->count == 1)
        dueq__fail(error, DUEQ_BACKLOG,
                   "the message is not stored: as many messages of its group wait as its backlog "
                   "allows; push it again later");
    else
        dueq__fail(error, DUEQ_BACKLOG,
                   "%zu of %zu messages are not stored: as many messages of their groups wait as "
                   "the backlog allows; push these again later",
                   refused, result->count);
}

/* Ends the operation with its outcomes. */
static void finish_outcomes(dueq_client *client) {
    dueq_result *result = client->op->result;
    dueq_status status = result ? dueq__durable_status(client, result) : DUEQ_OK;
    if (status == DUEQ_BACKLOG)
        dueq__refused_tell(client, result);
    dueq__op_finish_result(client, result, status);
}

static void on_relayed(dueq_client *client, dueq_status status, dueq_result *result) {
    (void)status;
    (void)result;
    client->error = (struct dueq__error){0};
    finish_outcomes(client);
}

/* Takes a flag off, which may stand behind the digits of the items. */
static bool take_flag(dueq_bytes *digits, size_t item_count, char flag) {
    bool found =
        digits->size > item_count && ((const char *)digits->data)[digits->size - 1] == flag;
    digits->size -= found;
    return found;
}

void dueq__decode_outcomes(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__op *op = client->op;
    const struct dueq__item_ids *items = op->verb;
    dueq_bytes digits = {0};
    int64_t number;
    char digit;
    if (!dueq__reply_bytes(reply, &digits) && dueq__reply_number(reply, &number) && number >= 0 &&
        number <= 9) {
        digit = (char)('0' + number);
        digits = (dueq_bytes){&digit, 1};
    }
    bool relays = take_flag(&digits, op->item_count, '+');
    bool has_limits = take_flag(&digits, op->item_count, 'l');
    if (op->request.script == &dueq__script_ack_wake ||
        op->request.script == &dueq__script_ack_end) {
        op->queue->has_limits = has_limits;
        op->queue->limits_minute = dueq__op_minute();
    }
    if (!dueq__outcomes_are_valid(digits, op->item_count)) {
        dueq__answer_unexpected(client);
        return;
    }
    op->result = dueq__result_outcomes(digits, items ? items->ids : NULL, &client->error);
    if (op->result && items)
        op->result->first_pushed = items->first_pushed;
    if (op->result && relays)
        dueq__relay(client, on_relayed);
    else
        finish_outcomes(client);
}

void dueq__decode_states(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__op *op = client->op;
    dueq_bytes states = {0};
    dueq__reply_bytes(reply, &states);
    bool relays = take_flag(&states, op->item_count, '+');
    if (!are_all_of("01234", states, op->item_count)) {
        dueq__answer_unexpected(client);
        return;
    }
    op->result = dueq__result_states(states, &client->error);
    if (op->result && relays)
        dueq__relay(client, on_relayed);
    else
        finish_outcomes(client);
}

/* Reads "COUNT" or "COUNT REST". */
static bool read_count(const struct dueq__reply *reply, int64_t *count, bool *has_rest,
                       dueq_bytes *rest) {
    dueq_bytes digits;
    if (!dueq__reply_bytes(reply, rest))
        return false;
    *has_rest = dueq__take_word(rest, ' ', &digits);
    return dueq__read_number(digits, 0, 999999999, count);
}

static void on_purge_relayed(dueq_client *client, dueq_status status, dueq_result *result) {
    (void)status;
    (void)result;
    client->error = (struct dueq__error){0};
    dueq__op_finish_result(client, client->op->result, DUEQ_EMPTY);
}

/* "12": none is left; "12 +": there may be more; "12 r": none is left, and a relay has work. */
void dueq__decode_purged(dueq_client *client, const struct dueq__reply *reply) {
    int64_t count;
    bool more;
    dueq_bytes rest;
    if (!read_count(reply, &count, &more, &rest)) {
        dueq__answer_unexpected(client);
        return;
    }
    dueq_result *result = dueq__result_purged((size_t)count, &client->error);
    if (result && dueq__bytes_equal(rest, dueq__text("r"))) {
        client->op->result = result;
        dueq__relay(client, on_purge_relayed);
    } else {
        dueq__op_finish_result(client, result, more ? DUEQ_OK : DUEQ_EMPTY);
    }
}

/* "12 CURSOR"; an empty cursor: this was the last page. NULL: the operation has failed. */
static dueq_result *read_page(dueq_client *client, const struct dueq__reply *reply, size_t *count) {
    int64_t number;
    bool has_cursor;
    dueq_bytes cursor;
    if (!read_count(reply, &number, &has_cursor, &cursor) || !has_cursor) {
        dueq__answer_unexpected(client);
        return NULL;
    }
    *count = (size_t)number;
    dueq_result *result = dueq__result_page(NULL, 0, cursor, &client->error);
    if (!result)
        dueq__op_finish_result(client, NULL, DUEQ_OK);
    return result;
}

void dueq__decode_kicked(dueq_client *client, const struct dueq__reply *reply) {
    size_t count;
    dueq_result *result = read_page(client, reply, &count);
    if (!result)
        return;
    result->kicked = count;
    dueq__op_finish_result(client, result, DUEQ_OK);
}

void dueq__decode_purged_page(dueq_client *client, const struct dueq__reply *reply) {
    size_t count;
    dueq_result *result = read_page(client, reply, &count);
    if (!result)
        return;
    result->purged = count;
    dueq__op_finish_result(client, result, DUEQ_OK);
}

/* Ends the call with a result that points into the reply. */
static void finish_with(dueq_client *client, dueq_result *result) {
    dueq__result_take_reply(result, &client->reply);
    dueq__op_finish_result(client, result, DUEQ_OK);
}

void dueq__decode_names(dueq_client *client, const struct dueq__reply *reply) {
    dueq_result *result = dueq__result_new(NULL, dueq__reply_count(reply), 0, &client->error);
    for (size_t i = 0; result && i < result->count; i++)
        if (!dueq__reply_bytes(dueq__reply_item(reply, i), &result->items[i].id)) {
            dueq_result_free(result);
            dueq__answer_unexpected(client);
            return;
        }
    finish_with(client, result);
}

void dueq__decode_limits(dueq_client *client, const struct dueq__reply *reply) {
    finish_with(client, dueq__result_limits(reply, &client->error));
}

void dueq__decode_found(dueq_client *client, const struct dueq__reply *reply) {
    if (dueq__reply_is_nil(reply))
        dueq__op_finish(client, DUEQ_NOT_FOUND);
    else
        finish_with(client, dueq__result_found(reply, &client->error));
}

void dueq__decode_peeked(dueq_client *client, const struct dueq__reply *reply) {
    const dueq_state *state = client->op->verb;
    finish_with(client, dueq__result_peeked(reply, *state, &client->error));
}

void dueq__decode_workers(dueq_client *client, const struct dueq__reply *reply) {
    finish_with(client, dueq__result_workers(reply, &client->error));
}

void dueq__decode_failures(dueq_client *client, const struct dueq__reply *reply) {
    finish_with(client, dueq__result_failures(reply, &client->error));
}

void dueq__decode_groups(dueq_client *client, const struct dueq__reply *reply) {
    /* The result has copies. */
    dueq__op_finish_result(client, dueq__result_groups(reply, &client->error), DUEQ_OK);
}

void dueq__decode_batches(dueq_client *client, const struct dueq__reply *reply) {
    if (dueq__reply_is_nil(reply))
        dueq__op_finish(client, DUEQ_NOT_FOUND);
    else
        finish_with(client, dueq__result_batches(reply, &client->error));
}

void dueq__decode_counted(dueq_client *client, const struct dueq__reply *reply) {
    finish_with(client, dueq__result_counted(reply, &client->node->server_info, &client->error));
}

void dueq__decode_rated(dueq_client *client, const struct dueq__reply *reply) {
    finish_with(client, dueq__result_rated(reply, &client->error));
}
