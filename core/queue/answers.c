#include "queue.h"

/* What the verbs make of the answers of their scripts. */

void dueq__ops_unexpected(dueq_client *client) {
    dueq__call_finish(client, dueq__fail(&client->error, DUEQ_PROTOCOL,
                                         "the server's answer to %s is not what the script returns",
                                         client->call.script->name));
}

/* Scripts answer one digit for each item: a status from 0 to 5, or 8. */
static bool is_outcome(char digit) { return (digit >= '0' && digit <= '5') || digit == '8'; }

bool dueq__ops_outcomes(dueq_bytes digits, size_t count) {
    bool good = digits.size == count;
    for (size_t i = 0; good && i < digits.size; i++)
        good = is_outcome(((const char *)digits.data)[i]);
    return good;
}

/* Ends the call with its outcomes. */
static void answer(dueq_client *client) {
    dueq_result *result = client->call.result;
    dueq__call_answer(client, result, result ? dueq__result_summary(result) : DUEQ_OK);
}

void dueq__decode_outcomes(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__call *call = &client->call;
    dueq_bytes digits;
    int64_t number;
    char digit;
    if (dueq__reply_number(reply, &number) && !dueq__reply_bytes(reply, &digits) && number >= 0 &&
        number <= 9) {
        digit = (char)('0' + number);
        digits = (dueq_bytes){&digit, 1};
    } else if (!dueq__reply_bytes(reply, &digits)) {
        digits = (dueq_bytes){0};
    }
    bool relays =
        digits.size == call->wait.count + 1 && ((const char *)digits.data)[digits.size - 1] == '+';
    digits.size -= relays;
    if (!dueq__ops_outcomes(digits, call->wait.count)) {
        dueq__ops_unexpected(client);
        return;
    }
    dueq_result *result = dueq__result_outcomes(digits, call->ids, &client->error);
    call->result = result;
    if (result && relays)
        dueq__relay(client, answer);
    else
        answer(client);
}

/* Is it a digit for each item: a state, or 0? */
static bool are_states(dueq_bytes states, size_t count) {
    bool good = states.size == count;
    for (size_t i = 0; good && i < count; i++) {
        char state = ((const char *)states.data)[i];
        good = state >= '0' && state <= '0' + DUEQ_DEAD;
    }
    return good;
}

void dueq__decode_states(dueq_client *client, const struct dueq__reply *reply) {
    dueq_bytes states;
    if (!dueq__reply_bytes(reply, &states) || !are_states(states, client->call.wait.count)) {
        dueq__ops_unexpected(client);
        return;
    }
    dueq_result *result = dueq__result_cancelled(states, &client->error);
    dueq__call_answer(client, result, result ? dueq__result_summary(result) : DUEQ_OK);
}

/* Takes the number that a text begins with; false: there is none, or it is none of messages. */
static bool take_count(const struct dueq__reply *reply, size_t *count, dueq_bytes *rest) {
    dueq_bytes text;
    size_t at = 0;
    *count = 0;
    if (dueq__reply_bytes(reply, &text))
        for (const char *c = text.data; at < text.size && c[at] >= '0' && c[at] <= '9'; at++)
            *count = *count * 10 + (size_t)(c[at] - '0');
    if (at == 0 || at > 9)
        return false;
    *rest = (dueq_bytes){(const char *)text.data + at, text.size - at};
    return true;
}

/* "12", or "12 +" when there may be more. */
void dueq__decode_purged(dueq_client *client, const struct dueq__reply *reply) {
    size_t purged;
    dueq_bytes rest;
    if (!take_count(reply, &purged, &rest)) {
        dueq__ops_unexpected(client);
        return;
    }
    dueq__call_answer(client, dueq__result_purged(purged, &client->error),
                      rest.size ? DUEQ_OK : DUEQ_EMPTY);
}

/* "12 CURSOR"; an empty cursor: there is no more. */
void dueq__decode_kicked(dueq_client *client, const struct dueq__reply *reply) {
    size_t kicked;
    dueq_bytes rest;
    if (!take_count(reply, &kicked, &rest) || !rest.size || *(const char *)rest.data != ' ') {
        dueq__ops_unexpected(client);
        return;
    }
    rest = (dueq_bytes){(const char *)rest.data + 1, rest.size - 1};
    dueq__call_answer(client, dueq__result_kicked(kicked, rest, &client->error), DUEQ_OK);
}

void dueq__decode_found(dueq_client *client, const struct dueq__reply *reply) {
    if (dueq__reply_is_nil(reply))
        dueq__call_finish(client, DUEQ_NOT_FOUND);
    else
        dueq__call_answer(client, dueq__result_found(reply, &client->error), DUEQ_OK);
}

void dueq__decode_counted(dueq_client *client, const struct dueq__reply *reply) {
    dueq__call_answer(client, dueq__result_counted(reply, client->server.evicts, &client->error),
                      DUEQ_OK);
}

void dueq__decode_rated(dueq_client *client, const struct dueq__reply *reply) {
    dueq__call_answer(client, dueq__result_rated(reply, &client->error), DUEQ_OK);
}

void dueq__decode_peeked(dueq_client *client, const struct dueq__reply *reply) {
    dueq__call_answer(client, dueq__result_peeked(reply, client->call.state, &client->error),
                      DUEQ_OK);
}
