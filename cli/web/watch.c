#include <stdlib.h>
#include <string.h>

#include "web.h"

enum { NAMES_MS = 2000, PATIENT = 10 };

/* What all see: however many look on, the server is asked once a second. */
struct watch {
    pthread_mutex_t lock;
    struct cli_names names;
    int64_t names_ms, due_ms; /* when the names are to be read again, and the next piece is made */
    char *piece;              /* the last event */
    size_t size;
};

struct watch *watch_new(void) {
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        cli_out_of_memory();
    pthread_mutex_init(&watch->lock, NULL);
    return watch;
}

void watch_end(struct watch *watch) {
    cli_free_names(&watch->names);
    pthread_mutex_destroy(&watch->lock);
    free(watch->piece);
    free(watch);
}

static dueq_status put_queue(struct cli *cli, const char *name, FILE *out) {
    dueq_counts counts;
    dueq_queue *queue;
    dueq_status status = dueq_queue_open(cli->client, name, strlen(name), &queue);
    if (status == DUEQ_OK)
        status = dueq_stats(queue, &counts);
    if (status == DUEQ_OK) {
        json_object *object = json_of_counts(name, &counts);
        fprintf(out, "data: %s\n", json_line_of(object));
        json_object_put(object);
    }
    dueq_queue_close(queue);
    return status;
}

static void put_failure(struct cli *cli, dueq_status status, FILE *out) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, "status", json_name(dueq_status_name(status)));
    json_object_object_add(object, "text", json_name(dueq_error_text(cli->client)));
    fprintf(out, "event: failure\ndata: %s\n\n", json_line_of(object));
    json_object_put(object);
}

static dueq_status read_all(struct watch *watch, struct cli *cli, FILE *out) {
    dueq_status status = DUEQ_OK;
    const int64_t begin_ms = time_monotonic_ms();
    if (begin_ms >= watch->names_ms) {
        cli_free_names(&watch->names);
        status = cli_read_names(cli, &watch->names);
        /* It is a walk over all keys of the server: not often where that takes long. */
        const int64_t now_ms = time_monotonic_ms(),
                      rest_ms = PATIENT * PATIENT * (now_ms - begin_ms);
        watch->names_ms =
            status != DUEQ_OK ? 0 : now_ms + (rest_ms > NAMES_MS ? rest_ms : NAMES_MS);
    }
    fputs("event: queues\n", out);
    for (size_t i = 0; status == DUEQ_OK && i < watch->names.count; i++)
        status = put_queue(cli, watch->names.list[i], out);
    fputs("data:\n\n", out);
    return status;
}

/* Makes the next event. */
static void make(struct watch *watch, struct web *web) {
    struct cli cli = {.finishing = true, .client = web_client(web)};
    const int64_t begin_ms = time_monotonic_ms();
    dueq_status status = DUEQ_OK;
    /* The second time with what failed. */
    for (int i = 0; i == 0 || (i == 1 && status != DUEQ_OK); i++) {
        free(watch->piece);
        watch->piece = NULL;
        FILE *out = open_memstream(&watch->piece, &watch->size);
        if (!out)
            cli_out_of_memory();
        if (i == 0)
            status = read_all(watch, &cli, out);
        else
            put_failure(&cli, status, out);
        if (fclose(out) != 0)
            cli_out_of_memory();
    }
    web_client_back(web, cli.client);
    const int64_t now_ms = time_monotonic_ms(), rest_ms = PATIENT * (now_ms - begin_ms);
    watch->due_ms = now_ms + (rest_ms > WATCH_MS ? rest_ms : WATCH_MS);
}

void watch_stream(const struct http_request *request, void *context, FILE *out) {
    struct web *web = context;
    struct watch *watch = web->watch;
    (void)request;
    pthread_mutex_lock(&watch->lock);
    if (time_monotonic_ms() >= watch->due_ms)
        make(watch, web);
    fwrite(watch->piece, 1, watch->size, out);
    pthread_mutex_unlock(&watch->lock);
}
