#include <stdlib.h>

#include "laravel.h"

DUEQ__LAYOUT(laravel_draft, DUEQ_LARAVEL_DRAFT, retry_until_s);

/* Where the payload and the id of a draft are in the batch's text. */
struct place {
    size_t payload, payload_size; /* size 0: the payload is ready-made, in the draft */
    size_t id, id_size;
};

/* The checked drafts of a call, and the payloads of those that have no ready-made one. */
struct batch {
    const dueq_laravel_draft *drafts;
    size_t count;
    struct dueq__strbuf text;
    size_t ids; /* bytes of all ids */
    struct place places[DUEQ_MAX_BATCH];
};

/* Adds the uuid of a ready-made payload, or without one its id. */
static void take_id(dueq_bytes payload, struct dueq__strbuf *text) {
    dueq_bytes name;
    bool found =
        (dueq__json_member(payload, "uuid", &name) && dueq__json_kind(name) == DUEQ__JSON_STRING) ||
        (dueq__json_member(payload, "id", &name) && dueq__json_kind(name) == DUEQ__JSON_STRING);
    char *space = found ? dueq__strbuf_space(text, dueq__json_string(name, NULL)) : NULL;
    if (space)
        dueq__json_string(name, space);
}

static void add(struct batch *batch, const dueq_laravel_draft *draft, struct place *place) {
    struct dueq__strbuf *text = &batch->text;
    char uuid[DUEQ__UUID_SIZE];
    place->payload = text->size;
    if (!draft->payload.size)
        dueq__laravel_write(draft, text, uuid);
    place->payload_size = text->size - place->payload;
    place->id = text->size;
    if (draft->payload.size)
        take_id(draft->payload, text);
    else
        dueq__strbuf_bytes(text, (dueq_bytes){uuid, sizeof uuid});
    place->id_size = text->size - place->id;
    batch->ids += place->id_size;
}

static dueq_status make(dueq_queue *queue, const dueq_laravel_draft *drafts, size_t count,
                        struct batch *batch) {
    struct dueq__error *error = &queue->client->error;
    size_t total = 0;
    *batch = (struct batch){.drafts = drafts, .count = count};
    dueq_status status = dueq__arg_check_count(queue, drafts, count);
    for (size_t i = 0; !status && i < count; i++) {
        status = dueq__laravel_check(&drafts[i], error);
        if (status)
            break;
        add(batch, &drafts[i], &batch->places[i]);
        total += batch->places[i].payload_size + drafts[i].payload.size;
        if (batch->text.failed)
            status = dueq__fail(error, DUEQ_NO_MEMORY, NULL);
        else if (total > DUEQ_MAX_BODY)
            status = dueq__fail(error, DUEQ_TOO_LARGE,
                                "the payloads of one call have more than %zu bytes", DUEQ_MAX_BODY);
    }
    return status;
}

/* Adds the drafts to the request, and their ids to the call. False: out of memory. */
static bool put(dueq_client *client, const struct batch *batch, struct dueq__resp *words) {
    struct dueq__item_ids *items =
        dueq__op_state(client, sizeof *items + batch->count * sizeof *items->ids + batch->ids);
    if (!items)
        return false;
    dueq_bytes *ids = items->ids;
    char *at = (char *)(ids + batch->count);
    for (size_t i = 0; i < batch->count; i++) {
        const dueq_laravel_draft *draft = &batch->drafts[i];
        const struct place *place = &batch->places[i];
        dueq__arg_put_due(words, draft->delay_ms, draft->at_ms);
        if (draft->payload.size)
            dueq__resp_bytes(words, draft->payload.data, draft->payload.size);
        else
            dueq__resp_bytes(words, batch->text.data + place->payload, place->payload_size);
        ids[i] = (dueq_bytes){at, place->id_size};
        if (place->id_size)
            memcpy(at, batch->text.data + place->id, place->id_size);
        at += place->id_size;
    }
    return true;
}

static dueq_status submit(dueq_laravel *queue, const dueq_laravel_draft *drafts, size_t count) {
    dueq_client *client = queue->queue.client;
    struct batch batch;
    struct dueq__resp words;
    dueq__client_check_fork(client);
    dueq_status status = make(&queue->queue, drafts, count, &batch);
    if (!status)
        status =
            dueq__verb_begin_outcomes(&queue->queue, &dueq__script_laravel_push, count, &words);
    if (!status && put(client, &batch, &words)) {
        status = dueq__op_submit(client, &words);
    } else if (!status) {
        dueq__resp_free(&words);
        status = dueq__op_no_memory(client);
    }
    dueq__strbuf_free(&batch.text);
    return status;
}

dueq_status dueq_laravel_push_submit(dueq_laravel *queue, const dueq_laravel_draft *drafts,
                                     size_t count) {
    struct dueq__given given;
    dueq_status status = dueq__given_read(&given, drafts, count, &dueq__layout_laravel_draft,
                                          &queue->queue.client->error);
    if (!status)
        status = submit(queue, given.items, count);
    free(given.copies);
    return status;
}

dueq_status dueq_laravel_push(dueq_laravel *queue, const dueq_laravel_draft *drafts, size_t count,
                              dueq_result **result) {
    return dueq__verb_run(queue->queue.client, dueq_laravel_push_submit(queue, drafts, count),
                          result);
}
