/* What is done with locks. */
#include "run.h"

static void do_lock(struct run *run, json_object *step) {
    dueq_bytes name = bytes(run, step, "name");
    dueq_result *result;
    compare_status(run, field(step, "expect"),
                   dueq_lock(run->queue, name, number(step, "ttl_ms", 0),
                             number(step, "timeout_ms", 0), &result));
    if (result)
        remember(run, word(step, "as"), run->queue, name, dueq_result_id(result, 0));
    dueq_result_free(result);
}

static void do_relock(struct run *run, json_object *step) {
    const struct capture *lock = captured(run, step, "lock");
    compare_status(run, field(step, "expect"),
                   dueq_relock(lock->queue, lock->id, lock->ticket, number(step, "ttl_ms", 0)));
}

static void do_unlock(struct run *run, json_object *step) {
    const struct capture *lock = captured(run, step, "lock");
    compare_status(run, field(step, "expect"), dueq_unlock(lock->queue, lock->id, lock->ticket));
}

const struct verb lock_verbs[] = {
    {"lock", do_lock}, {"relock", do_relock}, {"unlock", do_unlock}, {NULL, NULL}};
