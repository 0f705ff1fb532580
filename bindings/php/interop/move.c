#include "../fields.h"
#include "php_interop.h"

/* How often signal handlers and `until` are called while nothing happens. */
#define SLICE_MS 250

void dueq_php_sizes_make(zval *out, const dueq_sizes *from) {
    MAKE_OBJECT(out, dueq_php_sizes_ce, DUEQ_SIZES_FIELDS);
}

ZEND_METHOD(Dueq_Interop_Moved, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

ZEND_METHOD(Dueq_Interop_Sizes, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

/* The first property of both classes. */
static const char *name_of(const dueq_php_source *source) {
    return Z_STRVAL_P(OBJ_PROP_NUM(source->object, 0));
}

void dueq_php_quarantined(const dueq_php_source *source, size_t quarantined) {
    if (quarantined) {
        dueq_php_log("dueq: %s %s: %zu damaged entries were quarantined", source->interop->what,
                     name_of(source), quarantined);
    }
}

dueq_status dueq_php_put_back(dueq_php_link *link) {
    dueq_abandon(link->client);
    /* The answer to a later call proves that the server has done so. */
    return dueq_php_link_finish(link, link->interop->size(link->queue));
}

/* Moving due items */

/*
 * Warns of quarantined entries, and makes the Dueq\Interop\Moved. result: NULL if nothing was
 * moved.
 */
static void make_moved(zval *out, const dueq_php_source *source, const dueq_result *result) {
    static const dueq_moved nothing = DUEQ_MOVED;
    const dueq_moved *from = dueq_result_moved(result);

    from = from ? from : &nothing;
    dueq_php_quarantined(source, from->quarantined);
    MAKE_OBJECT(out, dueq_php_moved_ce, DUEQ_MOVED_FIELDS);
}

static const dueq_php_call moving = {make_moved, NULL};

/* Reads the parameters of a step, or throws. */
static void read_step(zend_execute_data *execute_data, int64_t *timeout_ms, size_t *most) {
    const dueq_php_place place = {1, -1, "timeout"};
    zend_long count = DUEQ_MAX_BATCH;
    zval *timeout = NULL;

    ZEND_PARSE_PARAMETERS_START(0, 2)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(timeout)
        Z_PARAM_LONG(count)
    ZEND_PARSE_PARAMETERS_END();

    if (timeout) {
        dueq_php_timeout(&place, timeout, timeout_ms);
    }
    *most = (size_t)MAX(count, 0);
}

void dueq_php_move(zend_execute_data *execute_data, zval *return_value,
                   const dueq_php_source *source, void *queue) {
    int64_t timeout_ms = 0;
    size_t most = 0;

    read_step(execute_data, &timeout_ms, &most);
    if (EG(exception)) {
        return;
    }
    dueq_php_finish_soon(source->client, source->interop->move(queue, most, timeout_ms));
    if (!EG(exception)) {
        make_moved(return_value, source, source->client->result);
    }
}

void dueq_php_move_start(zend_execute_data *execute_data, zval *return_value,
                         const dueq_php_source *source) {
    int64_t timeout_ms = DUEQ_FOREVER;
    dueq_php_link *link;
    size_t most = 0;

    read_step(execute_data, &timeout_ms, &most);
    if (!EG(exception) && (link = dueq_php_pending_open(return_value, source, &moving))) {
        dueq_php_pending_start(return_value, source->interop->move(link->queue, most, timeout_ms));
    }
}

/* In a loop */

typedef struct agent {
    const dueq_php_source *source;
    dueq_php_link *link;
    zend_fcall_info until;
    zend_fcall_info_cache until_cache;
} agent;

/* Whether `until` ends the loop, or anything threw. */
static bool must_end(agent *agent) {
    zval returned;
    bool ends;

    if (dueq_php_interrupts()) {
        return true;
    }
    if (!ZEND_FCI_INITIALIZED(agent->until)) {
        return false;
    }
    ZVAL_UNDEF(&returned);
    agent->until.retval = &returned;
    zend_call_function(&agent->until, &agent->until_cache);
    ends = EG(exception) || Z_TYPE(returned) == IS_UNDEF || zend_is_true(&returned);
    zval_ptr_dtor(&returned);
    return ends;
}

/* Runs one step, which ends soon when the agent must end. */
static dueq_status step(agent *agent, bool *ends) {
    dueq_php_link *link = agent->link;
    const pid_t pid = getpid();
    dueq_status status = agent->source->interop->move(link->queue, DUEQ_MAX_BATCH, DUEQ_FOREVER);

    if (status != DUEQ_PENDING) {
        return status;
    }
    while (status == DUEQ_PENDING || status == DUEQ_INTERRUPTED) {
        status = dueq_php_wait(link->client, *ends ? -1 : SLICE_MS);
        if (*ends || (status != DUEQ_PENDING && status != DUEQ_INTERRUPTED)) {
            continue;
        }
        *ends = must_end(agent);
        if (pid != getpid()) {
            return DUEQ_EMPTY; /* the call is the parent's */
        }
        if (*ends) {
            dueq_stop_wait(link->client);
        }
    }
    dueq_result_free(link->result);
    return dueq_take(link->client, &link->result);
}

/* Runs steps until the agent must end, or anything threw. */
static void run(agent *agent) {
    bool ends = must_end(agent);

    while (!ends) {
        dueq_status status = step(agent, &ends);
        const char *text = dueq_error_text(agent->link->client);

        if (status >= 0) {
            const dueq_moved *moved = dueq_result_moved(agent->link->result);

            dueq_php_quarantined(agent->source, moved ? moved->quarantined : 0);
            ends = ends || must_end(agent);
        } else {
            /* The step may have been waiting for the server when `until` ended it. */
            if (!EG(exception) && !(ends && dueq_status_retriable(status))) {
                dueq_php_throw(status, text);
            }
            ends = true;
        }
    }
}

void dueq_php_move_run(zend_execute_data *execute_data, const dueq_php_source *source) {
    agent agent = {.source = source};
    zval holder;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_FUNC_OR_NULL(agent.until, agent.until_cache)
    ZEND_PARSE_PARAMETERS_END();

    /* An object has the link, so that PHP frees it also after a bailout. */
    agent.link = dueq_php_pending_open(&holder, source, &moving);
    if (agent.link) {
        run(&agent);
        zval_ptr_dtor(&holder);
    }
}
