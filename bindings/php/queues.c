#include "link.h"

_Static_assert(DUEQ_MAX_QUEUES == 1024, "the stub names this limit of Queues::__construct()");

typedef struct queues_object {
    dueq_php_client *client;                  /* NULL until the constructor has succeeded */
    dueq_php_queue *objects[DUEQ_MAX_QUEUES]; /* counted: the Dueq\Queue that messages hold */
    dueq_queue *queues[DUEQ_MAX_QUEUES];      /* theirs */
    size_t count;
    dueq_order order;
    zend_object std;
} queues_object;

static zend_object_handlers handlers;

static queues_object *queues_of(zend_object *object) {
    return (queues_object *)((char *)object - offsetof(queues_object, std));
}

static zend_object *create(zend_class_entry *ce) {
    queues_object *queues = zend_object_alloc(sizeof *queues, ce);

    zend_object_std_init(&queues->std, ce);
    object_properties_init(&queues->std, ce);
    queues->std.handlers = &handlers;
    return &queues->std;
}

static void close_all(queues_object *queues) {
    while (queues->count) {
        OBJ_RELEASE(&queues->objects[--queues->count]->std);
    }
    dueq_php_client_release(queues->client);
    queues->client = NULL;
}

static void release(zend_object *object) {
    close_all(queues_of(object));
    zend_object_std_dtor(object);
}

void dueq_php_queues_startup(void) {
    dueq_php_queues_ce->create_object = create;
    memcpy(&handlers, &std_object_handlers, sizeof handlers);
    handlers.offset = offsetof(queues_object, std);
    handlers.free_obj = release;
    handlers.clone_obj = NULL;
}

/* The properties in the order of the stub. */
enum { QUEUES_NAMES, QUEUES_ORDER };

/* Opens one more queue. False: it threw. */
static bool open_one(queues_object *queues, zend_string *name) {
    dueq_php_queue *queue;
    zval object;

    object_init_ex(&object, dueq_php_queue_ce);
    queue = dueq_php_queue_of(Z_OBJ(object));
    if (!dueq_php_queue_open(queue, queues->client, name)) {
        zval_ptr_dtor(&object);
        return false;
    }
    queues->queues[queues->count] = queue->queue;
    queues->objects[queues->count++] = queue;
    return true;
}

/* Opens all queues, each once, and makes the list of their names. False: it threw. */
static bool open_all(queues_object *queues, HashTable *table, zval *names) {
    const dueq_php_place place = {1, -1, "names"};
    zval *value;

    if (!zend_hash_num_elements(table) || zend_hash_num_elements(table) > DUEQ_MAX_QUEUES) {
        return dueq_php_invalid(&place, "be 1 to 1,024 names");
    }
    array_init_size(names, zend_hash_num_elements(table));
    ZEND_HASH_FOREACH_VAL(table, value) {
        ZVAL_DEREF(value);
        if (Z_TYPE_P(value) != IS_STRING) {
            dueq_php_type_error(&place, "array of strings", value);
            return false;
        }
        for (size_t i = 0; i < queues->count; i++) {
            if (queues->order != DUEQ_ROUND_ROBIN &&
                zend_string_equals(Z_STR_P(OBJ_PROP_NUM(&queues->objects[i]->std, 0)),
                                   Z_STR_P(value))) {
                return dueq_php_invalid(&place, "be different names");
            }
        }
        if (!open_one(queues, Z_STR_P(value))) {
            return false;
        }
        Z_TRY_ADDREF_P(value);
        zend_hash_next_index_insert_new(Z_ARRVAL_P(names), value);
    }
    ZEND_HASH_FOREACH_END();
    return true;
}

/* False: it threw. */
static bool fill(queues_object *queues, dueq_php_client *client, HashTable *table,
                 zend_object *order) {
    zval names;

    queues->order =
        order ? (dueq_order)dueq_php_case_value(&dueq_php_order, order) : DUEQ_PREFERENCE;
    client->holders++;
    queues->client = client;
    ZVAL_UNDEF(&names);
    if (!open_all(queues, table, &names)) {
        zval_ptr_dtor(&names);
        close_all(queues);
        return false;
    }
    ZVAL_COPY_VALUE(OBJ_PROP_NUM(&queues->std, QUEUES_NAMES), &names);
    dueq_php_case_make(OBJ_PROP_NUM(&queues->std, QUEUES_ORDER), &dueq_php_order,
                       (int)queues->order);
    return true;
}

void dueq_php_queues_make(zval *out, dueq_php_client *client, HashTable *names,
                          zend_object *order) {
    object_init_ex(out, dueq_php_queues_ce);
    if (!fill(queues_of(Z_OBJ_P(out)), client, names, order)) {
        zval_ptr_dtor(out);
        ZVAL_NULL(out);
    }
}

ZEND_METHOD(Dueq_Queues, __construct) {
    queues_object *queues = queues_of(Z_OBJ_P(ZEND_THIS));
    bool persistent = false, by_default = true;
    zend_string *url = NULL;
    zend_object *order = NULL;
    dueq_php_client *client;
    HashTable *table;

    ZEND_PARSE_PARAMETERS_START(1, 4)
        Z_PARAM_ARRAY_HT(table)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR_OR_NULL(url)
        Z_PARAM_OBJ_OF_CLASS(order, dueq_php_order.ce)
        Z_PARAM_BOOL_OR_NULL(persistent, by_default)
    ZEND_PARSE_PARAMETERS_END();

    if (queues->client) {
        zend_throw_error(NULL, "This Dueq\\Queues has been constructed already");
        RETURN_THROWS();
    }
    client = dueq_php_client_open(url, DUEQ_PHP_PERSISTENT(persistent, by_default));
    if (client) {
        fill(queues, client, table, order);
        dueq_php_client_release(client);
    }
}

/* NULL, with an Error thrown, before its constructor has run. */
static queues_object *this_queues(const zval *this) {
    queues_object *queues = queues_of(Z_OBJ_P(this));

    if (!queues->client) {
        zend_throw_error(NULL, "This Dueq\\Queues has not been constructed");
        return NULL;
    }
    return queues;
}

#define THIS_QUEUES(queues)                                                                        \
    queues_object *queues = this_queues(ZEND_THIS);                                                \
    if (!queues) {                                                                                 \
        RETURN_THROWS();                                                                           \
    }

ZEND_METHOD(Dueq_Queues, url) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_QUEUES(queues);
    RETURN_STRING(dueq_client_url(queues->client->client));
}

static dueq_php_source source_of(queues_object *queues) {
    return (dueq_php_source){.object = &queues->std,
                             .client = queues->client,
                             .queues = queues->objects,
                             .count = queues->count,
                             .order = queues->order};
}

static dueq_status reserve(queues_object *queues, dueq_reserve_options *options) {
    options->order = queues->order;
    return dueq_php_finish_wait(queues->client,
                                dueq_reserve_any_submit(queues->queues, queues->count, options));
}

ZEND_METHOD(Dueq_Queues, reserve) {
    dueq_reserve_options options = DUEQ_RESERVE;

    THIS_QUEUES(queues);
    if (!dueq_php_reserve_read(execute_data, false, &options)) {
        RETURN_THROWS();
    }
    const dueq_php_source source = source_of(queues);
    dueq_php_first(return_value, &source, reserve(queues, &options), dueq_php_message_item);
}

/* Gives a message back as if it had not been reserved. */
static dueq_status give_back(dueq_php_link *link) {
    dueq_result *result;
    dueq_status status;

    dueq_take(link->client, &result);
    status = dueq_php_link_finish(
        link, dueq_release_submit(dueq_php_link_queue(link, dueq_result_queue(result)),
                                  &dueq_result_message(result, 0)->ticket, 1, 0));
    dueq_result_free(result);
    return status;
}

static void make_reserved(zval *out, const dueq_php_source *source, const dueq_result *result) {
    if (dueq_result_count(result)) {
        dueq_php_message_item(out, source, result, 0);
    } else {
        ZVAL_NULL(out);
    }
}

void dueq_php_reserve_start(zend_execute_data *execute_data, zval *return_value,
                            const dueq_php_source *source) {
    static const dueq_php_call call = {make_reserved, give_back};
    dueq_reserve_options options = DUEQ_RESERVE;
    dueq_php_link *link;

    options.order = source->order;
    options.timeout_ms = DUEQ_FOREVER;
    if (dueq_php_reserve_read(execute_data, false, &options) &&
        (link = dueq_php_pending_open(return_value, source, &call))) {
        dueq_php_pending_start(return_value,
                               dueq_reserve_any_submit(link->queues, link->count, &options));
    }
}

ZEND_METHOD(Dueq_Queues, reserveStart) {
    THIS_QUEUES(queues);
    const dueq_php_source source = source_of(queues);
    dueq_php_reserve_start(execute_data, return_value, &source);
}

ZEND_METHOD(Dueq_Queues, consume) {
    THIS_QUEUES(queues);
    const dueq_php_source source = source_of(queues);
    dueq_php_consume(execute_data, return_value, &source);
}

ZEND_METHOD(Dueq_Queues, getIterator) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_QUEUES(queues);
    const dueq_php_source source = source_of(queues);
    dueq_php_consume(execute_data, return_value, &source);
}

ZEND_METHOD(Dueq_Queues, reserveMany) {
    dueq_reserve_options options = DUEQ_RESERVE;

    THIS_QUEUES(queues);
    if (!dueq_php_reserve_read(execute_data, true, &options)) {
        RETURN_THROWS();
    }
    const dueq_php_source source = source_of(queues);
    dueq_php_list(return_value, &source, reserve(queues, &options), dueq_php_message_item);
}
