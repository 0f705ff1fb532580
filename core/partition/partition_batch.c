#include <stdlib.h>

#include "partition.h"

/*
 * Opens a batch in a queue with partitions, and pushes members. The batch's home is one partition,
 * which its id chooses. Members in the other partitions are as those in other queues: they come by
 * the outbox of the home, and tell their ends by their own outboxes.
 */

enum { CALLBACKS = 3 };

struct batch {
    dueq_queue *target;         /* of a push: the queue that gets the members; NULL: it is opened */
    dueq_batch_options options; /* of an opening */
    dueq_bytes id;
    size_t first;               /* the home by the number of partitions of now */
    size_t asked;               /* the partition that is asked */
    size_t among;               /* as of dueq__partitions_home() */
    enum dueq__chooser chooser; /* of the callbacks */
    struct dueq__error refusal; /* of the push to the first home; status 0: there was none */
    char names[CALLBACKS][DUEQ_MAX_NAME + 1];
    size_t count;
    dueq_draft drafts[]; /* copies, which point behind them, in the same allocation */
};

/* A callback's draft and queue, in the options. */
struct callback {
    const dueq_draft **draft;
    dueq_bytes *queue;
};

static void callbacks_of(dueq_batch_options *options, struct callback callbacks[CALLBACKS]) {
    callbacks[0] = (struct callback){&options->then_job, &options->then_queue};
    callbacks[1] = (struct callback){&options->catch_job, &options->catch_queue};
    callbacks[2] = (struct callback){&options->finally_job, &options->finally_queue};
}

/* The handle of the partition that is asked; NULL: out of memory. */
static dueq_queue *asked_handle(const dueq_client *client) {
    const struct batch *batch = client->op->verb;
    const dueq_queue *queue = client->op->queue;
    dueq_queue *handle = dueq__partitions_handle(dueq__partitions_of(queue), batch->asked);
    if (handle) {
        dueq_queue_durability(handle, &queue->durability);
        dueq_queue_keep(handle, queue->keep_ms);
    }
    return handle;
}

static void look(dueq_client *client);

/* The members that another partition gets go there by calls of their own (partition_push.c). */
static void on_pushed(dueq_client *client, dueq_status status, dueq_result *result) {
    struct batch *batch = client->op->verb;
    if (status == DUEQ_INVALID && !result && batch->among && !batch->refusal.status) {
        batch->refusal = client->error;
        look(client);
    } else {
        dueq__op_end(client, result, status);
    }
}

static void push(dueq_client *client) {
    const struct batch *batch = client->op->verb;
    dueq_queue *home = asked_handle(client);
    struct dueq__op *step = home ? dueq__op_child(client, on_pushed) : NULL;
    dueq__op_child_submitted(
        client, step,
        step ? dueq_push_to_submit(home, batch->target, batch->drafts, batch->count)
             : DUEQ_NO_MEMORY);
}

/* A callback for this queue goes to the partition that its key, group or id chooses. */
static void choose_partitions(dueq_client *client) {
    struct batch *batch = client->op->verb;
    const struct dueq__partitions *partitions = dueq__partitions_of(client->op->queue);
    struct callback callbacks[CALLBACKS];
    callbacks_of(&batch->options, callbacks);
    for (size_t i = 0; i < CALLBACKS; i++) {
        if (!*callbacks[i].draft || callbacks[i].queue->size)
            continue;
        dueq_bytes decides = dueq__partition_chosen_by(*callbacks[i].draft);
        size_t partition =
            decides.size ? dueq_partition_for(decides, partitions->count) : batch->first;
        if (partition == batch->first)
            continue;
        size_t size = dueq_partition_name(dueq__keys_name(partitions->base->keys), partition,
                                          batch->names[i]);
        *callbacks[i].queue = (dueq_bytes){batch->names[i], size};
    }
}

static void on_opened(dueq_client *client, dueq_status status, dueq_result *result) {
    dueq__op_end(client, result, status);
}

static void open_home(dueq_client *client) {
    struct batch *batch = client->op->verb;
    batch->asked = batch->first;
    choose_partitions(client);
    dueq_queue *home = asked_handle(client);
    struct dueq__op *step = home ? dueq__op_child(client, on_opened) : NULL;
    dueq__op_child_submitted(client, step,
                             step ? dueq_open_batch_submit(home, &batch->options) : DUEQ_NO_MEMORY);
}

static void answer_duplicate(dueq_client *client) {
    char digit = dueq__digit_of(DUEQ_DUPLICATE);
    dueq_result *result = dueq__result_outcomes((dueq_bytes){&digit, 1}, NULL, &client->error);
    dueq__op_finish_result(client, result, DUEQ_DUPLICATE);
}

/* A partition has told whether it is the home: it was by the number before a doubling. */
static void on_looked(dueq_client *client, dueq_status status, dueq_result *result) {
    const struct batch *batch = client->op->verb;
    if (dueq__op_child_failed(client, status, result))
        return;
    dueq_result_free(result);
    if (status == DUEQ_OK && batch->target) {
        push(client);
    } else if (status == DUEQ_OK) {
        answer_duplicate(client);
    } else if (batch->among) {
        look(client);
    } else if (!batch->target) {
        open_home(client);
    } else {
        client->error = batch->refusal;
        dueq__op_finish(client, batch->refusal.status);
    }
}

/* Asks the next partition that may be the home for the batch. */
static void look(dueq_client *client) {
    struct batch *batch = client->op->verb;
    batch->asked = dueq__partitions_home(batch->id, &batch->among);
    dueq_queue *handle = asked_handle(client);
    struct dueq__op *step = handle ? dueq__op_child(client, on_looked) : NULL;
    dueq__op_child_submitted(client, step,
                             step ? dueq_find_batch_submit(handle, batch->id) : DUEQ_NO_MEMORY);
}

static void begin(dueq_client *client, dueq_status status, dueq_result *result) {
    struct batch *batch = client->op->verb;
    const struct dueq__partitions *partitions = dueq__partitions_of(client->op->queue);
    if (dueq__op_child_failed(client, status, result))
        return;
    status = dueq__partitions_check_chooser(partitions, batch->chooser);
    if (status) {
        dueq__op_finish(client, status);
        return;
    }
    batch->among = partitions->count;
    batch->first = batch->asked = dueq__partitions_home(batch->id, &batch->among);
    if (batch->target)
        push(client);
    else if (batch->among)
        look(client);
    else
        open_home(client);
}

/* Beginning */

static struct batch *copy_members(const struct dueq__batch_request *asked) {
    size_t size = asked->count * sizeof *asked->drafts;
    for (size_t i = 0; i < asked->count; i++)
        size += dueq__partition_room(&asked->drafts[i]);
    struct batch *batch = calloc(1, sizeof *batch + size);
    if (!batch)
        return NULL;
    batch->target = asked->target;
    batch->count = asked->count;
    char *at = (char *)(batch->drafts + asked->count);
    for (size_t i = 0; i < asked->count; at += dueq__partition_room(&asked->drafts[i++]))
        dueq__draft_copy(&batch->drafts[i], &asked->drafts[i], at);
    batch->id = batch->drafts->batch;
    return batch;
}

static struct batch *copy_options(const dueq_batch_options *options, enum dueq__chooser chooser) {
    dueq_batch_options own = *options;
    struct callback callbacks[CALLBACKS];
    callbacks_of(&own, callbacks);
    size_t size = CALLBACKS * sizeof(dueq_draft) + own.id.size;
    for (size_t i = 0; i < CALLBACKS; i++)
        size += callbacks[i].queue->size +
                (*callbacks[i].draft ? dueq__partition_room(*callbacks[i].draft) : 0);
    struct batch *batch = calloc(1, sizeof *batch + size);
    if (!batch)
        return NULL;
    batch->options = own;
    batch->chooser = chooser;
    callbacks_of(&batch->options, callbacks);
    char *at = (char *)(batch->drafts + CALLBACKS);
    for (size_t i = 0; i < CALLBACKS; i++) {
        const dueq_draft *draft = *callbacks[i].draft;
        if (!draft)
            continue;
        dueq__draft_copy(&batch->drafts[i], draft, at);
        at += dueq__partition_room(draft);
        *callbacks[i].draft = &batch->drafts[i];
    }
    for (size_t i = 0; i < CALLBACKS; i++)
        dueq__partition_keep(&at, callbacks[i].queue);
    dueq__partition_keep(&at, &batch->options.id);
    batch->id = batch->options.id;
    return batch;
}

/* Checks what chooses the partitions of the callbacks for this queue. */
static dueq_status check_callbacks(dueq_queue *queue, dueq_batch_options *options,
                                   enum dueq__chooser *chooser) {
    struct callback callbacks[CALLBACKS];
    callbacks_of(options, callbacks);
    for (size_t i = 0; i < CALLBACKS; i++) {
        const dueq_draft *draft = *callbacks[i].draft;
        enum dueq__chooser own = !draft || callbacks[i].queue->size ? DUEQ__CHOOSER_NONE
                                 : draft->group.size                ? DUEQ__CHOOSER_GROUP
                                 : draft->key.size                  ? DUEQ__CHOOSER_KEY
                                                                    : DUEQ__CHOOSER_NONE;
        if (own && *chooser && own != *chooser)
            return dueq__fail(&queue->client->error, DUEQ_INVALID,
                              "one callback has a key, and one has a group: a queue with "
                              "partitions takes keys or groups");
        *chooser = own ? own : *chooser;
    }
    return dueq__partitions_check_chooser(dueq__partitions_of(queue), *chooser);
}

dueq_status dueq__partition_batch(dueq_queue *queue, const struct dueq__batch_request *asked) {
    struct dueq__error *error = &queue->client->error;
    enum dueq__chooser chooser = DUEQ__CHOOSER_NONE;
    dueq_status status = DUEQ_OK;
    if (asked->options) {
        dueq_batch_options options = *asked->options;
        status = check_callbacks(queue, &options, &chooser);
        return status
                   ? status
                   : dueq__partition_begin(queue, copy_options(&options, chooser), chooser, begin);
    }
    status = dueq__arg_check_count(queue, asked->drafts, asked->count);
    if (!status && !asked->drafts->batch.size)
        status = dueq__fail(error, DUEQ_INVALID, "name the batch that the messages are in");
    for (size_t i = 0; !status && i < asked->count; i++)
        status = dueq__draft_check(&asked->drafts[i], false, error);
    for (size_t i = 0; !status && i < asked->count; i++)
        status = dueq__arg_check_member(queue, &asked->drafts[i], asked->drafts->batch);
    return status ? status : dueq__partition_begin(queue, copy_members(asked), chooser, begin);
}
