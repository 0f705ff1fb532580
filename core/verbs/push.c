#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "verbs.h"

#define EXTRA_SIZE 40
/*
 * The fast scripts do not look at sizes. A larger envelope goes to push_full or push_replace, which
 * note that the queue has large messages (lib/store_drafts.lua).
 */
#define LARGE (1 << 20)

/* The drafts of a call, checked and measured. */
struct batch {
    const dueq_draft *drafts;
    size_t count;
    size_t id_bytes, envelope_bytes;
    /* The core makes all ids, all drafts are due at the same time, and none has other options. */
    bool fast;
    /* One draft, with an id of the caller, and without a priority and a time to live. */
    bool is_one;
    /* All drafts are due later, and none has other options. With an id of the caller it is one. */
    bool fast_later;
    bool is_later;            /* the first draft has a delay or a due time */
    bool replaces;            /* a draft may replace an existing message */
    bool has_group;           /* a draft has a group */
    bool has_entries;         /* each comes with the id of an entry of the outbox */
    bool made;                /* a schedule verb made them */
    bool fast_noted;          /* as `fast`, due now, and of each the end is noted in the queue */
    dueq_bytes member_of;     /* the batch that all of them are members of; size 0: none */
    dueq_bytes home;          /* the batch's queue, if they go to another one; else size 0 */
    const dueq_bytes *result; /* of the message that they succeed; NULL: none */
    dueq_durability durability;
};

/*
 * The draft as it is stored: with the keep_ms of the handle, if it has none of its own. What a
 * schedule verb made stays as it is: the schedule's message keeps no end, and its jobs have their
 * own keep_ms.
 */
static dueq_draft stored(const dueq_queue *queue, const dueq_draft *draft, bool made) {
    dueq_draft kept = *draft;
    if (!kept.keep_ms && !made)
        kept.keep_ms = queue->keep_ms;
    return kept;
}

static bool is_due_with(const dueq_draft *draft, const dueq_draft *first) {
    return draft->at_ms == first->at_ms && draft->delay_ms == first->delay_ms;
}

/* Makes `all` the most that any draft asks for. */
static void add_durability(dueq_durability *all, const dueq_durability *more) {
    if (more->replicas > all->replicas)
        all->replicas = more->replicas;
    if (more->timeout_ms > all->timeout_ms)
        all->timeout_ms = more->timeout_ms;
    all->disk |= more->disk;
}

dueq_status dueq__arg_check_member(dueq_queue *queue, const dueq_draft *draft, dueq_bytes batch) {
    struct dueq__error *error = &queue->client->error;
    if (!dueq__bytes_equal(draft->batch, batch))
        return dueq__fail(error, DUEQ_INVALID,
                          "the messages of a call are in the same batch, or in none");
    if (draft->replace)
        return dueq__fail(error, DUEQ_INVALID, "a member of a batch replaces no message");
    return dueq__arg_check_batch(queue, draft->batch);
}

/*
 * Checks and measures the drafts. keyed: they may have keys, as the queue is a partition. made: a
 * schedule verb made them. home: as of struct batch.
 */
static dueq_status measure_batch(dueq_queue *queue, bool keyed, dueq_bytes home, bool made,
                                 const dueq_draft *drafts, size_t count, struct batch *batch) {
    struct dueq__error *error = &queue->client->error;
    *batch = (struct batch){.drafts = drafts,
                            .count = count,
                            .home = home,
                            .member_of = drafts && count ? drafts->batch : (dueq_bytes){0},
                            .made = made,
                            .fast = queue->history_minute == dueq__op_minute()};
    batch->fast_noted = batch->fast && !home.size;
    batch->is_one = batch->fast && count == 1;
    batch->fast_later = batch->fast;
    dueq_status status = dueq__arg_check_count(queue, drafts, count);
    for (size_t i = 0; !status && i < count; i++) {
        const dueq_draft *draft = &drafts[i];
        bool own = queue->is_partition && draft->ttl_ms == DUEQ__TTL_EXPIRED;
        status = own ? DUEQ_OK : dueq__draft_check(draft, made, error);
        if (!status && draft->key.size && !keyed)
            status = dueq__fail(error, DUEQ_INVALID,
                                "a key chooses a partition, and this queue has none");
        if (!status && (draft->batch.size || batch->member_of.size))
            status = dueq__arg_check_member(queue, draft, batch->member_of);
        if (status)
            break;
        batch->id_bytes += draft->id.size ? draft->id.size : DUEQ__ID_SIZE;
        dueq_draft kept = stored(queue, draft, made);
        size_t size = dueq__envelope_write(&kept, draft->id.size ? "" : NULL, batch->home, NULL);
        batch->envelope_bytes += size;
        bool plain = size <= LARGE && !draft->ttl_ms && !draft->priority;
        bool noted = kept.keep_ms || draft->batch.size;
        batch->fast_noted = batch->fast_noted && plain && noted && !draft->id.size &&
                            !draft->group.size && !draft->delay_ms && !draft->at_ms;
        plain = plain && !noted;
        batch->fast = batch->fast && plain && !draft->id.size && is_due_with(draft, drafts);
        batch->is_one = batch->is_one && plain && draft->id.size && !draft->group.size;
        batch->fast_later = batch->fast_later && plain && (draft->delay_ms || draft->at_ms) &&
                            !draft->unique_ms && !draft->replace && (!draft->id.size || count == 1);
        batch->has_group = batch->has_group || draft->group.size;
        batch->replaces = batch->replaces || draft->replace;
        add_durability(&batch->durability, &draft->durability);
    }
    batch->durability = dueq__durable_for(queue, &batch->durability);
    if (batch->durability.timeout_ms > queue->max_durable_ms) {
        queue->max_durable_ms = batch->durability.timeout_ms;
        queue->reply_expiry_minute = 0;
    }
    batch->is_later = !status && (drafts->delay_ms || drafts->at_ms);
    batch->fast = batch->fast && !(batch->has_group && batch->is_later);
    if (!status && batch->envelope_bytes > DUEQ_MAX_BODY)
        status =
            dueq__fail(error, DUEQ_TOO_LARGE,
                       "%zu messages with %zu bytes in one call; at most %zu bytes are allowed",
                       count, batch->envelope_bytes, DUEQ_MAX_BODY);
    return status;
}

static void put_envelope(dueq_client *client, const dueq_draft *draft, dueq_bytes id,
                         dueq_bytes home, struct dueq__resp *words) {
    char incarnation[DUEQ__INCARNATION_SIZE];
    const char *given = draft->id.size ? incarnation : NULL;
    if (given)
        dueq__incarnation_next(&client->ids, incarnation);
    dueq__resp_bytes(words, id.data, id.size);
    void *envelope = dueq__resp_space(words, dueq__envelope_write(draft, given, home, NULL));
    if (envelope)
        dueq__envelope_write(draft, given, home, envelope);
}

static void put_options(const dueq_draft *draft, struct dueq__resp *words) {
    char extra[EXTRA_SIZE] = "";
    if (draft->ttl_ms || draft->unique_ms || draft->replace)
        snprintf(extra, EXTRA_SIZE, "%" PRId64 " %" PRId64 " %d", draft->ttl_ms, draft->unique_ms,
                 (int)draft->replace);
    dueq__arg_put_due(words, draft->delay_ms, draft->at_ms);
    dueq__resp_text(words, extra);
}

void dueq__push_put_draft(dueq_client *client, const dueq_draft *draft, dueq_bytes id,
                          struct dueq__resp *words) {
    put_envelope(client, draft, id, (dueq_bytes){0}, words);
    put_options(draft, words);
}

/* Adds a draft, and the options that the script needs beside the envelope. */
static void put_draft(dueq_client *client, const struct batch *batch, const dueq_draft *draft,
                      dueq_bytes id, struct dueq__resp *words) {
    char entry[DUEQ__ID_SIZE];
    if (batch->has_entries) {
        dueq__id_next(&client->ids, entry);
        dueq__resp_bytes(words, entry, sizeof entry);
    }
    dueq_draft kept = stored(client->op->queue, draft, batch->made);
    put_envelope(client, &kept, id, batch->home, words);
    if (batch->fast || batch->fast_noted)
        return;
    if (batch->is_one && !batch->replaces) {
        if (batch->is_later)
            dueq__arg_put_due(words, draft->delay_ms, draft->at_ms);
        if (draft->unique_ms)
            dueq__resp_number(words, draft->unique_ms);
        return;
    }
    put_options(draft, words);
}

/*
 * Adds the drafts to the words, and submits the call. first: the id of the message that the drafts
 * succeed; size 0: none. The state of the operation keeps all ids.
 */
static dueq_status submit(dueq_client *client, const struct batch *batch, dueq_bytes first,
                          struct dueq__resp *words) {
    dueq_bytes *id;
    struct dueq__item_ids *items = client->op->verb =
        malloc(sizeof *items + (batch->count + 1) * sizeof *id + first.size + batch->id_bytes);
    client->op->durable.wanted = batch->durability;
    if (!items) {
        dueq__resp_free(words);
        return dueq__op_no_memory(client);
    }
    items->first_pushed = first.size > 0;
    id = items->ids;
    char *at = (char *)(id + batch->count + 1);
    if (first.size) {
        *id++ = (dueq_bytes){memcpy(at, first.data, first.size), first.size};
        at += first.size;
    }
    for (size_t i = 0; i < batch->count; i++, at += (id++)->size) {
        const dueq_draft *draft = &batch->drafts[i];
        *id = (dueq_bytes){at, draft->id.size ? draft->id.size : DUEQ__ID_SIZE};
        if (draft->id.size)
            memcpy(at, draft->id.data, draft->id.size);
        else
            dueq__id_next(&client->ids, at);
        put_draft(client, batch, draft, *id, words);
    }
    if (batch->result) {
        dueq__arg_put_process(words);
        dueq__arg_put_result(words, *batch->result);
    }
    return dueq__op_submit(client, words);
}

/* The fastest script that can do what the drafts ask for. */
static const struct dueq__script *choose_script(const struct batch *batch) {
    if (batch->member_of.size)
        return batch->fast_noted ? &dueq__script_push_member : &dueq__script_push_batch;
    if (batch->fast_noted)
        return &dueq__script_push_noted;
    if (batch->fast && batch->has_group)
        return &dueq__script_push_group;
    if (batch->fast)
        return batch->is_later ? &dueq__script_push_later : &dueq__script_push;
    if (batch->is_one && batch->replaces)
        return &dueq__script_push_replace;
    if (batch->is_one)
        return batch->is_later ? &dueq__script_push_own_later : &dueq__script_push_own;
    if (batch->replaces)
        return &dueq__script_push_replace_full;
    if (batch->fast_later && batch->has_group)
        return &dueq__script_push_group_later;
    return batch->has_group ? &dueq__script_push_group_full : &dueq__script_push_full;
}

dueq_status dueq__push_submit(dueq_queue *queue, const struct dueq__script *script,
                              const dueq_draft *drafts, size_t count) {
    struct batch batch;
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    if (queue->partitioned)
        return queue->partitioned->push(
            queue,
            &(struct dueq__push_request){.script = script, .drafts = drafts, .count = count});
    dueq_status status = measure_batch(queue, queue->is_partition, (dueq_bytes){0}, script != NULL,
                                       drafts, count, &batch);
    batch.is_one = batch.is_one && !script;
    batch.fast_noted = batch.fast_noted && !script;
    if (!status)
        status = dueq__verb_begin_outcomes(queue, script ? script : choose_script(&batch), count,
                                           &words);
    if (status)
        return status;
    if (batch.member_of.size)
        dueq__arg_put(&words, &batch.member_of, 1);
    if (batch.fast && batch.is_later)
        dueq__arg_put_due(&words, drafts->delay_ms, drafts->at_ms);
    return submit(queue->client, &batch, (dueq_bytes){0}, &words);
}

dueq_status dueq_push_submit(dueq_queue *queue, const dueq_draft *drafts, size_t count) {
    struct dueq__given given;
    dueq_status status =
        dueq__given_read(&given, drafts, count, &dueq__layout_draft, &queue->client->error);
    if (!status)
        status = dueq__push_submit(queue, NULL, given.items, count);
    free(given.copies);
    return status;
}

static dueq_status push_to(dueq_queue *queue, dueq_queue *target, const dueq_draft *drafts,
                           size_t count) {
    struct batch batch;
    struct dueq__resp words;
    struct dueq__error *error = &queue->client->error;
    dueq_bytes name = dueq__keys_name(target->keys), home = dueq__keys_name(queue->keys);
    dueq_status status =
        measure_batch(queue, target->is_partition, home, false, drafts, count, &batch);
    if (!status && !batch.member_of.size)
        status = dueq__fail(error, DUEQ_INVALID, "name the batch that the messages are in");
    batch.fast = batch.is_one = false;
    batch.has_entries = true;
    if (!status)
        status = dueq__verb_begin_outcomes(queue, &dueq__script_push_to, count, &words);
    if (status)
        return status;
    dueq__arg_put(&words, &batch.member_of, 1);
    dueq__arg_put(&words, &name, 1);
    return submit(queue->client, &batch, (dueq_bytes){0}, &words);
}

dueq_status dueq_push_to_submit(dueq_queue *queue, dueq_queue *target, const dueq_draft *drafts,
                                size_t count) {
    struct dueq__error *error = &queue->client->error;
    struct dueq__given given;
    dueq__client_check_fork(queue->client);
    if (target->client != queue->client)
        return dueq__fail(error, DUEQ_INVALID, "the target is a queue of another client");
    if (dueq__bytes_equal(dueq__keys_name(target->keys), dueq__keys_name(queue->keys)))
        return dueq_push_submit(queue, drafts, count);
    dueq_status status = dueq__given_read(&given, drafts, count, &dueq__layout_draft, error);
    if (!status && queue->partitioned)
        status = queue->partitioned->batch(
            queue,
            &(struct dueq__batch_request){.target = target, .drafts = given.items, .count = count});
    else if (!status && target->partitioned)
        status = target->partitioned->push(
            target,
            &(struct dueq__push_request){.drafts = given.items, .count = count, .home = queue});
    else if (!status)
        status = push_to(queue, target, given.items, count);
    free(given.copies);
    return status;
}

/*
 * Acknowledges the message of this ticket and id, and pushes the drafts, in one step. made: a
 * schedule verb made them. result: is kept with the message's end; NULL: none.
 */
static dueq_status follow(dueq_queue *queue, dueq_bytes ticket, dueq_bytes id,
                          const dueq_bytes *result, dueq_queue *target, bool made,
                          const dueq_draft *drafts, size_t count) {
    struct batch batch;
    struct dueq__resp words;
    dueq_bytes name = dueq__keys_name(target ? target->keys : queue->keys);
    dueq_status status = measure_batch(queue, target && target->is_partition, (dueq_bytes){0}, made,
                                       drafts, count, &batch);
    if (!status && batch.member_of.size)
        status = dueq__fail(&queue->client->error, DUEQ_INVALID,
                            "a successor is in no batch: push the member before the ack");
    batch.fast = batch.fast_noted = batch.is_one = false;
    bool is_own = dueq__bytes_equal(name, dueq__keys_name(queue->keys));
    batch.has_entries = result || !is_own;
    batch.result = result;
    if (is_own)
        name.size = 0;
    if (!status)
        status = dueq__verb_begin_outcomes(queue,
                                           result   ? &dueq__script_ack_push_result
                                           : is_own ? &dueq__script_ack_push
                                                    : &dueq__script_ack_outbox,
                                           1 + count, &words);
    if (status)
        return status;
    dueq__resp_bytes(&words, ticket.data, ticket.size);
    if (batch.has_entries)
        dueq__resp_bytes(&words, name.data, name.size);
    return submit(queue->client, &batch, id, &words);
}

dueq_status dueq__fire_submit(dueq_queue *queue, dueq_bytes ticket, const dueq_draft *drafts,
                              size_t count) {
    struct dueq__ticket parts = {0};
    dueq_status status = dueq__arg_check_ticket(queue, ticket, &parts);
    return status ? status : follow(queue, ticket, parts.id, NULL, NULL, true, drafts, count);
}

static dueq_status ack_push(dueq_queue *queue, dueq_bytes ticket, const dueq_bytes *result,
                            dueq_queue *target, const dueq_draft *drafts, size_t count) {
    struct dueq__error *error = &queue->client->error;
    struct dueq__ticket parts = {0};
    dueq_queue *whole = target && target->partitioned ? target : queue;
    dueq__client_check_fork(queue->client);
    dueq_status status = DUEQ_OK;
    if (target && whole != queue)
        status = dueq__arg_check_unpartitioned(queue, "ack with successors for another such queue");
    if (!status)
        status = dueq__arg_check_ticket(queue, ticket, &parts);
    if (!status && target && target->client != queue->client)
        status = dueq__fail(error, DUEQ_INVALID, "the target is a queue of another client");
    if (!status && whole->partitioned)
        return whole->partitioned->push(
            whole, &(struct dueq__push_request){.drafts = drafts,
                                                .count = count,
                                                .source = queue,
                                                .ticket = ticket,
                                                .result = result,
                                                .target = whole == target ? NULL : target});
    return status ? status : follow(queue, ticket, parts.id, result, target, false, drafts, count);
}

static dueq_status ack_push_given(dueq_queue *queue, dueq_bytes ticket, const dueq_bytes *result,
                                  dueq_queue *target, const dueq_draft *drafts, size_t count) {
    struct dueq__given given;
    dueq_status status =
        dueq__given_read(&given, drafts, count, &dueq__layout_draft, &queue->client->error);
    if (!status)
        status = ack_push(queue, ticket, result, target, given.items, count);
    free(given.copies);
    return status;
}

dueq_status dueq_ack_push_submit(dueq_queue *queue, dueq_bytes ticket, dueq_queue *target,
                                 const dueq_draft *drafts, size_t count) {
    return ack_push_given(queue, ticket, NULL, target, drafts, count);
}

dueq_status dueq_ack_push_result_submit(dueq_queue *queue, dueq_bytes ticket, dueq_bytes kept,
                                        dueq_queue *target, const dueq_draft *drafts,
                                        size_t count) {
    dueq_status status = dueq__arg_check_result(queue, kept);
    return status ? status : ack_push_given(queue, ticket, &kept, target, drafts, count);
}
