#include "php_dueq.h"

#include "zend_exceptions.h"
#include "zend_fibers.h"

/* What dueq says without a call that throws it: to the program's listener, else to PHP's log. */

static void (*next_interrupt)(zend_execute_data *);

static void put_in_log(const zend_string *line) {
    php_log_err_with_severity(ZSTR_VAL(line), LOG_WARNING);
}

static void tell(zval *line) {
    zval listener, result;

    if (EG(exception) || Z_ISUNDEF(DUEQ_G(listener))) {
        put_in_log(Z_STR_P(line));
        return;
    }
    ZVAL_COPY(&listener, &DUEQ_G(listener));
    ZVAL_UNDEF(&result);
    call_user_function(NULL, NULL, &listener, &result, 1, line);
    zval_ptr_dtor(&result);
    zval_ptr_dtor(&listener);
}

static void tell_all(void) {
    zval notices, *line;

    ZVAL_COPY_VALUE(&notices, &DUEQ_G(notices));
    ZVAL_UNDEF(&DUEQ_G(notices));
    ZEND_HASH_FOREACH_VAL(Z_ARRVAL(notices), line) { tell(line); }
    ZEND_HASH_FOREACH_END();
    zval_ptr_dtor(&notices);
}

/* As PHP runs the handlers of signals: between two calls of a client, or where one waits and may be interrupted. */
static void interrupt(zend_execute_data *execute_data) {
    if (!Z_ISUNDEF(DUEQ_G(notices))) {
        zend_fiber_switch_block();
        tell_all();
        zend_fiber_switch_unblock();
    }
    if (next_interrupt) {
        next_interrupt(execute_data);
    }
}

/* Ids of others are in it, and what servers say. */
void dueq_php_log(const char *format, ...) {
    zend_string *text, *line;
    va_list arguments;

    va_start(arguments, format);
    text = zend_vstrpprintf(0, format, arguments);
    va_end(arguments);
    line = zend_string_safe_alloc(ZSTR_LEN(text), 4, 0, false);
    dueq_escape(ZSTR_VAL(line), ZSTR_LEN(line) + 1, ZSTR_VAL(text));
    ZSTR_LEN(line) = strlen(ZSTR_VAL(line));
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
