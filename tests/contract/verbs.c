/* Made from core/verbs.toml by core/verbs.py. */
/* clang-format off */
#include "run.h"

static void do_retry(struct run *run, json_object *step) {
    const struct capture *held = captured(run, step, "message");
    dueq_status status = dueq_retry(held->queue, held->ticket,
                                    number(step, "delay_ms", DUEQ_BY_POLICY),
                                    bytes(run, step, "error"));
    compare_status(run, field(step, "expect"), status);
}

static void do_release(struct run *run, json_object *step) {
    const struct capture *held = captured(run, step, "message");
    dueq_status status = dueq_release(held->queue, &held->ticket, 1, number(step, "delay_ms", 0),
                                      NULL);
    compare_status(run, field(step, "expect"), status);
}

static void do_hold_group(struct run *run, json_object *step) {
    const struct capture *held = captured(run, step, "message");
    dueq_status status = dueq_hold_group(held->queue, held->ticket, number(step, "duration_ms", 0));
    compare_status(run, field(step, "expect"), status);
}

static void do_extend(struct run *run, json_object *step) {
    const struct capture *held = captured(run, step, "message");
    dueq_status status = dueq_extend(held->queue, &held->ticket, 1, number(step, "lease_ms", 0),
                                     NULL);
    compare_status(run, field(step, "expect"), status);
}

static void do_bury(struct run *run, json_object *step) {
    const struct capture *held = captured(run, step, "message");
    dueq_status status = dueq_bury(held->queue, held->ticket, bytes(run, step, "reason"));
    compare_status(run, field(step, "expect"), status);
}

static void do_kick(struct run *run, json_object *step) {
    do_ids(run, step, dueq_kick);
}

static void do_kill(struct run *run, json_object *step) {
    do_ids(run, step, dueq_kill);
}

static void do_cancel(struct run *run, json_object *step) {
    do_ids(run, step, dueq_cancel);
}

static void do_reschedule(struct run *run, json_object *step) {
    dueq_status status = dueq_reschedule(run->queue, bytes(run, step, "id"),
                                         number(step, "delay_ms", 0), number(step, "at_ms", 0));
    compare_status(run, field(step, "expect"), status);
}

static void do_pause(struct run *run, json_object *step) {
    dueq_status status = dueq_pause(run->queue);
    compare_status(run, field(step, "expect"), status);
}

static void do_resume(struct run *run, json_object *step) {
    dueq_status status = dueq_resume(run->queue);
    compare_status(run, field(step, "expect"), status);
}

static void do_hold(struct run *run, json_object *step) {
    dueq_status status = dueq_hold(run->queue, bytes(run, step, "group"),
                                   number(step, "duration_ms", 0));
    compare_status(run, field(step, "expect"), status);
}

static void do_limit(struct run *run, json_object *step) {
    dueq_status status = dueq_limit(run->queue,
      &(dueq_limit_options){.struct_size = sizeof(dueq_limit_options),
      .concurrency = number(step, "concurrency", DUEQ_UNCHANGED), .rate = bytes(run, step, "rate"),
      .burst = number(step, "burst", DUEQ_UNCHANGED),
      .group = field(step, "group") ? bytes(run, step, "group") : (dueq_bytes){0},
      .backlog = number(step, "backlog", DUEQ_UNCHANGED),
      .weight = number(step, "weight", DUEQ_UNCHANGED), .order = bytes(run, step, "order"),
      .each_group_concurrency = number(step, "each_group_concurrency", DUEQ_UNCHANGED),
      .each_group_rate = bytes(run, step, "each_group_rate"),
      .each_group_burst = number(step, "each_group_burst", DUEQ_UNCHANGED),
      .each_group_backlog = number(step, "each_group_backlog", DUEQ_UNCHANGED),
      .clear = json_object_get_boolean(field(step, "clear"))});
    compare_status(run, field(step, "expect"), status);
}

static void do_close_batch(struct run *run, json_object *step) {
    dueq_status status = dueq_close_batch(run->queue, bytes(run, step, "id"));
    compare_status(run, field(step, "expect"), status);
}

const struct verb made_verbs[] = {
    {"retry", do_retry},
    {"release", do_release},
    {"hold_group", do_hold_group},
    {"extend", do_extend},
    {"bury", do_bury},
    {"kick", do_kick},
    {"kill", do_kill},
    {"cancel", do_cancel},
    {"reschedule", do_reschedule},
    {"pause", do_pause},
    {"resume", do_resume},
    {"hold", do_hold},
    {"limit", do_limit},
    {"close_batch", do_close_batch},
    {NULL, NULL}};
