#include "link.h"

#include "zend_exceptions.h"
#include "zend_fibers.h"

/* Warnings that no call throws: they go to the program's listener or, without one, to PHP's log. */

static void (*next_interrupt)(zend_execute_data *);

static void put_in_log(const zend_string *line) {
    php_log_err_with_severity(ZSTR_VAL(line), LOG_WARNING);
}

/*
 * Whether exit() threw this. PHP runs no code while it is pending, and it replaces any other
 * exception.
 */
static bool is_exit(const zend_object *thrown) {
    return zend_is_unwind_exit(thrown) || zend_is_graceful_exit(thrown);
}

static void call_listener(zval *line) {
    zval listener, result;

    ZVAL_COPY(&listener, &DUEQ_G(listener));
    ZVAL_UNDEF(&result);
    call_user_function(NULL, NULL, &listener, &result, 1, line);
    zval_ptr_dtor(&result);
    zval_ptr_dtor(&listener);
}

/*
 * Calls the listener while an exception is pending. Afterwards PHP goes on with that exception, or
 * with one that the listener threw.
 */
static void call_listener_amid(zend_object *thrown, zval *line) {
    zend_execute_data *frame = EG(current_execute_data);
    const zend_op *before = EG(opline_before_exception), *next = frame ? frame->opline : NULL;

    EG(exception) = NULL;
    call_listener(line);
    if (!EG(exception)) {
        EG(exception) = thrown;
    } else if (is_exit(EG(exception))) {
        OBJ_RELEASE(thrown);
    } else {
        zend_exception_set_previous(EG(exception), thrown);
    }
    EG(opline_before_exception) = before;
    if (frame) {
        frame->opline = next;
    }
}

static void tell(zval *line) {
    zend_object *thrown = EG(exception);

    if (Z_ISUNDEF(DUEQ_G(listener)) || (thrown && is_exit(thrown))) {
        put_in_log(Z_STR_P(line));
    } else if (thrown) {
        call_listener_amid(thrown, line);
    } else {
        call_listener(line);
    }
}

static void tell_all(void) {
    zval notices, *line;

    ZVAL_COPY_VALUE(&notices, &DUEQ_G(notices));
    ZVAL_UNDEF(&DUEQ_G(notices));
    ZEND_HASH_FOREACH_VAL(Z_ARRVAL(notices), line) { tell(line); }
    ZEND_HASH_FOREACH_END();
    zval_ptr_dtor(&notices);
}

/*
 * Calls the listener when PHP would run signal handlers: between two calls of a client, or in a
 * wait that may be interrupted.
 */
static void interrupt(zend_execute_data *execute_data) {
    dueq_php_loops_warn();
    if (!Z_ISUNDEF(DUEQ_G(notices))) {
        zend_fiber_switch_block();
        tell_all();
        zend_fiber_switch_unblock();
    }
    if (next_interrupt) {
        next_interrupt(execute_data);
    }
}

/* For the core a text ends at its first NUL. So each part between two NULs is escaped by itself. */
static zend_string *escape(const zend_string *text) {
    const char *from = ZSTR_VAL(text), *end = from + ZSTR_LEN(text);
    zend_string *line = zend_string_safe_alloc(ZSTR_LEN(text), 4, 0, false);
    char *to = ZSTR_VAL(line);

    for (;;) {
        dueq_escape(to, 4 * strlen(from) + 1, from);
        to += strlen(to);
        from += strlen(from);
        if (from == end) {
            break;
        }
        memcpy(to, "\\x00", 4);
        to += 4;
        from++;
    }
    *to = '\0';
    return zend_string_truncate(line, to - ZSTR_VAL(line), false);
}

/* The text may contain ids of other programs, and texts of servers: so it is escaped. */
void dueq_php_log(const char *format, ...) {
    zend_string *text, *line;
    va_list arguments;

    va_start(arguments, format);
    text = zend_vstrpprintf(0, format, arguments);
    va_end(arguments);
    line = escape(text);
    zend_string_release(text);
    if (Z_ISUNDEF(DUEQ_G(listener))) {
        put_in_log(line);
        zend_string_release(line);
        return;
    }
    if (Z_ISUNDEF(DUEQ_G(notices))) {
        array_init(&DUEQ_G(notices));
    }
    add_next_index_str(&DUEQ_G(notices), line);
    zend_atomic_bool_store_ex(&EG(vm_interrupt), true);
}

void dueq_php_notice_startup(void) {
    next_interrupt = zend_interrupt_function;
    zend_interrupt_function = interrupt;
}

void dueq_php_notice_shutdown(void) {
    zval_ptr_dtor(&DUEQ_G(listener));
    ZVAL_UNDEF(&DUEQ_G(listener));
    if (!Z_ISUNDEF(DUEQ_G(notices))) {
        tell_all();
    }
}

ZEND_METHOD(Dueq_Client, onNotice) {
    zend_fcall_info info;
    zend_fcall_info_cache cache;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_FUNC_OR_NULL(info, cache)
    ZEND_PARSE_PARAMETERS_END();

    dueq_php_notice_shutdown();
    if (ZEND_FCI_INITIALIZED(info)) {
        ZVAL_COPY(&DUEQ_G(listener), &info.function_name);
    }
}

ZEND_METHOD(Dueq_Client, escape) {
    zend_string *text;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(text)
    ZEND_PARSE_PARAMETERS_END();

    RETURN_STR(escape(text));
}

ZEND_METHOD(Dueq_Client, duration) {
    zend_string *text;
    int64_t ms;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(text)
    ZEND_PARSE_PARAMETERS_END();

    ms = zend_str_has_nul_byte(text) ? -1 : dueq_duration_ms(ZSTR_VAL(text));
    if (ms < 0) {
        RETURN_NULL();
    }
    RETURN_DOUBLE((double)ms / 1000);
}
