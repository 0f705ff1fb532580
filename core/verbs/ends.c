#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs.h"

/* How a message ended: asks outcome.lua, waits, and reads records of lib/note_end.lua. */

/*
 * The server notes a waiting call for this long. The call asks again within 15 s, which notes it
 * anew.
 */
#define NOTED_MS 60000

const struct dueq__item_type dueq__type_end = {sizeof(dueq_end)};

const dueq_end *dueq_result_end(const dueq_result *result, size_t index) {
    return dueq__result_item_value(result, &dueq__type_end, index);
}

static bool read_outcome(dueq_bytes word, const char **outcome) {
    static const char *const outcomes[] = {"acked", "dead", "cancelled", "expired", "purged"};
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++)
        if (dueq__bytes_equal(word, dueq__text(outcomes[i]))) {
            *outcome = outcomes[i];
            return true;
        }
    return false;
}

#define MOST_PID INT64_C(999999999999999)

/* "HOST PID"; empty: not known. */
static bool read_process(dueq_bytes text, dueq_end *end) {
    dueq_bytes pid;
    if (!text.size)
        return true;
    if (!dueq__take_last_word(&text, ' ', &pid))
        return false;
    end->host = text;
    return dueq__read_number(pid, 0, MOST_PID, &end->pid) && dueq__is_name(text);
}

/* "OUTCOME ENDED BEGAN", the ticket, who ended it, and the result or error, each on a line. */
static bool read_record(dueq_bytes record, dueq_end *end) {
    struct dueq__ticket ticket;
    dueq_bytes line, word, text, by;
    int64_t began;
    *end = (dueq_end){.waited_ms = -1, .ran_ms = -1};
    if (!dueq__take_word(&record, '\n', &line) || !dueq__take_word(&line, ' ', &word) ||
        !read_outcome(word, &end->outcome) || !dueq__take_word(&line, ' ', &word) ||
        !dueq__read_number(word, 0, DUEQ_MAX_TIME_MS, &end->time_ms) ||
        !dueq__read_number(line, 0, DUEQ_MAX_TIME_MS, &began) ||
        !dueq__take_word(&record, '\n', &text) || !dueq__ticket_read(text, &ticket) ||
        !dueq__take_word(&record, '\n', &by) || !read_process(by, end))
        return false;
    bool acked = !strcmp(end->outcome, "acked");
    int64_t created = dueq__ticket_time(&ticket), waited = began ? began : end->time_ms;
    end->id = ticket.id;
    end->created_ms = created > 0 ? created : 0;
    /* The producer's clock may be ahead of the server's. */
    if (created > 0 && (began || !ticket.deliveries))
        end->waited_ms = waited > created ? waited - created : 0;
    if (began)
        end->ran_ms = end->time_ms > began ? end->time_ms - began : 0;
    end->deliveries = ticket.deliveries + (acked ? 1 : 0);
    end->has_result = acked && record.size > 0;
    if (end->has_result)
        end->result = (dueq_bytes){(const char *)record.data + 1, record.size - 1};
    else
        end->error = record;
    return true;
}

enum { NOW = 0, AGAIN = 1, RECORD = 3, UNTIL = 4 };

/* NULL: the answer has no end. */
static dueq_result *result_end(const struct dueq__reply *reply, dueq_bytes record,
                               struct dueq__error *error) {
    dueq_end end;
    if (!read_record(record, &end) ||
        !dueq__reply_number(dueq__reply_item(reply, UNTIL), &end.until_ms) || end.until_ms < 0 ||
        end.until_ms > 2 * DUEQ_MAX_TIME_MS) {
        dueq__fail(error, DUEQ_CORRUPT, "the end of the message cannot be read");
        return NULL;
    }
    dueq_result *result = dueq__result_single(&dueq__type_end, &end, error);
    if (result)
        result->items->id = end.id;
    return result;
}

/* The state of the operation. Its keys have the id behind the word of the wake token's key. */
struct asked {
    dueq_bytes id;
    char bytes[]; /* the id, and the key */
};

static dueq_status request(dueq_client *client, bool keep_waiting, bool had_duties) {
    const struct asked *asked = client->op->verb;
    struct dueq__resp words;
    dueq__op_arguments(client, &words);
    dueq__resp_bytes(&words, asked->id.data, asked->id.size);
    dueq__resp_number(&words, keep_waiting ? NOTED_MS : 0);
    dueq__resp_text(&words, had_duties ? "r" : "");
    if (client->op->queue->looks_only)
        dueq__resp_text(&words, "l");
    return dueq__op_submit(client, &words);
}

static void decode(dueq_client *client, const struct dueq__reply *reply) {
    const struct asked *asked = client->op->verb;
    dueq_bytes record, word;
    int64_t now, again;
    if (dueq__reply_is_nil(reply)) {
        dueq__op_finish(client, DUEQ_NOT_FOUND);
    } else if (dueq__reply_bytes(reply, &word) && dueq__bytes_equal(word, dueq__text("unnoted"))) {
        dueq__op_finish(client, dueq__fail(&client->error, DUEQ_INVALID,
                                           "the message '%.*s' was pushed without keep: nothing "
                                           "will tell how it ends",
                                           (int)asked->id.size, (const char *)asked->id.data));
    } else if (!dueq__reply_number(dueq__reply_item(reply, NOW), &now) ||
               !dueq__reply_number(dueq__reply_item(reply, AGAIN), &again) || again < -1 ||
               again > 2 * DUEQ_MAX_TIME_MS ||
               !dueq__reply_bytes(dueq__reply_item(reply, RECORD), &record)) {
        dueq__answer_unexpected(client);
    } else if (record.size) {
        dueq_result *result = result_end(reply, record, &client->error);
        if (result)
            dueq__result_take_reply(result, &client->reply);
        dueq__wait_finish_found(client, result);
    } else {
        dueq__wait_found_nothing(client, now, again < 0 ? again : 1000 * again);
    }
}

static dueq_status ask(dueq_queue *queue, const struct dueq__fanout_request *asked) {
    return dueq_outcome_submit(queue, asked->items[0], asked->numbers[0]);
}

dueq_status dueq_outcome_submit(dueq_queue *queue, dueq_bytes id, int64_t timeout_ms) {
    dueq_client *client = queue->client;
    const struct dueq__wait_terms terms = {
        .kind = DUEQ__WAIT_END, .timeout_ms = timeout_ms, .request = request, .decode = decode};
    dueq__client_check_fork(client);
    dueq_status status = dueq__arg_check_ids(queue, &id, 1);
    if (!status)
        status = dueq__arg_check_wait(queue, timeout_ms);
    if (!status && queue->partitioned)
        return queue->partitioned->fanout(
            queue, &(struct dueq__fanout_request){.submit = ask,
                                                  .fanout = DUEQ__FANOUT_FIRST,
                                                  .items = &id,
                                                  .count = 1,
                                                  .numbers = {timeout_ms}});
    if (!status)
        status = dueq__wait_begin(queue, &dueq__script_outcome, 1, &terms);
    if (status)
        return status;
    dueq_bytes word = queue->keys[DUEQ__KEY_END_WAKE];
    struct asked *asked = dueq__op_state(client, sizeof *asked + word.size + 2 + 2 * id.size);
    if (!asked)
        return dueq__op_no_memory(client);
    asked->id = (dueq_bytes){memcpy(asked->bytes, id.data, id.size), id.size};
    char *key = asked->bytes + id.size;
    int size = sprintf(key, "%.*s:%.*s", (int)word.size, (const char *)word.data, (int)id.size,
                       (const char *)id.data);
    struct dueq__op *op = client->op;
    op->request.changes = false;
    op->request.max_messages = 1;
    op->request.keys[DUEQ__KEY_END_WAKE] = (dueq_bytes){key, (size_t)size};
    op->wait.watches->wake_key = op->request.keys[DUEQ__KEY_END_WAKE];
    return dueq__wait_start(client);
}
