#include <stdlib.h>

#include "codec.h"
#include "redisson.h"

/*
 * offer. The random id of each element is made here: a script's random numbers are always the same.
 */

#define ID_SIZE 8

DUEQ__LAYOUT(offer, DUEQ_OFFER, at_ms);

/* Writes the values one behind the other. ends[i]: where the i-th value ends. */
static dueq_status write_values(dueq_redisson *queue, const dueq_offer *offers, size_t count,
                                struct dueq__strbuf *text, size_t ends[]) {
    struct dueq__error *error = &queue->queue.client->error;
    dueq_status status = dueq__arg_check_count(&queue->queue, offers, count);
    for (size_t i = 0; !status && i < count; i++) {
        status = dueq__due_check(offers[i].delay_ms, offers[i].at_ms, error);
        if (!status)
            status =
                dueq__codec_write(queue->codec, &offers[i].value, DUEQ__NULLS_STAY, text, error);
        ends[i] = text->size;
    }
    if (!status && text->size > DUEQ_MAX_BODY)
        status = dueq__fail(error, DUEQ_TOO_LARGE,
                            "%zu values with %zu bytes in one call; at most %zu bytes are allowed",
                            count, text->size, DUEQ_MAX_BODY);
    return status;
}

static void put_offers(struct dueq__resp *words, const dueq_offer *offers, size_t count,
                       const char *values, const size_t ends[]) {
    char id[ID_SIZE];
    for (size_t i = 0, begin = 0; i < count; begin = ends[i++]) {
        dueq__id_random(id, sizeof id);
        dueq__resp_bytes(words, id, sizeof id);
        dueq__arg_put_due(words, offers[i].delay_ms, offers[i].at_ms);
        dueq__resp_bytes(words, ends[i] > begin ? values + begin : NULL, ends[i] - begin);
    }
}

static dueq_status submit(dueq_redisson *queue, const dueq_offer *offers, size_t count) {
    dueq_client *client = queue->queue.client;
    size_t ends[DUEQ_MAX_BATCH];
    struct dueq__strbuf values = {0};
    struct dueq__resp words;
    dueq__client_check_fork(client);
    dueq_status status = write_values(queue, offers, count, &values, ends);
    if (!status)
        status =
            dueq__verb_begin_outcomes(&queue->queue, &dueq__script_redisson_offer, count, &words);
    if (!status) {
        dueq__resp_number(&words, queue->layout);
        put_offers(&words, offers, count, values.data, ends);
    }
    dueq__strbuf_free(&values);
    return status ? status : dueq__op_submit(client, &words);
}

dueq_status dueq_redisson_offer_submit(dueq_redisson *queue, const dueq_offer *offers,
                                       size_t count) {
    struct dueq__given given;
    dueq_status status =
        dueq__given_read(&given, offers, count, &dueq__layout_offer, &queue->queue.client->error);
    if (!status)
        status = submit(queue, given.items, count);
    free(given.copies);
    return status;
}

dueq_status dueq_redisson_offer(dueq_redisson *queue, const dueq_offer *offers, size_t count) {
    return dueq__verb_run(queue->queue.client, dueq_redisson_offer_submit(queue, offers, count),
                          NULL);
}
