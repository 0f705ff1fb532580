#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumer.h"

/*
 * A pusher gathers pushes in batches while one batch is under way. A batch is one call of the
 * client: after a lost connection the call recalls its answer, and never runs twice.
 */

/* The most bytes of a batch, except of one push alone. */
#define BATCH_BYTES ((size_t)1 << 20)
/* The most bytes of all pushes that are gathered or under way, except of one push alone. */
#define MOST_BYTES ((size_t)64 << 20)
/* While a batch is under way, the pusher reads the connection once in so many pushes. */
#define ADVANCE_EVERY 32

/* A batch. */
struct pushes {
    struct pushes *after;
    dueq_draft drafts[DUEQ_MAX_BATCH]; /* owned[i]: one allocation, into which drafts[i] points */
    void *owned[DUEQ_MAX_BATCH];
    size_t count, bytes;
    dueq_status status;
    dueq_result *result;
    char *text; /* of the failure, or NULL */
};

struct dueq_pusher {
    dueq_queue *queue;
    pid_t pid;
    size_t most;
    struct pushes *first, *last; /* in the order in which they came: done, under way, gathered */
    struct pushes *next;         /* the first batch that is not done; NULL: all are done */
    bool under_way;              /* `next` is being sent */
    size_t waiting;              /* pushes under way or gathered */
    size_t done;                 /* pushes in batches that are done */
    size_t bytes;                /* of the pushes under way or gathered */
    /* The client's error is that of a refused draft. saved_error: that of the call under way. */
    bool error_replaced;
    struct dueq__error saved_error;
};

static void drop_drafts(struct pushes *batch) {
    for (size_t i = 0; i < batch->count; i++) {
        free(batch->owned[i]);
        batch->owned[i] = NULL;
    }
}

static void drop_first(dueq_pusher *pusher) {
    struct pushes *batch = pusher->first;
    pusher->first = batch->after;
    if (!pusher->first)
        pusher->last = NULL;
    drop_drafts(batch);
    dueq_result_free(batch->result);
    free(batch->text);
    free(batch);
}

static void drop_all(dueq_pusher *pusher) {
    while (pusher->first)
        drop_first(pusher);
    pusher->next = NULL;
    pusher->under_way = false;
    pusher->waiting = pusher->done = pusher->bytes = 0;
}

/* After fork() the child's pusher begins anew: the pushes are the parent's. */
static void check_fork(dueq_pusher *pusher) {
    if (pusher->pid == getpid())
        return;
    drop_all(pusher);
    pusher->pid = getpid();
}

dueq_status dueq_pusher_open(dueq_queue *queue, size_t most, dueq_pusher **pusher) {
    *pusher = calloc(1, sizeof **pusher);
    if (!*pusher)
        return dueq__fail(&queue->client->error, DUEQ_NO_MEMORY, NULL);
    **pusher =
        (dueq_pusher){.queue = queue, .pid = getpid(), .most = most ? most : DUEQ_MAX_PUSHES};
    return DUEQ_OK;
}

void dueq_pusher_close(dueq_pusher *pusher) {
    if (!pusher)
        return;
    if (pusher->under_way && pusher->pid == getpid())
        dueq_abandon(pusher->queue->client);
    drop_all(pusher);
    free(pusher);
}

/* Moving on */

static void end_batch(dueq_pusher *pusher, dueq_status status) {
    struct pushes *batch = pusher->next;
    /* After BACKLOG each item has its own outcome. */
    status = status == DUEQ_BACKLOG ? DUEQ_OK : status;
    batch->status = status < 0 ? status : DUEQ_OK;
    /* Without memory for the text the failure has only its status. */
    batch->text = status < 0 ? strdup(dueq_error_text(pusher->queue->client)) : NULL;
    pusher->waiting -= batch->count;
    pusher->done += batch->count;
    pusher->bytes -= batch->bytes;
    pusher->next = batch->after;
    pusher->under_way = false;
    drop_drafts(batch);
}

static void advance(dueq_pusher *pusher) {
    dueq_client *client = pusher->queue->client;
    if (pusher->error_replaced)
        client->error = pusher->saved_error;
    pusher->error_replaced = false;
    while (pusher->next) {
        struct pushes *batch = pusher->next;
        if (!pusher->under_way) {
            dueq_status status = dueq_push_submit(pusher->queue, batch->drafts, batch->count);
            pusher->under_way = status == DUEQ_PENDING;
            if (!pusher->under_way)
                end_batch(pusher, status);
        } else if (dueq_pump(client) == DUEQ_PENDING) {
            return;
        } else {
            end_batch(pusher, dueq_take(client, &batch->result));
        }
    }
}

/* The batch to which a push of so many bytes is added; NULL: it needs a new one. */
static struct pushes *gathering(const dueq_pusher *pusher, size_t size) {
    struct pushes *batch = pusher->last;
    bool open = pusher->next && !(pusher->under_way && pusher->next == batch);
    return open && batch->count < DUEQ_MAX_BATCH && batch->bytes + size <= BATCH_BYTES ? batch
                                                                                       : NULL;
}

static bool is_full(const dueq_pusher *pusher, size_t size) {
    return pusher->waiting >= pusher->most ||
           (pusher->waiting && pusher->bytes + size > MOST_BYTES);
}

/* Does not zero the drafts: a batch is large, and a single push needs a whole one. */
static struct pushes *new_batch(void) {
    struct pushes *batch = malloc(sizeof *batch);
    if (batch) {
        batch->count = batch->bytes = 0;
        batch->after = NULL;
        batch->result = NULL;
        batch->text = NULL;
    }
    return batch;
}

static void append(dueq_pusher *pusher, struct pushes *batch) {
    if (pusher->last)
        pusher->last->after = batch;
    else
        pusher->first = batch;
    pusher->last = batch;
    if (!pusher->next)
        pusher->next = batch;
}

/*
 * Reads and checks a draft. The error of a refused draft replaces the client's, which belongs to
 * the call under way, and is saved.
 */
static dueq_status check(dueq_pusher *pusher, const dueq_draft *draft, struct dueq__given *given) {
    struct dueq__error *error = &pusher->queue->client->error, own = {0};
    dueq_status status = dueq__given_read(given, draft, 1, &dueq__layout_draft, &own);
    if (!status)
        status = dueq__draft_check(given->items, false, &own);
    if (!status)
        return status;
    if (!pusher->error_replaced)
        pusher->saved_error = *error;
    pusher->error_replaced = true;
    *error = own;
    return status;
}

static dueq_status push(dueq_pusher *pusher, const dueq_draft *draft) {
    dueq_client *client = pusher->queue->client;
    size_t size = dueq__draft_size(draft);
    if (is_full(pusher, size))
        advance(pusher);
    if (is_full(pusher, size))
        return DUEQ_PENDING;
    struct pushes *batch = gathering(pusher, size), *added = batch ? NULL : new_batch();
    batch = batch ? batch : added;
    void *owned = batch ? malloc(size + 1) : NULL;
    if (!owned) {
        free(added);
        return dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL);
    }
    if (added)
        append(pusher, added);
    dueq__draft_copy(&batch->drafts[batch->count], draft, owned);
    batch->owned[batch->count++] = owned;
    batch->bytes += size;
    pusher->bytes += size;
    pusher->waiting++;
    if (!pusher->under_way || batch->count % ADVANCE_EVERY == 0)
        advance(pusher);
    return DUEQ_OK;
}

dueq_status dueq_pusher_push(dueq_pusher *pusher, const dueq_draft *draft) {
    struct dueq__given given;
    check_fork(pusher);
    dueq_status status = check(pusher, draft, &given);
    if (!status)
        status = push(pusher, given.items);
    free(given.copies);
    return status;
}

size_t dueq_pusher_done(dueq_pusher *pusher, dueq_status *status, dueq_result **result) {
    check_fork(pusher);
    *result = NULL;
    *status = DUEQ_OK;
    advance(pusher);
    struct pushes *batch = pusher->first;
    if (!batch || batch == pusher->next)
        return 0;
    size_t count = batch->count;
    *status = batch->status;
    *result = batch->result;
    batch->result = NULL;
    if (batch->status < 0)
        dueq__fail(&pusher->queue->client->error, batch->status, "%s",
                   batch->text ? batch->text : dueq_status_text(batch->status));
    pusher->done -= count;
    drop_first(pusher);
    return count;
}

size_t dueq_pusher_left(const dueq_pusher *pusher) {
    return pusher->pid == getpid() ? pusher->waiting + pusher->done : 0;
}
