/* What is done with a delayed queue of Redisson's. */
#include "run.h"

static dueq_status open_redisson(struct run *run, json_object *step, dueq_bytes destination,
                                 dueq_redisson **queue) {
    static const char *const codecs[] = {"kryo5",      "bytes",    "string",      "long", "jackson",
                                         "typed json", "jackson3", "typed json3", "none", NULL};
    static const char *const layouts[] = {"found", "new", "old", "none", NULL};
    dueq_codec codec = (dueq_codec)choice(run, step, "codec", codecs);
    dueq_layout layout = (dueq_layout)choice(run, step, "layout", layouts);
    return dueq_redisson_open(run->client, destination.data, destination.size, codec, layout,
                              queue);
}

static void do_open(struct run *run, json_object *step) {
    dueq_bytes destination =
        field(step, "destination") ? bytes(run, step, "destination") : BYTES(run->situation->test);
    dueq_redisson *queue;
    dueq_status status = open_redisson(run, step, destination, &queue);
    compare_status(run, field(step, "expect"), status);
    if (status)
        return;
    dueq_redisson_close(run->redisson);
    run->redisson = queue;
}

static dueq_redisson *queue_of(struct run *run) {
    if (!run->redisson &&
        open_redisson(run, NULL, BYTES(run->situation->test), &run->redisson) != DUEQ_OK)
        wrong(run, "%s", dueq_error_text(run->client));
    return run->redisson;
}

/* In batches, as others divide them. */
static void do_offer(struct run *run, json_object *step) {
    size_t count;
    dueq_value *values = typed_values(run, step, &count);
    dueq_offer *offers = keep(run, count * sizeof *offers);
    for (size_t i = 0; i < count; i++)
        offers[i] = (dueq_offer){sizeof(dueq_offer), values[i], number(step, "delay_ms", 0),
                                 number(step, "at_ms", 0)};
    dueq_status status = DUEQ_OK;
    for (size_t at = 0; at < count && !status; at += DUEQ_MAX_BATCH) {
        size_t left = count - at;
        status = dueq_redisson_offer(queue_of(run), offers + at,
                                     left < DUEQ_MAX_BATCH ? left : DUEQ_MAX_BATCH);
    }
    compare_status(run, field(step, "expect"), status);
}

static void do_transfer(struct run *run, json_object *step) {
    dueq_moved moved = DUEQ_MOVED;
    compare_status(run, field(step, "expect"),
                   dueq_redisson_transfer(queue_of(run),
                                          (size_t)number(step, "most", DUEQ_MAX_BATCH),
                                          number(step, "timeout_ms", 0), &moved));
    compare_moved(run, field(step, "expect"), &moved);
}

/* The status of a call for one is its value's. */
static void compare_read(struct run *run, json_object *step, dueq_status status,
                         dueq_result *result) {
    json_object *expect = field(step, "expect");
    if (!field(step, "count") && !status && dueq_result_status(result, 0) == DUEQ_CORRUPT)
        compare_bytes(run, "the status", field(expect, "status"), BYTES("CORRUPT"));
    else
        compare_status(run, expect, status);
    compare_values(run, expect, result);
    dueq_result_free(result);
}

static void do_take(struct run *run, json_object *step) {
    dueq_result *result;
    dueq_status status = dueq_redisson_take(queue_of(run), (size_t)number(step, "count", 1),
                                            number(step, "timeout_ms", 0), &result);
    compare_read(run, step, status, result);
}

static void do_poll(struct run *run, json_object *step) {
    dueq_result *result;
    dueq_status status =
        dueq_redisson_poll(queue_of(run), (size_t)number(step, "count", 1), &result);
    compare_read(run, step, status, result);
}

static void do_peek(struct run *run, json_object *step) {
    dueq_result *result;
    json_object *expect = field(step, "expect");
    compare_status(run, expect,
                   dueq_redisson_peek(queue_of(run), (size_t)number(step, "count", 1), &result));
    compare_values(run, expect, result);
    dueq_result_free(result);
}

static void do_remove(struct run *run, json_object *step) {
    size_t count;
    compare_status(run, field(step, "expect"),
                   dueq_redisson_remove(queue_of(run), typed_values(run, step, &count)));
}

static void do_contains(struct run *run, json_object *step) {
    size_t count;
    compare_status(run, field(step, "expect"),
                   dueq_redisson_contains(queue_of(run), typed_values(run, step, &count)));
}

static void do_size(struct run *run, json_object *step) {
    dueq_sizes sizes = DUEQ_SIZES;
    compare_status(run, field(step, "expect"), dueq_redisson_size(queue_of(run), &sizes));
    compare_sizes(run, field(step, "expect"), &sizes);
}

static void do_clear(struct run *run, json_object *step) {
    json_object *expect = field(step, "expect");
    size_t cleared = 0;
    compare_status(run, expect, dueq_redisson_clear(queue_of(run), &cleared));
    if (field(expect, "cleared"))
        compare_number(run, "the number of cleared", field(expect, "cleared"), (int64_t)cleared);
}

const struct verb redisson_verbs[] = {{"redisson open", do_open},
                                      {"redisson offer", do_offer},
                                      {"redisson transfer", do_transfer},
                                      {"redisson take", do_take},
                                      {"redisson poll", do_poll},
                                      {"redisson peek", do_peek},
                                      {"redisson remove", do_remove},
                                      {"redisson contains", do_contains},
                                      {"redisson size", do_size},
                                      {"redisson clear", do_clear},
                                      {NULL, NULL}};
