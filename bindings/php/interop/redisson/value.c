#include "php_redisson.h"

#include "zend_exceptions.h"

#include "ext/json/php_json.h"

/* From PHP */

/* The property of a Dueq\Redisson\Long or Dueq\Redisson\Binary. */
enum { WRAPPED };
/* The properties of Dueq\Redisson\Unreadable in the order of the stub. */
enum { UNREADABLE_RAW, UNREADABLE_REASON };

static bool read_json(const dueq_php_place *place, zval *given, dueq_value *value,
                      HashTable *held) {
    zend_string *text;

    if (!dueq_php_json_write(place, given, &text)) {
        return false;
    }
    value->kind = DUEQ_JSON;
    value->bytes = dueq_php_hold(held, text);
    zend_string_release(text);
    return true;
}

static bool read_object(const dueq_php_place *place, zval *given, dueq_value *value,
                        HashTable *held) {
    const zend_class_entry *ce = Z_OBJCE_P(given);

    if (ce == dueq_php_redisson_long_ce &&
        Z_TYPE_P(OBJ_PROP_NUM(Z_OBJ_P(given), WRAPPED)) == IS_LONG) {
        value->kind = DUEQ_LONG;
        value->integer = Z_LVAL_P(OBJ_PROP_NUM(Z_OBJ_P(given), WRAPPED));
        return true;
    }
    if (ce == dueq_php_redisson_binary_ce &&
        Z_TYPE_P(OBJ_PROP_NUM(Z_OBJ_P(given), WRAPPED)) == IS_STRING) {
        value->kind = DUEQ_BINARY;
        value->bytes = dueq_php_hold(held, Z_STR_P(OBJ_PROP_NUM(Z_OBJ_P(given), WRAPPED)));
        return true;
    }
    if (ce != dueq_php_redisson_long_ce && ce != dueq_php_redisson_binary_ce &&
        (ce == zend_standard_class_def || instanceof_function(ce, php_json_serializable_ce))) {
        return read_json(place, given, value, held);
    }
    dueq_php_type_error(place,
                        "Dueq\\Redisson\\Binary|Dueq\\Redisson\\Long|stdClass|JsonSerializable|"
                        "array|string|int|float|bool|null",
                        given);
    return false;
}

bool dueq_php_value_read(const dueq_php_place *place, zval *given, dueq_codec codec,
                         dueq_value *value, HashTable *held) {
    *value = (dueq_value){.kind = DUEQ_NULL};
    ZVAL_DEREF(given);
    switch (Z_TYPE_P(given)) {
    case IS_NULL:
        return true;
    case IS_FALSE:
    case IS_TRUE:
        value->kind = DUEQ_BOOLEAN;
        value->integer = Z_TYPE_P(given) == IS_TRUE;
        return true;
    case IS_LONG:
        value->integer = Z_LVAL_P(given);
        value->kind =
            value->integer >= INT32_MIN && value->integer <= INT32_MAX ? DUEQ_INTEGER : DUEQ_LONG;
        return true;
    case IS_DOUBLE:
        value->kind = DUEQ_DOUBLE;
        value->number = Z_DVAL_P(given);
        return true;
    case IS_STRING:
        value->kind = codec == DUEQ_CODEC_BYTES ? DUEQ_BINARY : DUEQ_STRING;
        value->bytes = dueq_php_hold(held, Z_STR_P(given));
        return true;
    case IS_ARRAY:
        return read_json(place, given, value, held);
    default:
        break;
    }
    if (Z_TYPE_P(given) == IS_OBJECT) {
        return read_object(place, given, value, held);
    }
    dueq_php_type_error(place, "array|string|int|float|bool|null", given);
    return false;
}

/* To PHP */

/* Why a value cannot be read. The caller frees the string. */
static zend_string *reason_of(const dueq_php_source *source, dueq_bytes raw) {
    const dueq_codec codec = dueq_php_redisson_of(source->object)->codec;
    dueq_result *decoded = NULL;
    dueq_status status = dueq_codec_decode(source->client->client, codec, raw, &decoded);
    const char *text = status < 0 ? dueq_error_text(source->client->client)
                                  : "it waits in no layout of Redisson's that is known";

    dueq_result_free(decoded);
    return zend_string_init(text, strlen(text), false);
}

/* Makes the value. False: it cannot be read, and *raw has its bytes. */
static bool make(zval *out, const dueq_result *result, size_t index, dueq_bytes *raw) {
    const dueq_value *value = dueq_result_value(result, index);

    *raw = value->bytes;
    if (dueq_result_status(result, index) == DUEQ_CORRUPT) {
        return false;
    }
    switch (value->kind) {
    case DUEQ_NULL:
        ZVAL_NULL(out);
        break;
    case DUEQ_BOOLEAN:
        ZVAL_BOOL(out, value->integer);
        break;
    case DUEQ_INTEGER:
    case DUEQ_LONG:
        ZVAL_LONG(out, (zend_long)value->integer);
        break;
    case DUEQ_DOUBLE:
        ZVAL_DOUBLE(out, value->number);
        break;
    case DUEQ_STRING:
    case DUEQ_BINARY:
        dueq_php_string(out, value->bytes);
        break;
    case DUEQ_JSON:
        return dueq_php_json_read(out, value->bytes);
    }
    return true;
}

static void throw_corrupt(const dueq_php_source *source, dueq_bytes raw) {
    zend_string *reason = reason_of(source, raw);
    zval exception, value;

    dueq_php_exception_make(&exception, DUEQ_CORRUPT, ZSTR_VAL(reason), NULL);
    dueq_php_string(&value, raw);
    zend_update_property(dueq_php_corrupt_ce, Z_OBJ(exception), ZEND_STRL("raw"), &value);
    zval_ptr_dtor(&value);
    zend_string_release(reason);
    zend_throw_exception_object(&exception);
}

void dueq_php_value_alone(zval *out, const dueq_php_source *source, const dueq_result *result,
                          size_t index) {
    dueq_bytes raw;

    if (!make(out, result, index, &raw)) {
        throw_corrupt(source, raw);
    }
}

void dueq_php_value_item(zval *out, const dueq_php_source *source, const dueq_result *result,
                         size_t index) {
    dueq_bytes raw;

    if (!make(out, result, index, &raw)) {
        object_init_ex(out, dueq_php_redisson_unreadable_ce);
        dueq_php_string(OBJ_PROP_NUM(Z_OBJ_P(out), UNREADABLE_RAW), raw);
        ZVAL_STR(OBJ_PROP_NUM(Z_OBJ_P(out), UNREADABLE_REASON), reason_of(source, raw));
    }
}

/* Dueq\Redisson\Long, Dueq\Redisson\Binary, Dueq\Redisson\Unreadable */

/* The property to set. NULL: it is set already, and an Error was thrown. */
static zval *unset(const zval *this) {
    zval *property = OBJ_PROP_NUM(Z_OBJ_P(this), WRAPPED);

    if (Z_TYPE_P(property) == IS_UNDEF) {
        return property;
    }
    zend_throw_error(NULL, "This %s has been constructed already", ZSTR_VAL(Z_OBJCE_P(this)->name));
    return NULL;
}

ZEND_METHOD(Dueq_Redisson_Long, __construct) {
    zend_long number;
    zval *property;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_LONG(number)
    ZEND_PARSE_PARAMETERS_END();

    property = unset(ZEND_THIS);
    if (property) {
        ZVAL_LONG(property, number);
    }
}

ZEND_METHOD(Dueq_Redisson_Long, jsonSerialize) {
    const zval *property = OBJ_PROP_NUM(Z_OBJ_P(ZEND_THIS), WRAPPED);

    ZEND_PARSE_PARAMETERS_NONE();
    RETURN_LONG(Z_TYPE_P(property) == IS_LONG ? Z_LVAL_P(property) : 0);
}

ZEND_METHOD(Dueq_Redisson_Binary, __construct) {
    zend_string *bytes;
    zval *property;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(bytes)
    ZEND_PARSE_PARAMETERS_END();

    property = unset(ZEND_THIS);
    if (property) {
        ZVAL_STR_COPY(property, bytes);
    }
}

ZEND_METHOD(Dueq_Redisson_Binary, jsonSerialize) {
    ZEND_PARSE_PARAMETERS_NONE();
    dueq_php_throw(DUEQ_INVALID,
                   "bytes have no form in JSON: a Dueq\\Redisson\\Binary stands alone");
}

ZEND_METHOD(Dueq_Redisson_Unreadable, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }
