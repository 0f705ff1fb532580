/*
 * The map of the PHP extension. Each method does three steps: parse the arguments (client.c,
 * queue.c, admin.c, query.c, queues.c, message.c, lock.c, with draft.c, parameters.c, backoff.c and
 * times.c), submit the verb and wait for it (call.c), make PHP values of the result (message.c,
 * query.c) or throw (exception.c). The extension uses only the public headers of the core. Clients
 * that outlive a request are in persistent.c. link.h has the objects with connections of their own.
 * The queues of other systems are in interop/; only dueq.c refers to them, to register their
 * classes.
 */
#ifndef PHP_DUEQ_H
#define PHP_DUEQ_H

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php.h"

#include "zend_arena.h"

#include "dueq.h"

extern zend_module_entry dueq_module_entry;
#define phpext_dueq_ptr &dueq_module_entry

#if defined(ZTS) && defined(COMPILE_DL_DUEQ)
ZEND_TSRMLS_CACHE_EXTERN()
#endif

/* dueq.c: the module */

/*
 * State that outlives a request, and state that all objects of a request share. With threads, each
 * thread has its own.
 */
ZEND_BEGIN_MODULE_GLOBALS(dueq)
bool persistent; /* dueq.persistent of php.ini */
struct dueq_php_kept *kept;
struct dueq_php_consumer *loops; /* the loops that run, the innermost first */
struct dueq_php_loop *open;      /* the open consumers, whose heartbeats may have warnings */
char *fatal;                     /* the text of the error that ends the script; NULL: none */
zval listener;                   /* of Client::onNotice(); UNDEF: none */
zval notices;                    /* lines for the listener; UNDEF: none */
ZEND_END_MODULE_GLOBALS(dueq)

ZEND_EXTERN_MODULE_GLOBALS(dueq)
#define DUEQ_G(member) ZEND_MODULE_GLOBALS_ACCESSOR(dueq, member)

extern zend_class_entry *dueq_php_backoff_ce;
extern zend_class_entry *dueq_php_client_ce;
extern zend_class_entry *dueq_php_consumer_ce;
extern zend_class_entry *dueq_php_lock_ce;
extern zend_class_entry *dueq_php_message_ce;
extern zend_class_entry *dueq_php_messages_ce;
extern zend_class_entry *dueq_php_pending_ce;
extern zend_class_entry *dueq_php_pusher_ce;
extern zend_class_entry *dueq_php_queue_ce;
extern zend_class_entry *dueq_php_queues_ce;
extern zend_class_entry *dueq_php_finding_ce;
extern zend_class_entry *dueq_php_rate_ce;
extern zend_class_entry *dueq_php_stats_ce;
extern zend_class_entry *dueq_php_limits_ce;
extern zend_class_entry *dueq_php_group_limits_ce;
extern zend_class_entry *dueq_php_worker_ce;
extern zend_class_entry *dueq_php_lease_ce;
extern zend_class_entry *dueq_php_failure_ce;
extern zend_class_entry *dueq_php_end_ce;
extern zend_class_entry *dueq_php_group_ce;
extern zend_class_entry *dueq_php_batch_status_ce;
extern zend_class_entry *dueq_php_corrupt_ce;
extern zend_class_entry *dueq_php_flush_ce;

/* enums.c: PHP's enums, one for each enum of C */

typedef struct dueq_php_enum {
    zend_class_entry *ce;     /* set when the module starts */
    const char *const *names; /* of the cases, in the order of their values in C */
    int least, most;
} dueq_php_enum;

#define DUEQ_PHP_ENUM(of, least, most, ...)                                                        \
    static const char *const of##_names[] = {__VA_ARGS__};                                         \
    _Static_assert(sizeof of##_names / sizeof of##_names[0] == (most) - (least) + 1,               \
                   "each value in C has a case");                                                  \
    dueq_php_enum dueq_php_##of = {NULL, of##_names, least, most}

extern dueq_php_enum dueq_php_state;
extern dueq_php_enum dueq_php_order;
extern dueq_php_enum dueq_php_replace;
extern dueq_php_enum dueq_php_backoff_kind;
extern dueq_php_enum dueq_php_jitter;
extern dueq_php_enum dueq_php_catch_up;
extern dueq_php_enum dueq_php_failure_kind;

/* Makes the case for a value of C. */
void dueq_php_case_make(zval *out, const dueq_php_enum *of, int value);
/* The value of C for a case. */
int dueq_php_case_value(const dueq_php_enum *of, zend_object *object);

/* client.c: the client that objects share, and Dueq\Client */

void dueq_php_client_startup(void);

/*
 * The result of a call is stored here. If a bailout (PHP's memory limit) interrupts its conversion,
 * the next call, or the end of the client, frees the result.
 */
typedef struct dueq_php_client {
    dueq_client *client;
    zend_string *url;    /* as given; NULL: the default */
    dueq_result *result; /* of the last call */
    dueq_queue *target;  /* the queue that the last ack() pushed to */
    struct dueq_php_link *spare;
    uint32_t holders;
    bool is_kept; /* its dueq_client belongs to persistent.c */
} dueq_php_client;

/* Whether a client with this argument is persistent; null: as php.ini says. */
#define DUEQ_PHP_PERSISTENT(given, is_null) ((is_null) ? DUEQ_G(persistent) : (given))

/*
 * Opens a client with one holder; url may be NULL. persistent: returns the client that the process
 * keeps for this URL; if this request uses it already, it gets one more holder. NULL: it threw.
 */
dueq_php_client *dueq_php_client_open(const zend_string *url, bool persistent);
/* Removes a holder. The last one closes the client. NULL is safe. */
void dueq_php_client_release(dueq_php_client *client);
/* Frees the last result, if it has bodies: PHP has copied them by now. */
void dueq_php_client_forget(dueq_php_client *client);

/* persistent.c: the clients that a process keeps for its next requests, one for each URL */

/* The client that this request has for this URL already; NULL: none. */
dueq_php_client *dueq_php_kept_user(const zend_string *url);
/*
 * Gives the user the idle client of its URL. Closes a client whose connection is lost. False: there
 * is none.
 */
bool dueq_php_kept_take(dueq_php_client *user);
/*
 * From now on the process keeps the user's client. If memory runs out, the client stays the user's
 * own.
 */
void dueq_php_kept_add(dueq_php_client *user);
/* Called when the user ends: its client becomes idle. */
void dueq_php_kept_give(const dueq_php_client *user);
/*
 * Called when a request begins: drops users of the last request, whose objects PHP may have failed
 * to free.
 */
void dueq_php_kept_begin(void);
/* Closes all clients of the list: at the end of the process, or of a thread. */
void dueq_php_kept_close(struct dueq_php_kept **list);

/* queue.c: Dueq\Queue */

typedef struct dueq_php_queue {
    dueq_php_client *client;
    dueq_queue *queue;           /* NULL until it is open */
    dueq_durability durability;  /* of its pushes */
    int64_t keep_ms;             /* of its pushes; 0: they say it, or keep no end */
    struct dueq_php_queue *self; /* a source's list of one */
    zend_long partitions;        /* 0: it has none */
    zend_long part_of;           /* in a partition: how many its queue has; else 0 */
    zend_string *key;            /* only the partition of this key; NULL: all */
    zend_object std;
} dueq_php_queue;

static inline dueq_php_queue *dueq_php_queue_of(zend_object *object) {
    return (dueq_php_queue *)((char *)object - offsetof(dueq_php_queue, std));
}

void dueq_php_queue_startup(void);
/* Opens a queue. It becomes a holder of the client. False: it threw. */
bool dueq_php_queue_open(dueq_php_queue *queue, dueq_php_client *client, zend_string *name);
/*
 * settle.c: opens the queue to which a message's ack() or pushTo() pushes. NULL: the queue itself;
 * of a partition its whole queue. False: it threw.
 */
bool dueq_php_target_open(const dueq_php_queue *queue, const zend_string *name,
                          dueq_queue **target);
/* inspect.c: the submit of a verb that lists a queue page by page. */
typedef dueq_status dueq_php_page_submit(dueq_queue *queue, dueq_bytes cursor, size_t page);
/* Makes an item of a page. Returns the name that tells the item from all others. */
typedef dueq_bytes dueq_php_page_make(zval *out, const dueq_result *page, size_t index);
/*
 * Makes a list of the items of all pages. An item that is on two pages is in the list once, as the
 * later page has it. False: it threw.
 */
bool dueq_php_pages_list(zval *list, const dueq_php_queue *queue, dueq_php_page_submit *submit,
                         dueq_php_page_make *make);
/* Opens a handle of the queue on another client, with its partitions. */
dueq_status dueq_php_queue_handle(const dueq_php_queue *queue, dueq_client *client,
                                  dueq_queue **handle);
/* The queue of $this; NULL, with an Error thrown, before its constructor has run. */
dueq_php_queue *dueq_php_this_queue(const zval *this);

#define THIS_QUEUE(queue)                                                                          \
    dueq_php_queue *queue = dueq_php_this_queue(ZEND_THIS);                                        \
    if (!queue) {                                                                                  \
        RETURN_THROWS();                                                                           \
    }

/* Appends the outcomes of a push to a list, from item `first` on: ids, or null for a duplicate. */
void dueq_php_ids_append(HashTable *list, const dueq_result *result, size_t first);

/* Sources of messages */

/* A source from which a call takes: a Dueq\Queue, a Dueq\Queues, or a queue of another system. */
typedef struct dueq_php_source {
    zend_object *object;
    dueq_php_client *client;
    const struct dueq_php_interop *interop; /* NULL: the source has the queues below */
    dueq_php_queue *const *queues;
    size_t count;
    dueq_order order;
} dueq_php_source;

/* A Dueq\Queue as a source. */
dueq_php_source dueq_php_queue_source(dueq_php_queue *queue);

/* queues.c: Dueq\Queues */

void dueq_php_queues_startup(void);
/* Makes a Dueq\Queues on this client, or throws. names: argument 1; order: NULL is preference. */
void dueq_php_queues_make(zval *out, dueq_php_client *client, HashTable *names, zend_object *order);
/*
 * The method reserveStart() of the source's object: reads the parameters, and makes the
 * Dueq\Pending.
 */
void dueq_php_reserve_start(zend_execute_data *execute_data, zval *return_value,
                            const dueq_php_source *source);

/* message.c: Dueq\Message */

void dueq_php_message_startup(void);
/* Makes a Dueq\Message, which holds a reference to its queue. */
void dueq_php_message_make(zval *out, dueq_php_queue *queue, const dueq_message *message);
struct dueq_php_loop;
/* Marks a message of a consumer: it holds the consumer's loop until it is settled. */
void dueq_php_message_attach(zend_object *message, struct dueq_php_loop *loop);
/* Called when a call has ended the message's delivery, or found it ended. */
void dueq_php_message_settled(zend_object *message);
/*
 * Called when the consumer will settle the message with its next request: the message releases the
 * loop.
 */
void dueq_php_message_detach(zend_object *message);
bool dueq_php_message_is_settled(zend_object *message);
/*
 * Called when the handler has returned. If the handler called a settling method that failed, the
 * message is left to its lease, and PHP's log has a warning. False: the handler called none.
 */
bool dueq_php_message_left(zend_object *message);
/* Makes a message of a queue, or of its partition of this number. */
void dueq_php_message_of_part(zval *out, dueq_php_queue *queue, size_t partition,
                              const dueq_message *message);
/* Makes a message of a result: a dueq_php_item. */
void dueq_php_message_item(zval *out, const dueq_php_source *source, const dueq_result *result,
                           size_t index);
/* The ticket of a Dueq\Message, borrowed from it; empty if the message is not leased. */
dueq_bytes dueq_php_message_ticket(zend_object *message);
/* Whether the message belongs to this queue, or to a partition of it. */
bool dueq_php_message_is_of(zend_object *message, const dueq_php_queue *queue);

/* messages.c: Dueq\Messages */

void dueq_php_messages_startup(void);
/* Makes a Dueq\Messages, which holds a reference to its queue. Nothing is sent. */
void dueq_php_messages_make(zval *out, dueq_php_queue *queue, dueq_state state, zend_long page);

/* query.c: Dueq\Queue's find, peek, names, stats, rates */

/* A point in time in seconds; 0 becomes null. */
void dueq_php_time_make(zval *out, int64_t ms);
/* Makes the sorted list of the names of the queues of this client's server, or throws. */
void dueq_php_names_make(zval *out, dueq_php_client *client);

/* lock.c: Dueq\Lock */

void dueq_php_lock_startup(void);

/* parameters.c: names values in errors, reads parameters, and arrays with keys of their names */

/*
 * Names a value in the texts of errors: the number of an argument, or a key in an item of the array
 * that is argument number `argument`.
 */
typedef struct dueq_php_place {
    uint32_t argument;
    zend_long item; /* from 0; -1: the argument itself */
    const char *name;
} dueq_php_place;

/* The place of parameter `number`; or, if item is not -1, of the key of this name in the item. */
#define DUEQ_PHP_PLACE(number, item, name)                                                         \
    (&(const dueq_php_place){(item) < 0 ? (number) : 1, item, name})

/* Reads for how long the ends of pushed messages are kept. NULL: it was not given. */
bool dueq_php_keep_read(const dueq_php_place *place, zval *keep, int64_t *ms);
/* Reads the argument: how many partitions a queue has (0: none). False: it has thrown. */
bool dueq_php_partitions_read(const dueq_php_place *place, zend_long count, bool none,
                              zend_long *out);

/* Throws InvalidException: the value at this place "must ...". Returns false. */
bool dueq_php_invalid(const dueq_php_place *place, const char *text);
/* Throws a TypeError: the value at this place "must be of type ...". */
void dueq_php_type_error(const dueq_php_place *place, const char *type, const zval *value);

/*
 * Checks an array of items, in the parameter of this name: a text as a key shows that the program
 * gave one item instead of an array of items. False: it threw.
 */
bool dueq_php_list_check(const char *name, HashTable *table);

/* An integer, or null: without limit. */
typedef struct dueq_php_bound {
    zend_long number;
    bool is_null;
} dueq_php_bound;

/*
 * The type of a key's value, and so the type of its member: zend_string *, dueq_php_bound,
 * zend_long, bool, HashTable *, zval *.
 */
typedef enum dueq_php_type {
    DUEQ_PHP_STRING,
    DUEQ_PHP_TEXT,  /* or null: NULL */
    DUEQ_PHP_LIMIT, /* or null: without limit */
    DUEQ_PHP_NUMBER,
    DUEQ_PHP_TRUTH,
    DUEQ_PHP_TABLE,
    DUEQ_PHP_VALUE /* anything */
} dueq_php_type;

typedef struct dueq_php_key {
    const char *name;
    dueq_php_type type;
    size_t offset; /* of its member in `fields` */
} dueq_php_key;

/*
 * Reads an item into the members of `fields`. False: it threw, for an unknown key or a wrong type.
 */
bool dueq_php_keys_read(const dueq_php_key *keys, size_t count, HashTable *table, zend_long item,
                        void *fields);

/* Each checks a value, and stores it where it has an `out`. False: it threw. */

/* text: what the error says the value must do. */
bool dueq_php_within(const dueq_php_place *place, zend_long value, zend_long least, zend_long most,
                     const char *text);
/* A number from 1 on; null: 0. */
bool dueq_php_any_count(const dueq_php_place *place, dueq_php_bound value, size_t *out);
/* A text that may be left out, but must not be empty. */
bool dueq_php_text(const dueq_php_place *place, const zend_string *value, dueq_bytes *out);

/*
 * Reads the parameters of reserve(), or, if `many`, of reserveMany(). An option that was not given
 * stays as it is. False: it threw.
 */
bool dueq_php_reserve_read(zend_execute_data *execute_data, bool many,
                           dueq_reserve_options *options);

static inline bool dueq_php_given(const zval *value) { return value && Z_TYPE_P(value) != IS_NULL; }

/* draft.c: the messages given to push and pushMany */

/* Made from core/options.toml by core/verbs.py: the options of a push. */
/* One message as PHP values; NULL: not given. */
typedef struct dueq_php_fields {
    zend_string *body;
    zval *delay;
    zval *at;
    zend_string *id;
    dueq_php_bound max_attempts;
    zval *lease;
    HashTable *headers;
    zend_long priority;
    zval *ttl;
    zval *backoff;
    dueq_php_bound max_crashes;
    bool drop;
    zend_string *dead_letter;
    zval *unique;
    zval *replace;
    zend_long replicas;
    bool disk;
    zval *durable_timeout;
    zend_string *key;
    zend_string *group;
    zval *keep;
    zend_string *batch;
} dueq_php_fields;

#define DUEQ_PHP_FIELDS                                                                            \
    {                                                                                              \
        .max_attempts = {DUEQ_DEFAULT_ATTEMPTS, false},                                            \
        .max_crashes = {DUEQ_DEFAULT_CRASHES, false}                                               \
    }
/* The end of what was made. */

/* Reads the parameters of push(). False: an exception was thrown. */
bool dueq_php_fields_parse(zend_execute_data *execute_data, dueq_php_fields *fields);
/*
 * Fills a draft. The draft borrows the strings of `fields`; other memory comes from the arena.
 * item: as in dueq_php_place. False: an exception was thrown.
 */
bool dueq_php_draft_fill(dueq_draft *draft, const dueq_php_fields *fields, zend_long item,
                         zend_arena **arena);
/* Reads headers (NULL: none) into the draft; false: it threw. */
bool dueq_php_headers_fill(const dueq_php_place *place, HashTable *table, dueq_draft *draft,
                           zend_arena **arena);
/*
 * Reads argument 1, an array of messages whose parameter has this name, into drafts of the arena.
 * NULL: an exception was thrown.
 */
dueq_draft *dueq_php_drafts_read(const char *name, HashTable *messages, zend_arena **arena);
/* Makes a list of one message for it: of the fields, or (NULL: none) of the body alone. */
void dueq_php_draft_list(zval *list, HashTable *fields, zend_string *body);
/*
 * Reads a due time. At most one of delay and at may be given (not null); if neither is, both
 * results are 0. first: the place of the delay; `at` is the next parameter. False: an exception was
 * thrown.
 */
bool dueq_php_due(zval *delay, zval *at, const dueq_php_place *first, int64_t *delay_ms,
                  int64_t *at_ms);

/*
 * Reads the durability of pushes. replicas: the place of the first parameter; the others follow.
 * False: an exception was thrown.
 */
bool dueq_php_durability_read(const dueq_php_place *replicas, zend_long count, bool disk,
                              zval *timeout, dueq_durability *out);

/* backoff.c: Dueq\Backoff */

void dueq_php_backoff_startup(void);
/*
 * Reads a duration, an array of durations or a Dueq\Backoff, whose list is borrowed. The list of an
 * array is allocated in the arena. False: an exception was thrown.
 */
bool dueq_php_backoff_read(const dueq_php_place *place, zval *value, dueq_backoff *backoff,
                           zend_arena **arena);

/* times.c: converts PHP's seconds and dates to whole milliseconds */

/*
 * Each rounds fractions of a millisecond up, and returns false after it has thrown. value NULL: the
 * parameter was not given, and *ms stays as it is; dueq_php_limit() sets 0.
 */
bool dueq_php_duration(const dueq_php_place *place, zval *value, int64_t *ms);
/* As dueq_php_duration; null is 0. */
bool dueq_php_optional_duration(const dueq_php_place *place, zval *value, int64_t *ms);
/* As dueq_php_duration; less than 0 is 0. */
bool dueq_php_from_now(const dueq_php_place *place, zval *value, int64_t *ms);
/* As dueq_php_duration; INF is DUEQ_FOREVER. */
bool dueq_php_timeout(const dueq_php_place *place, zval *value, int64_t *ms);
/* As dueq_php_duration, but null (or no value) is 0, and 0 is not allowed. */
bool dueq_php_limit(const dueq_php_place *place, zval *value, int64_t *ms);
/* A point in time. The core reads 0 as "not given", so the begin of 1970 becomes 1. */
bool dueq_php_time(const dueq_php_place *place, zval *value, int64_t *ms);

static inline double dueq_php_seconds(int64_t ms) { return (double)ms / 1000.0; }

/* call.c: submit, wait, take */

/*
 * Waits for a submitted verb: `submitted` is the status of dueq_VERB_submit(). Stores the result in
 * client->result. Throws on failure. Returns the final status.
 */
dueq_status dueq_php_finish(dueq_php_client *client, dueq_status submitted);
/* Writes new warnings of the library to PHP's log. */
void dueq_php_warn(dueq_client *client);
/* dueq_wait() and dueq_pump(), which also warn. */
dueq_status dueq_php_wait(dueq_client *client, int64_t at_most_ms);
dueq_status dueq_php_pump(dueq_client *client);
/*
 * As dueq_php_finish(), for reserve and lock, which a signal ends: returns INTERRUPTED, takes
 * nothing and throws nothing, so that PHP can run the signal handlers after the method.
 */
dueq_status dueq_php_finish_wait(dueq_php_client *client, dueq_status submitted);

/*
 * As dueq_php_finish_wait(), for calls whose result cannot be given back, such as a value taken
 * from a list: a signal ends the wait as its timeout would, with the result so far. INTERRUPTED:
 * the call also failed.
 */
dueq_status dueq_php_finish_soon(dueq_php_client *client, dueq_status submitted);

/* Makes the item of a result that has this index, or throws. */
typedef void (*dueq_php_item)(zval *out, const dueq_php_source *source, const dueq_result *result,
                              size_t index);
/*
 * Makes the return value of a method that takes one item: the first item of the source's last call,
 * which had this status. Frees the result. *out is null if there was no item, or the call threw.
 */
void dueq_php_first(zval *out, const dueq_php_source *source, dueq_status status,
                    dueq_php_item make);
/* The same for a method that takes several items: a list of all. */
void dueq_php_list(zval *out, const dueq_php_source *source, dueq_status status,
                   dueq_php_item make);

/*
 * As dueq_php_finish(), for a verb on one message or lock: LEASE_LOST throws, too. text: of that
 * exception; NULL: the status's own.
 */
dueq_status dueq_php_finish_held(dueq_php_client *client, dueq_status submitted, const char *text);

/*
 * Runs pending signal handlers, and checks the time limit, as the engine does between two
 * instructions: for methods that go on waiting. True: a handler threw.
 */
bool dueq_php_interrupts(void);

typedef dueq_status (*dueq_php_submit)(dueq_queue *queue, const dueq_bytes *items, size_t count);
/*
 * Makes the return value for an item: whether it was OK; or the state that it had, null if it did
 * not exist.
 */
typedef void (*dueq_php_outcome)(zval *out, const dueq_result *result, size_t index);
void dueq_php_outcome_done(zval *out, const dueq_result *result, size_t index);
void dueq_php_outcome_state(zval *out, const dueq_result *result, size_t index);
/* Runs a verb on one ticket or id, and makes the return value. */
void dueq_php_one(dueq_php_queue *queue, dueq_php_submit submit, const zend_string *item,
                  dueq_php_outcome make, zval *out);
/*
 * A verb on the items of argument 1: an array of strings, or of values from which `read` gets them.
 */
typedef struct dueq_php_many {
    dueq_php_client *client;
    /* False: it threw. */
    bool (*read)(const void *verb, zval *value, zend_long number, dueq_bytes *item);
    dueq_status (*submit)(const void *verb, const dueq_bytes *items, size_t count);
    const void *verb;
    dueq_php_outcome make;
} dueq_php_many;
/*
 * Runs the verb in batches of one call each. `out` becomes the list of return values; if a batch
 * threw, of those before it. False: it threw before the first batch, and there is no list.
 */
bool dueq_php_many_run(const dueq_php_many *many, HashTable *table, zval *out);
/*
 * Runs a verb on the array of argument 1, which has ids or, if `tickets`, messages and tickets.
 * `out` becomes the list of return values.
 */
void dueq_php_each(dueq_php_queue *queue, dueq_php_submit submit, HashTable *items, bool tickets,
                   dueq_php_outcome make, zval *out);

/* exception.c */

/* Finds the class of each status. FAILURE: one is missing. */
zend_result dueq_php_exception_startup(void);
/*
 * Makes the exception of a status, as dueq_php_throw_result(), and does not throw it. text NULL:
 * the status's own.
 */
void dueq_php_exception_make(zval *out, dueq_status status, const char *text,
                             const dueq_result *result);
/* Throws the exception of a status. */
void dueq_php_throw(dueq_status status, const char *text);
/* The same for a call with this result: the exception of NOT_DURABLE names the stored messages. */
void dueq_php_throw_result(dueq_status status, const char *text, const dueq_result *result);
/* Throws a FlushException with these failures by number, at least one. Takes the array over. */
void dueq_php_throw_flush(HashTable *failures);
/* The text of the first failure. */
const char *dueq_php_first_text(HashTable *failures);
void dueq_php_throw_format(dueq_status status, const char *format, ...)
    ZEND_ATTRIBUTE_FORMAT(printf, 2, 3);
/* notice.c */

/*
 * Writes a warning to the listener of Client::onNotice() or, without one, to PHP's log. It is no
 * E_WARNING, as an error handler may make an exception of that, which would end the program's work.
 */
void dueq_php_log(const char *format, ...) ZEND_ATTRIBUTE_FORMAT(printf, 1, 2);
void dueq_php_notice_startup(void);
/* At the end of the script the listener ends, too. Lines that it has not got go to PHP's log. */
void dueq_php_notice_shutdown(void);

/* strings */

static inline dueq_bytes dueq_php_bytes(const zend_string *string) {
    return string ? (dueq_bytes){ZSTR_VAL(string), ZSTR_LEN(string)} : (dueq_bytes){NULL, 0};
}

static inline void dueq_php_string(zval *out, dueq_bytes bytes) {
    ZVAL_STRINGL_FAST(out, bytes.size ? (const char *)bytes.data : "", bytes.size);
}

#endif
