#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* The drafts as the script wants them; envelopes, due times and made ids share one allocation. */
struct pushed {
    size_t made; /* ids made here */
    bool simple; /* all ids made here, all due now */
    size_t total;
};

static dueq_status check_drafts(dueq_queue *queue, const dueq_draft *drafts, size_t count,
                                struct pushed *pushed) {
    struct dueq__error *error = &queue->client->error;
    *pushed = (struct pushed){.simple = true};
    for (size_t i = 0; i < count; i++) {
        const dueq_draft *draft = &drafts[i];
        size_t size;
        dueq_status status = draft->id.size ? dueq__id_check(draft->id, error) : DUEQ_OK;
        if (!status)
            status = dueq__envelope_size(draft, draft->id.size ? "" : NULL, &size, error);
        if (status)
            return status;
        pushed->made += draft->id.size == 0;
        pushed->simple = pushed->simple && draft->id.size == 0 && !draft->at_ms && !draft->delay_ms;
        pushed->total += size;
    }
    if (pushed->total > DUEQ_MAX_BODY)
        return dueq__fail(error, DUEQ_TOO_LARGE,
                          "%zu messages with %zu bytes in one call; at most %zu bytes are allowed",
                          count, pushed->total, DUEQ_MAX_BODY);
    return DUEQ_OK;
}

dueq_status dueq_push_submit(dueq_queue *queue, const dueq_draft *drafts, size_t count) {
    dueq_client *client = queue->client;
    struct pushed pushed;
    struct dueq__words words;
    dueq__client_check_fork(client);
    dueq_status status = dueq__verb_check_count(queue, drafts, count);
    if (!status)
        status = check_drafts(queue, drafts, count, &pushed);
    if (!status)
        status = dueq__verb_begin(queue, &dueq__script_push, count, &words);
    if (status)
        return status;

    struct dueq__call *call = &client->call;
    size_t given = 0;
    for (size_t i = 0; i < count; i++)
        given += drafts[i].id.size;
    /* Ids for the result; then the envelopes and due words, which live until the request is made. */
    call->ids = malloc(count * sizeof *call->ids + pushed.made * DUEQ__ID_SIZE + given);
    unsigned char *scratch = malloc(pushed.total + count * DUEQ__DUE_SIZE);
    if (!call->ids || !scratch) {
        free(scratch);
        dueq__words_free(&words);
        dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL);
        return dueq__call_finish(client, DUEQ_NO_MEMORY);
    }
    char *id_at = (char *)(call->ids + count);
    unsigned char *envelope = scratch;
    char *due = (char *)scratch + pushed.total;
    dueq__words_text(&words, pushed.simple ? "now" : "any");
    for (size_t i = 0; i < count; i++, due += DUEQ__DUE_SIZE) {
        const dueq_draft *draft = &drafts[i];
        char stamp[DUEQ__STAMP_SIZE];
        size_t size;
        bool made = draft->id.size == 0;
        if (made) {
            dueq__id_next(&client->ids, id_at);
            call->ids[i] = (dueq_bytes){id_at, DUEQ__ID_SIZE};
        } else {
            dueq__stamp_next(&client->ids, stamp);
            memcpy(id_at, draft->id.data, draft->id.size);
            call->ids[i] = (dueq_bytes){id_at, draft->id.size};
        }
        id_at += call->ids[i].size;
        dueq__envelope_size(draft, made ? NULL : stamp, &size, &client->error);
        dueq__envelope_write(draft, made ? NULL : stamp, envelope);
        dueq__words_bytes(&words, call->ids[i].data, call->ids[i].size);
        dueq__words_bytes(&words, envelope, size);
        if (!pushed.simple) {
            dueq__verb_due(due, draft->delay_ms, draft->at_ms);
            dueq__words_text(&words, due);
        }
        envelope += size;
    }
    status = dueq__call_submit(client, &words);
    free(scratch);
    return status;
}

dueq_status dueq_push(dueq_queue *queue, const dueq_draft *drafts, size_t count,
                      dueq_result **result) {
    return dueq__verb_run(queue, dueq_push_submit(queue, drafts, count), result);
}
