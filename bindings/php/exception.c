#include "php_dueq.h"

#include "zend_exceptions.h"
#include "zend_smart_str.h"

#include "ext/standard/html.h"

/* The class of each status that can be thrown; NULL for the others. */
static struct {
    dueq_status status;
    const char *name;
    zend_class_entry *ce;
} classes[] = {
#define ROW(code, name, retriable, text) {DUEQ_##name, #name, NULL},
    DUEQ_STATUS_TABLE(ROW)
#undef ROW
};

#define CLASS_COUNT (sizeof classes / sizeof classes[0])

/*
 * A class is found by its status's name without underscores (LEASE_LOST: LeaseLostException; names of
 * classes have no case in PHP), so the table in dueq.h is the one list.
 */
static zend_class_entry *find_class(const char *status_name) {
    char lower[64];
    size_t size = 0;
    zend_string *name;
    zend_class_entry *ce;

    for (const char *at = status_name; *at && size < sizeof lower; at++) {
        if (*at != '_') {
            lower[size++] = (char)zend_tolower_ascii(*at);
        }
    }
    name = zend_strpprintf(0, "dueq\\exception\\%.*sexception", (int)size, lower);
    ce = zend_hash_find_ptr(CG(class_table), name);
    zend_string_release(name);
    return ce;
}

zend_result dueq_php_exception_startup(void) {
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        classes[i].ce = find_class(classes[i].name);
        if (!classes[i].ce && classes[i].status < 0) {
            zend_error(E_CORE_WARNING, "dueq: there is no exception class for the status %s",
                       classes[i].name);
            return FAILURE;
        }
    }
    return SUCCESS;
}

static zend_class_entry *class_of(dueq_status status) {
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        if (classes[i].status == status) {
            return classes[i].ce;
        }
    }
    return NULL;
}

static const char *text_of(dueq_status status, const char *text) {
    return text && *text ? text : dueq_status_text(status);
}

void dueq_php_throw(dueq_status status, const char *text) {
    zend_throw_exception(class_of(status), text_of(status, text), (zend_long)status);
}

void dueq_php_exception_make(zval *out, dueq_status status, const char *text) {
    zval value;

    object_init_ex(out, class_of(status));
    ZVAL_STRING(&value, text_of(status, text));
    zend_update_property_ex(zend_ce_exception, Z_OBJ_P(out), ZSTR_KNOWN(ZEND_STR_MESSAGE), &value);
    zval_ptr_dtor_str(&value);
    ZVAL_LONG(&value, (zend_long)status);
    zend_update_property_ex(zend_ce_exception, Z_OBJ_P(out), ZSTR_KNOWN(ZEND_STR_CODE), &value);
}

void dueq_php_throw_format(dueq_status status, const char *format, ...) {
    va_list arguments;
    zend_string *text;

    va_start(arguments, format);
    text = zend_vstrpprintf(0, format, arguments);
    va_end(arguments);
    dueq_php_throw(status, ZSTR_VAL(text));
    zend_string_release(text);
}

ZEND_METHOD(Dueq_Exception_DueqException, isRetriable) {
    zval buffer, *code;

    ZEND_PARSE_PARAMETERS_NONE();

    code = zend_read_property_ex(zend_ce_exception, Z_OBJ_P(ZEND_THIS), ZSTR_KNOWN(ZEND_STR_CODE),
                                 1, &buffer);
    RETURN_BOOL(dueq_status_retriable((dueq_status)zval_get_long(code)));
}

/* Does a terminal obey it, or does it break the line or turn its direction? */
static bool is_control(unsigned code) {
    return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x61C || code == 0x200E ||
           code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

/* What others wrote is in it: ids, and what servers say. */
static zend_string *escaped(const zend_string *text) {
    smart_str out = {0};

    for (size_t at = 0, from = 0; at < ZSTR_LEN(text); from = at) {
        zend_result good;
        unsigned code =
            php_next_utf8_char((const unsigned char *)ZSTR_VAL(text), ZSTR_LEN(text), &at, &good);

        if (good == FAILURE) {
            at = from + 1;
            code = (unsigned char)ZSTR_VAL(text)[from];
        }
        if (good == FAILURE || is_control(code)) {
            smart_str_append_printf(&out, code < 0x100 ? "\\x%02x" : "\\u%04x", code);
        } else {
            smart_str_appendl(&out, ZSTR_VAL(text) + from, at - from);
        }
    }
    return smart_str_extract(&out);
}

void dueq_php_log(const char *format, ...) {
    zend_string *text, *line;
    va_list arguments;

    va_start(arguments, format);
    text = zend_vstrpprintf(0, format, arguments);
    va_end(arguments);
    line = escaped(text);
    php_log_err_with_severity(ZSTR_VAL(line), LOG_WARNING);
    zend_string_release(line);
    zend_string_release(text);
}
