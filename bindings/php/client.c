#include "link.h"

/* A copy of the address: a program may change its environment before the next client is opened. */
static zend_string *address_of(const zend_string *url) {
    const char *set = url ? ZSTR_VAL(url) : getenv("DUEQ_URL");

    return set && (url || *set) ? zend_string_init(set, strlen(set), false) : NULL;
}

/* False: it threw. */
static bool open_own(dueq_php_client *client) {
    dueq_status status = dueq_open(client->url ? ZSTR_VAL(client->url) : NULL, &client->client);

    if (status != DUEQ_OK) {
        dueq_php_throw(status, client->client ? dueq_error_text(client->client) : NULL);
    }
    return status == DUEQ_OK;
}

dueq_php_client *dueq_php_client_open(const zend_string *url, bool persistent) {
    dueq_php_client *client;
    zend_string *address;

    if (url && zend_str_has_nul_byte(url)) {
        dueq_php_throw(DUEQ_URL, "the URL contains a NUL byte");
        return NULL;
    }
    address = address_of(url);
    /*
     * Without an address the environment chooses an embedded server, and may choose another one in
     * the next request.
     */
    persistent = persistent && address;
    if (persistent && (client = dueq_php_kept_user(address))) {
        zend_string_release(address);
        client->holders++;
        return client;
    }
    client = ecalloc(1, sizeof *client);
    client->holders = 1;
    client->url = address;
    if (persistent && dueq_php_kept_take(client)) {
        return client;
    }
    if (!open_own(client)) {
        dueq_php_client_release(client);
        return NULL;
    }
    if (persistent) {
        dueq_php_kept_add(client);
    }
    dueq_php_warn(client->client);
    return client;
}

void dueq_php_client_release(dueq_php_client *client) {
    if (!client || --client->holders) {
        return;
    }
    while (client->spare) {
        dueq_php_link *link = client->spare;

        client->spare = link->next;
        dueq_php_link_close(link);
    }
    dueq_result_free(client->result);
    dueq_queue_close(client->target);
    if (client->is_kept) {
        dueq_php_kept_give(client);
    } else {
        dueq_close(client->client);
    }
    if (client->url) {
        zend_string_release(client->url);
    }
    efree(client);
}

void dueq_php_client_forget(dueq_php_client *client) {
    dueq_result_free(client->result);
    client->result = NULL;
}

/* Dueq\Client */

typedef struct client_object {
    dueq_php_client *client; /* NULL until the constructor has succeeded */
    zend_object std;
} client_object;

static zend_object_handlers handlers;

static client_object *client_of(zend_object *object) {
    return (client_object *)((char *)object - offsetof(client_object, std));
}

static zend_object *create(zend_class_entry *ce) {
    client_object *client = zend_object_alloc(sizeof *client, ce);

    zend_object_std_init(&client->std, ce);
    object_properties_init(&client->std, ce);
    client->std.handlers = &handlers;
    return &client->std;
}

static void release(zend_object *object) {
    dueq_php_client_release(client_of(object)->client);
    zend_object_std_dtor(object);
}

void dueq_php_client_startup(void) {
    dueq_php_client_ce->create_object = create;
    memcpy(&handlers, &std_object_handlers, sizeof handlers);
    handlers.offset = offsetof(client_object, std);
    handlers.free_obj = release;
    handlers.clone_obj = NULL;
}

ZEND_METHOD(Dueq_Client, __construct) {
    client_object *client = client_of(Z_OBJ_P(ZEND_THIS));
    bool persistent = false, by_default = true;
    zend_string *url = NULL;

    ZEND_PARSE_PARAMETERS_START(0, 2)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR_OR_NULL(url)
        Z_PARAM_BOOL_OR_NULL(persistent, by_default)
    ZEND_PARSE_PARAMETERS_END();

    if (client->client) {
        zend_throw_error(NULL, "This Dueq\\Client has been constructed already");
        RETURN_THROWS();
    }
    client->client = dueq_php_client_open(url, DUEQ_PHP_PERSISTENT(persistent, by_default));
}

/* The client of $this; NULL, with an Error thrown, before its constructor has run. */
static dueq_php_client *this_client(const zval *this) {
    dueq_php_client *client = client_of(Z_OBJ_P(this))->client;

    if (!client) {
        zend_throw_error(NULL, "This Dueq\\Client has not been constructed");
    }
    return client;
}

#define THIS_CLIENT(client)                                                                        \
    dueq_php_client *client = this_client(ZEND_THIS);                                              \
    if (!client) {                                                                                 \
        RETURN_THROWS();                                                                           \
    }

ZEND_METHOD(Dueq_Client, url) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_CLIENT(client);
    RETURN_STRING(dueq_client_url(client->client));
}

ZEND_METHOD(Dueq_Client, queue) {
    const dueq_php_place replicas_place = {2, -1, "replicas"};
    const dueq_php_place partitions_place = {5, -1, "partitions"};
    const dueq_php_place keep_place = {6, -1, "keep"};
    zval *durable_timeout = NULL, *keep = NULL;
    dueq_php_queue *queue;
    zend_long replicas = 0, partitions = 0;
    zend_string *name;
    bool disk = false, none = true;

    ZEND_PARSE_PARAMETERS_START(1, 6)
        Z_PARAM_STR(name)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG(replicas)
        Z_PARAM_BOOL(disk)
        Z_PARAM_ZVAL(durable_timeout)
        Z_PARAM_LONG_OR_NULL(partitions, none)
        Z_PARAM_ZVAL(keep)
    ZEND_PARSE_PARAMETERS_END();

    THIS_CLIENT(client);
    object_init_ex(return_value, dueq_php_queue_ce);
    queue = dueq_php_queue_of(Z_OBJ_P(return_value));
    if (!dueq_php_durability_read(&replicas_place, replicas, disk, durable_timeout,
                                  &queue->durability) ||
        !dueq_php_partitions_read(&partitions_place, partitions, none, &queue->partitions) ||
        !dueq_php_keep_read(&keep_place, keep, &queue->keep_ms) ||
        !dueq_php_queue_open(queue, client, name)) {
        zval_ptr_dtor(return_value);
        ZVAL_NULL(return_value);
    }
}

ZEND_METHOD(Dueq_Client, queues) {
    zend_object *order = NULL;
    HashTable *names;

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_ARRAY_HT(names)
        Z_PARAM_OPTIONAL
        Z_PARAM_OBJ_OF_CLASS(order, dueq_php_order.ce)
    ZEND_PARSE_PARAMETERS_END();

    THIS_CLIENT(client);
    dueq_php_queues_make(return_value, client, names, order);
}

ZEND_METHOD(Dueq_Client, names) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_CLIENT(client);
    dueq_php_names_make(return_value, client);
}
