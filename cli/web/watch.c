#include <stdlib.h>
#include <string.h>

#include "web.h"

enum { NAMES_MS = 2000, PATIENT = 10 };

/* What all see: however many look on, the server is asked once a second. */
struct watch {
    pthread_mutex_t lock;
    struct cli_names names, wholes; /* wholes: also of the queues that partitions are of */
    int64_t names_ms, due_ms; /* when the names are to be read again, and the next piece is made */
    struct glances glances;   /* what is wrong, and when that is to be read again */
    int64_t why_ms;
    char *piece; /* the last event */
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
    cli_free_names(&watch->wholes);
    glance_end(&watch->glances);
    pthread_mutex_destroy(&watch->lock);
    free(watch->piece);
    free(watch);
}

/* One that cannot be read is there with its status, and without counts. */
static dueq_status put_queue(struct cli *cli, const char *name, FILE *out) {
    dueq_counts counts;
    dueq_queue *queue;
    dueq_status status = dueq_queue_open(cli->client, name, strlen(name), &queue);
    if (status == DUEQ_OK)
        status = dueq_stats(queue, &counts);
    if (status != DUEQ_OK)
        counts = (dueq_counts){.now_ms = time_now_ms()};
    json_object *object = json_of_counts(name, &counts);
    if (status != DUEQ_OK)
        json_object_object_add(object, "status", json_name(dueq_status_name(status)));
    if (!glance_general(status))
        fprintf(out, "data: %s\n", json_line_of(object));
    json_object_put(object);
    dueq_queue_close(queue);
    return glance_general(status) ? status : DUEQ_OK;
}

static void put_failure(struct cli *cli, dueq_status status, FILE *out) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, "status", json_name(dueq_status_name(status)));
    json_object_object_add(object, "text", json_name(dueq_error_text(cli->client)));
    fprintf(out, "event: failure\ndata: %s\n\n", json_line_of(object));
    json_object_put(object);
}

/* When it is to be done again that took so long: at the latest of `least` and many times as long. */
static int64_t again_ms(int64_t begin_ms, int64_t least, int64_t times) {
    const int64_t now_ms = time_monotonic_ms(), rest_ms = times * (now_ms - begin_ms);
    return now_ms + (rest_ms > least ? rest_ms : least);
}

static dueq_status put_queues(struct watch *watch, struct cli *cli, FILE *out) {
    dueq_status status = DUEQ_OK;
    const int64_t begin_ms = time_monotonic_ms();
    if (begin_ms >= watch->names_ms) {
        cli_free_names(&watch->names);
        cli_free_names(&watch->wholes);
        status = cli_read_names(cli, &watch->names);
        for (size_t i = 0; i < watch->names.count; i++)
            cli_add_name(&watch->wholes,
                         (dueq_bytes){watch->names.list[i], strlen(watch->names.list[i])});
        cli_add_wholes(&watch->wholes);
        /* It is a walk over all keys of the server: not often where that takes long. */
        watch->names_ms = status != DUEQ_OK ? 0 : again_ms(begin_ms, NAMES_MS, PATIENT * PATIENT);
    }
    fputs("event: queues\n", out);
    for (size_t i = 0; status == DUEQ_OK && i < watch->names.count; i++)
        status = put_queue(cli, watch->names.list[i], out);
    fputs("data:\n\n", out);
    return status;
}

static dueq_status put_why(struct watch *watch, struct cli *cli, FILE *out) {
    const int64_t begin_ms = time_monotonic_ms();
    dueq_status status = DUEQ_OK;
    if (begin_ms >= watch->why_ms) {
        status = glance_read(cli, watch->wholes.list, watch->wholes.count, &watch->glances, NULL);
        watch->why_ms = status != DUEQ_OK ? 0 : again_ms(begin_ms, WHY_MS, PATIENT);
    }
    fputs("event: why\n", out);
    look_whys(&watch->glances, "data: ", out);
    fputs("data:\n\n", out);
    return status;
}

static dueq_status put_all(struct watch *watch, struct cli *cli, FILE *out) {
    const int64_t begin_ms = time_monotonic_ms();
    dueq_status status = put_queues(watch, cli, out);
    watch->due_ms = again_ms(begin_ms, WATCH_MS, PATIENT);
    return status == DUEQ_OK ? put_why(watch, cli, out) : status;
}

/* Makes the next event. */
static void make(struct watch *watch, struct web *web) {
    struct cli cli = {.finishing = true, .client = web_client(web)};
    dueq_status status = DUEQ_OK;
    /* The second time with what failed. */
    for (int i = 0; i == 0 || (i == 1 && status != DUEQ_OK); i++) {
        free(watch->piece);
        watch->piece = NULL;
        FILE *out = open_memstream(&watch->piece, &watch->size);
        if (!out)
            cli_out_of_memory();
        if (i == 0)
            status = put_all(watch, &cli, out);
        else
            put_failure(&cli, status, out);
        if (fclose(out) != 0)
            cli_out_of_memory();
    }
    web_client_back(web, cli.client);
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
