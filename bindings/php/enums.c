#include "php_dueq.h"

#include "zend_enum.h"

DUEQ_PHP_ENUM(state, DUEQ_READY, DUEQ_OUTBOX, "Ready", "Delayed", "Leased", "Dead", "Outbox");
DUEQ_PHP_ENUM(order, DUEQ_PREFERENCE, DUEQ_ROUND_ROBIN, "Preference", "RoundRobin");
DUEQ_PHP_ENUM(replace, DUEQ_REPLACE, DUEQ_REPLACE_BODY, "Message", "Body");
DUEQ_PHP_ENUM(backoff_kind, DUEQ_BACKOFF_FIXED, DUEQ_BACKOFF_LIST, "Fixed", "Linear", "Exponential",
              "List");
DUEQ_PHP_ENUM(jitter, DUEQ_JITTER_NONE, DUEQ_JITTER_EQUAL, "None", "Full", "Equal");
DUEQ_PHP_ENUM(catch_up, DUEQ_CATCHUP_ONCE, DUEQ_CATCHUP_ALL, "Once", "Skip", "All");
DUEQ_PHP_ENUM(failure_kind, DUEQ_FAILED, DUEQ_DIED, "Failed", "Crashed", "Buried", "Died");
void dueq_php_case_make(zval *out, const dueq_php_enum *of, int value) {
    ZEND_ASSERT(value >= of->least && value <= of->most);
    ZVAL_OBJ_COPY(out, zend_enum_get_case_cstr(of->ce, of->names[value - of->least]));
}

int dueq_php_case_value(const dueq_php_enum *of, zend_object *object) {
    const zend_string *name = Z_STR_P(zend_enum_fetch_case_name(object));
    int value = of->least;

    while (value < of->most && strcmp(ZSTR_VAL(name), of->names[value - of->least]) != 0) {
        value++;
    }
    return value;
}
