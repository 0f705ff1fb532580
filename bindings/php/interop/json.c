#include "php_interop.h"

#include "ext/json/php_json.h"
#include "zend_smart_str.h"

/* The deepest nesting that the core reads. */
#define DEPTH 1024

dueq_bytes dueq_php_hold(HashTable *held, zend_string *text) {
    zval value;

    ZVAL_STR_COPY(&value, text);
    zend_hash_next_index_insert_new(held, &value);
    return dueq_php_bytes(text);
}

static const char *reason(php_json_error_code code) {
    switch (code) {
    case PHP_JSON_ERROR_DEPTH:
        return "be nested less deeply, to be written as JSON";
    case PHP_JSON_ERROR_UTF8:
        return "have strings in UTF-8 alone, to be written as JSON";
    case PHP_JSON_ERROR_RECURSION:
        return "not contain itself, to be written as JSON";
    case PHP_JSON_ERROR_INF_OR_NAN:
        return "have finite numbers alone, to be written as JSON";
    default:
        return "have a form in JSON";
    }
}

bool dueq_php_json_write(const dueq_php_place *place, zval *value, zend_string **text) {
    const int options =
        PHP_JSON_UNESCAPED_SLASHES | PHP_JSON_UNESCAPED_UNICODE | PHP_JSON_PRESERVE_ZERO_FRACTION;
    const php_json_error_code before = JSON_G(error_code);
    php_json_error_code code;
    smart_str buffer = {0};
    zend_result done = php_json_encode_ex(&buffer, value, options, DEPTH);

    /* Some errors only set this code. It is restored, as the program reads json_last_error(). */
    code = JSON_G(error_code);
    JSON_G(error_code) = before;
    if (EG(exception) || done != SUCCESS || code != PHP_JSON_ERROR_NONE) {
        smart_str_free(&buffer);
        return EG(exception) ? false : dueq_php_invalid(place, reason(code));
    }
    *text = smart_str_extract(&buffer);
    return true;
}

bool dueq_php_json_read(zval *out, dueq_bytes text) {
    const php_json_error_code before = JSON_G(error_code);
    /* A copy, as PHP's scanner reads the NUL behind the text. */
    zend_string *copy = zend_string_init(text.data, text.size, false);
    zend_result done =
        php_json_decode_ex(out, ZSTR_VAL(copy), ZSTR_LEN(copy),
                           PHP_JSON_OBJECT_AS_ARRAY | PHP_JSON_BIGINT_AS_STRING, DEPTH);

    zend_string_release(copy);
    JSON_G(error_code) = before;
    return done == SUCCESS;
}
