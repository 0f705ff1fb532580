#include "foreign.h"

#include <poll.h>

/* How often signal handlers and `until` are asked while nothing happens. */
#define SLICE_MS 250
/* After a failure. */
#define PAUSE_MS 1000

/* The properties of Dueq\Moved and Dueq\Sizes in the order of the stub. */
enum { MOVED_MOVED, MOVED_DAMAGED, MOVED_NEXT };
enum { SIZES_READY, SIZES_DELAYED, SIZES_RESERVED, SIZES_ASIDE, SIZES_NEXT, SIZES_NOW };

void dueq_php_moved_make(zval *out, const dueq_moved *moved) {
    static const dueq_moved nothing = {0};

    moved = moved ? moved : &nothing;
    object_init_ex(out, dueq_php_moved_ce);
    ZVAL_LONG(OBJ_PROP_NUM(Z_OBJ_P(out), MOVED_MOVED), (zend_long)moved->moved);
    ZVAL_LONG(OBJ_PROP_NUM(Z_OBJ_P(out), MOVED_DAMAGED), (zend_long)moved->damaged);
    dueq_php_time_make(OBJ_PROP_NUM(Z_OBJ_P(out), MOVED_NEXT), moved->next_ms);
}

void dueq_php_sizes_make(zval *out, const dueq_sizes *sizes) {
    object_init_ex(out, dueq_php_sizes_ce);
    ZVAL_LONG(OBJ_PROP_NUM(Z_OBJ_P(out), SIZES_READY), (zend_long)sizes->ready);
    ZVAL_LONG(OBJ_PROP_NUM(Z_OBJ_P(out), SIZES_DELAYED), (zend_long)sizes->delayed);
    ZVAL_LONG(OBJ_PROP_NUM(Z_OBJ_P(out), SIZES_RESERVED), (zend_long)sizes->reserved);
    ZVAL_LONG(OBJ_PROP_NUM(Z_OBJ_P(out), SIZES_ASIDE), (zend_long)sizes->aside);
    dueq_php_time_make(OBJ_PROP_NUM(Z_OBJ_P(out), SIZES_NEXT), sizes->next_ms);
    ZVAL_DOUBLE(OBJ_PROP_NUM(Z_OBJ_P(out), SIZES_NOW), dueq_php_seconds(sizes->now_ms));
}

ZEND_METHOD(Dueq_Moved, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

ZEND_METHOD(Dueq_Sizes, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

/* A line of PHP's log, as a program's error handler would throw away what a call has got. */
static void warn(const char *format, ...) {
    va_list arguments;
    zend_string *text;

    va_start(arguments, format);
    text = zend_vstrpprintf(0, format, arguments);
    va_end(arguments);
    php_log_err_with_severity(ZSTR_VAL(text), LOG_WARNING);
    zend_string_release(text);
}

void dueq_php_damaged(const char *what, const zend_string *name, size_t damaged) {
    if (damaged) {
        warn("dueq: %s %s: %zu damaged entries were set aside", what, ZSTR_VAL(name), damaged);
    }
}

/* Is it to end: does `until` say so, or did anything throw? */
static bool is_told(dueq_php_agent *agent) {
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

/* One step, which ends soon when the agent is to end. */
static dueq_status step(dueq_php_agent *agent, bool *ends) {
    dueq_client *client = agent->client->client;
    const pid_t pid = getpid();
    dueq_status status = agent->submit(agent->queue);

    if (status != DUEQ_PENDING) {
        return status;
    }
    while (status == DUEQ_PENDING || status == DUEQ_INTERRUPTED) {
        status = dueq_wait(client, *ends ? -1 : SLICE_MS);
        if (*ends || (status != DUEQ_PENDING && status != DUEQ_INTERRUPTED)) {
            continue;
        }
        *ends = is_told(agent);
        if (pid != getpid()) {
            return DUEQ_EMPTY; /* the call is the parent's */
        }
        if (*ends) {
            dueq_hasten(client);
        }
    }
    dueq_php_client_forget(agent->client);
    return dueq_take(client, &agent->client->result);
}

/* Whether it is to end. */
static bool rest(dueq_php_agent *agent) {
    for (int left = PAUSE_MS; left > 0; left -= SLICE_MS) {
        poll(NULL, 0, SLICE_MS);
        if (is_told(agent)) {
            return true;
        }
    }
    return false;
}

void dueq_php_agent_run(dueq_php_agent *agent) {
    bool ends = is_told(agent);

    while (!ends) {
        dueq_status status = step(agent, &ends);
        const char *text = dueq_error_text(agent->client->client);

        if (status >= 0) {
            const dueq_moved *moved = dueq_result_moved(agent->client->result);

            dueq_php_damaged(agent->what, agent->name, moved ? moved->damaged : 0);
            ends = ends || is_told(agent);
        } else if (dueq_status_retriable(status)) {
            warn("dueq: %s %s, which is tried again: %s", agent->what, ZSTR_VAL(agent->name), text);
            ends = ends || rest(agent);
        } else {
            ends = true;
            if (!EG(exception)) {
                dueq_php_throw(status, text);
            }
        }
    }
}
