#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loop.h"

/*
 * Pushes gather in batches while one batch is under way, as a call of its client. So a lost connection is
 * the call's business: it is recalled and never run twice.
 */

/* A batch that has come to so many bytes is full, and so many bytes at most are taken over. */
#define BATCH_BYTES ((size_t)1 << 20)
#define MOST_BYTES ((size_t)64 << 20)
/* How many pushes are taken over between two looks at the connection. */
#define LOOK_EVERY 32

struct pushes {
    struct pushes *after;
    dueq_draft drafts[DUEQ_MAX_BATCH]; /* what each points to is one allocation: `owned` */
    void *owned[DUEQ_MAX_BATCH];
    size_t count, bytes;
    dueq_status status;
    dueq_result *result;
    char *text; /* of the failure */
};

struct line {
    struct pushes *first, *last;
};

struct dueq_pusher {
    dueq_queue *queue;
    pid_t pid;
    size_t most;
    struct pushes *under_way;
    struct line gathered, done;
    size_t waiting; /* pushes under way or gathered */
    size_t told;    /* of those that are done, and not told yet */
    size_t bytes;   /* of those that wait */
    bool covered;   /* the client tells the error of a draft, in the place of this one: */
    struct dueq__error met;
};

static void append(struct line *line, struct pushes *batch) {
    batch->after = NULL;
    if (line->last)
        line->last->after = batch;
    else
        line->first = batch;
    line->last = batch;
}

static struct pushes *take_first(struct line *line) {
    struct pushes *batch = line->first;
    if (batch)
        line->first = batch->after;
    if (!line->first)
        line->last = NULL;
    return batch;
}

static void drop_drafts(struct pushes *batch) {
    for (size_t i = 0; i < batch->count; i++) {
        free(batch->owned[i]);
        batch->owned[i] = NULL;
    }
}

static void free_batch(struct pushes *batch) {
    if (!batch)
        return;
    drop_drafts(batch);
    dueq_result_free(batch->result);
    free(batch->text);
    free(batch);
}

static void drop_all(dueq_pusher *pusher) {
    free_batch(pusher->under_way);
    pusher->under_way = NULL;
    while (pusher->gathered.first)
        free_batch(take_first(&pusher->gathered));
    while (pusher->done.first)
        free_batch(take_first(&pusher->done));
    pusher->waiting = pusher->told = pusher->bytes = 0;
}

/* After fork() the child's pusher begins anew: what was taken over is the parent's. */
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

/* ---- A copy of a draft ---- */

static size_t copy_size(const dueq_draft *draft) {
    size_t size = draft->header_count * sizeof(dueq_header) +
                  draft->backoff.list_count * sizeof(int64_t) + draft->body.size + draft->id.size +
                  draft->dead_letter.size;
    for (size_t i = 0; i < draft->header_count; i++)
        size += draft->headers[i].name.size + draft->headers[i].value.size;
    return size;
}

static dueq_bytes keep(char **at, dueq_bytes bytes) {
    if (!bytes.size)
        return (dueq_bytes){0};
    dueq_bytes kept = {memcpy(*at, bytes.data, bytes.size), bytes.size};
    *at += bytes.size;
    return kept;
}

/* Copies all that a draft points to into one allocation; NULL: out of memory. */
static void *copy(dueq_draft *out, const dueq_draft *draft, size_t size) {
    char *owned = malloc(size + 1), *at = owned;
    if (!owned)
        return NULL;
    *out = *draft;
    dueq_header *headers = (dueq_header *)owned;
    at += draft->header_count * sizeof *headers;
    out->headers = headers;
    if (draft->backoff.list_count) {
        size_t bytes = draft->backoff.list_count * sizeof(int64_t);
        out->backoff.list_ms = memcpy(at, draft->backoff.list_ms, bytes);
        at += bytes;
    }
    for (size_t i = 0; i < draft->header_count; i++) {
        headers[i].name = keep(&at, draft->headers[i].name);
        headers[i].value = keep(&at, draft->headers[i].value);
    }
    out->body = keep(&at, draft->body);
    out->id = keep(&at, draft->id);
    out->dead_letter = keep(&at, draft->dead_letter);
    return owned;
}

/* ---- Moving on ---- */

static void end_batch(dueq_pusher *pusher, struct pushes *batch, dueq_status status) {
    const char *text = dueq_error_text(pusher->queue->client);
    batch->status = status;
    /* Without memory for its words the failure has its status. */
    batch->text = status < 0 ? strdup(text) : NULL;
    pusher->waiting -= batch->count;
    pusher->told += batch->count;
    pusher->bytes -= batch->bytes;
    drop_drafts(batch);
    append(&pusher->done, batch);
}

static void move_on(dueq_pusher *pusher) {
    dueq_client *client = pusher->queue->client;
    if (pusher->covered)
        client->error = pusher->met;
    pusher->covered = false;
    if (pusher->under_way) {
        if (dueq_pump(client) == DUEQ_PENDING)
            return;
        struct pushes *batch = pusher->under_way;
        pusher->under_way = NULL;
        dueq_status status = dueq_take(client, &batch->result);
        end_batch(pusher, batch, status < 0 ? status : DUEQ_OK);
    }
    while (!pusher->under_way && pusher->gathered.first) {
        struct pushes *batch = take_first(&pusher->gathered);
        dueq_status status = dueq_push_submit(pusher->queue, batch->drafts, batch->count);
        if (status == DUEQ_PENDING)
            pusher->under_way = batch;
        else
            end_batch(pusher, batch, status);
    }
    if (pusher->under_way)
        dueq_pump(client);
}

static bool fits(const struct pushes *batch, size_t size) {
    return batch && batch->count < DUEQ_MAX_BATCH && batch->bytes + size <= BATCH_BYTES;
}

static bool is_full(const dueq_pusher *pusher, size_t size) {
    return pusher->waiting >= pusher->most ||
           (pusher->waiting && pusher->bytes + size > MOST_BYTES);
}

/* Not all of it zero: it is large, and a single push has one to itself. */
static struct pushes *new_batch(void) {
    struct pushes *batch = malloc(sizeof *batch);
    if (batch) {
        batch->count = batch->bytes = 0;
        batch->result = NULL;
        batch->text = NULL;
    }
    return batch;
}

/* Says what is wrong with a draft, and keeps what the call under way has met so far. */
static dueq_status check(dueq_pusher *pusher, const dueq_draft *draft) {
    struct dueq__error *error = &pusher->queue->client->error, own = {0};
    dueq_status status = dueq__draft_check(draft, &own);
    if (!status)
        return status;
    if (!pusher->covered)
        pusher->met = *error;
    pusher->covered = true;
    *error = own;
    return status;
}

dueq_status dueq_pusher_push(dueq_pusher *pusher, const dueq_draft *draft) {
    dueq_client *client = pusher->queue->client;
    check_fork(pusher);
    dueq_status status = check(pusher, draft);
    if (status)
        return status;
    size_t size = copy_size(draft);
    if (is_full(pusher, size))
        move_on(pusher);
    if (is_full(pusher, size))
        return DUEQ_PENDING;
    struct pushes *batch = pusher->gathered.last, *added = NULL;
    if (!fits(batch, size))
        batch = added = new_batch();
    void *owned = batch ? copy(&batch->drafts[batch->count], draft, size) : NULL;
    if (!owned) {
        free(added);
        return dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL);
    }
    if (added)
        append(&pusher->gathered, added);
    batch->owned[batch->count++] = owned;
    batch->bytes += size;
    pusher->bytes += size;
    pusher->waiting++;
    if (!pusher->under_way || batch->count % LOOK_EVERY == 0)
        move_on(pusher);
    return DUEQ_OK;
}

size_t dueq_pusher_done(dueq_pusher *pusher, dueq_status *status, dueq_result **result) {
    check_fork(pusher);
    *result = NULL;
    *status = DUEQ_OK;
    move_on(pusher);
    struct pushes *batch = take_first(&pusher->done);
    if (!batch)
        return 0;
    size_t count = batch->count;
    *status = batch->status;
    *result = batch->result;
    batch->result = NULL;
    if (batch->status < 0)
        dueq__fail(&pusher->queue->client->error, batch->status, "%s",
                   batch->text ? batch->text : dueq_status_text(batch->status));
    pusher->told -= count;
    free_batch(batch);
    return count;
}

size_t dueq_pusher_left(const dueq_pusher *pusher) {
    return pusher->pid == getpid() ? pusher->waiting + pusher->told : 0;
}
