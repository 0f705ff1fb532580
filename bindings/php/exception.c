#include "php_dueq.h"

#include "zend_exceptions.h"

/* The class of each status that can be thrown; NULL for all others. */
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
 * A class is found by its status's name without underscores (LEASE_LOST: LeaseLostException; names
 * of classes have no case in PHP), so the table in dueq.h is the one list.
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

/*
 * Sets the properties that name the stored messages of a call that is not durable, or of one that
 * refused others.
 */
static void tell_stored(zend_object *exception, const dueq_result *result) {
    size_t first = dueq_result_first(result), count = dueq_result_count(result);
    const zend_class_entry *backlog = class_of(DUEQ_BACKLOG);
    zval ids, id;

    array_init_size(&ids, (uint32_t)(count - first));
    for (size_t i = first; i < count; i++) {
        ZVAL_NULL(&id);
        if (exception->ce != backlog || dueq_result_status(result, i) == DUEQ_OK) {
            dueq_php_string(&id, dueq_result_id(result, i));
        }
        zend_hash_next_index_insert_new(Z_ARRVAL(ids), &id);
    }
    zend_update_property(exception->ce, exception, ZEND_STRL("ids"), &ids);
    zval_ptr_dtor(&ids);
    if (exception->ce == backlog) {
        return;
    }
    zend_update_property_long(exception->ce, exception, ZEND_STRL("replicas"),
                              dueq_result_replicas(result));
    zend_update_property_bool(exception->ce, exception, ZEND_STRL("disk"),
                              dueq_result_disk(result));
}

void dueq_php_throw_result(dueq_status status, const char *text, const dueq_result *result) {
    zval exception;

    dueq_php_exception_make(&exception, status, text, result);
    zend_throw_exception_object(&exception);
}

void dueq_php_exception_make(zval *out, dueq_status status, const char *text,
                             const dueq_result *result) {
    zval value;

    object_init_ex(out, class_of(status));
    ZVAL_STRING(&value, text_of(status, text));
    zend_update_property_ex(zend_ce_exception, Z_OBJ_P(out), ZSTR_KNOWN(ZEND_STR_MESSAGE), &value);
    zval_ptr_dtor_str(&value);
    ZVAL_LONG(&value, (zend_long)status);
    zend_update_property_ex(zend_ce_exception, Z_OBJ_P(out), ZSTR_KNOWN(ZEND_STR_CODE), &value);
    if (status == DUEQ_NOT_DURABLE || (status == DUEQ_BACKLOG && result)) {
        tell_stored(Z_OBJ_P(out), result);
    }
}

/* The first exception of an array, which is not empty. */
static zend_object *first_of(HashTable *failures) {
    HashPosition position = 0;

    zend_hash_internal_pointer_reset_ex(failures, &position);
    return Z_OBJ_P(zend_hash_get_current_data_ex(failures, &position));
}

static zval *read_known(zend_object *exception, zend_known_string_id name, zval *buffer) {
    return zend_read_property_ex(zend_ce_exception, exception, ZSTR_KNOWN(name), true, buffer);
}

const char *dueq_php_first_text(HashTable *failures) {
    zval buffer;

    return Z_STRVAL_P(read_known(first_of(failures), ZEND_STR_MESSAGE, &buffer));
}

void dueq_php_throw_flush(HashTable *failures) {
    uint32_t count = zend_hash_num_elements(failures);
    zval code, list;
    zend_object *thrown = zend_throw_exception_ex(
        dueq_php_flush_ce, Z_LVAL_P(read_known(first_of(failures), ZEND_STR_CODE, &code)),
        "%u push%s failed%s: %s", count, count == 1 ? "" : "es", count == 1 ? "" : ", the first",
        dueq_php_first_text(failures));

    ZVAL_ARR(&list, failures);
    zend_update_property(dueq_php_flush_ce, thrown, ZEND_STRL("failures"), &list);
    zval_ptr_dtor(&list);
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

ZEND_METHOD(Dueq_Exception_RuntimeException, isRetriable) {
    zval buffer, *code;

    ZEND_PARSE_PARAMETERS_NONE();

    code = read_known(Z_OBJ_P(ZEND_THIS), ZEND_STR_CODE, &buffer);
    RETURN_BOOL(dueq_status_retriable((dueq_status)zval_get_long(code)));
}
