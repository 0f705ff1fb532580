/*
 * The map of the PHP extension. A method goes one way: parse the arguments (client.c, queue.c,
 * admin.c, query.c, queues.c, message.c, lock.c, with draft.c, parameters.c, backoff.c and
 * times.c), submit the verb and wait for it (call.c), make PHP values of the result (message.c,
 * query.c) or throw (exception.c). Nothing of the core but its public headers is seen here. Clients
 * that outlive a request are in persistent.c. link.h goes on with what has connections of its own;
 * the queues of other systems are in interop/, of which dueq.c alone knows, to register its
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

/* What lives longer than a request, and what all of a request know of; with threads, of each. */
ZEND_BEGIN_MODULE_GLOBALS(dueq)
bool persistent; /* dueq.persistent of php.ini */
struct dueq_php_kept *kept;
struct dueq_php_consumer *loops; /* that are under way */
struct dueq_php_loop *open;      /* consumers, whose heartbeats may have something to say */
char *fatal;                     /* the text of the error that ends the script; NULL: none */
zval listener;                   /* of Client::onNotice(); UNDEF: none */
zval notices;                    /* that it is to be told; UNDEF: none */
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
extern zend_class_entry *dueq_php_worker_ce;
extern zend_class_entry *dueq_php_holding_ce;
extern zend_class_entry *dueq_php_failure_ce;
extern zend_class_entry *dueq_php_corrupt_ce;
extern zend_class_entry *dueq_php_flush_ce;

/* enums.c: PHP's enums, which stand for those of C */

typedef struct dueq_php_enum {
    zend_class_entry *ce;     /* since the module has started */
    const char *const *names; /* of the cases, by their values in C from the least on */
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

/* Makes the case that stands for a value of C. */
void dueq_php_case_make(zval *out, const dueq_php_enum *of, int value);
/* The value for which an object of the enum stands. */
int dueq_php_case_value(const dueq_php_enum *of, zend_object *object);

/* How a reserve waits. */
typedef struct dueq_php_reserve_options {
    int64_t timeout_ms, lease_ms;
} dueq_php_reserve_options;

/* client.c: the client that objects share, and Dueq\Client */

void dueq_php_client_startup(void);

/*
 * What a call leaves in C is kept here, so that a bailout in mid-conversion (PHP's memory limit)
 * does not leak it: it goes with the client or the next call.
 */
typedef struct dueq_php_client {
    dueq_client *client;
    zend_string *url;    /* as it was opened; NULL: the default */
    dueq_result *result; /* of the last call */
    dueq_queue *target;  /* the queue that the last ack() pushed to */
    struct dueq_php_link *spare;
    uint32_t holders;
    bool is_kept; /* its dueq_client is persistent.c's */
} dueq_php_client;

/* Is a client of this argument to be persistent? NULL (or null): php.ini says it. */
#define DUEQ_PHP_PERSISTENT(given, is_null) ((is_null) ? DUEQ_G(persistent) : (given))

/*
 * Opens a client with one holder; url may be NULL. persistent: the one that the process keeps for
 * this URL, with one holder more if this request has it already. NULL: it threw.
 */
dueq_php_client *dueq_php_client_open(const zend_string *url, bool persistent);
/* The last one to do so closes it. NULL is safe. */
void dueq_php_client_release(dueq_php_client *client);
/* A result with bodies, which PHP has a copy of now, is not kept until the next call. */
void dueq_php_client_forget(dueq_php_client *client);

/* persistent.c: the clients that a process keeps for its next requests, one for each URL */

/* What this request has made of the client of this URL already; NULL: nothing. */
dueq_php_client *dueq_php_kept_user(const zend_string *url);
/*
 * Gives the user the idle client of its URL; one whose connection is lost is closed. False: there
 * is none.
 */
bool dueq_php_kept_take(dueq_php_client *user);
/* Keeps its own from now on. Out of memory: that stays its own. */
void dueq_php_kept_add(dueq_php_client *user);
/* The user has ended. */
void dueq_php_kept_give(const dueq_php_client *user);
/*
 * A request begins: what the last one left behind it, as where freeing its objects failed, is gone.
 */
void dueq_php_kept_begin(void);
/* Closes them all: at the end of the process, or of its thread. */
void dueq_php_kept_close(struct dueq_php_kept **list);

/* queue.c: Dueq\Queue */

typedef struct dueq_php_queue {
    dueq_php_client *client;
    dueq_queue *queue;           /* NULL until it is open */
    dueq_durability durability;  /* of its pushes */
    struct dueq_php_queue *self; /* a source's list of one */
    zend_long partitions;        /* 0: it has none */
    zend_long part_of;           /* of one of so many, which came with its queue; else 0 */
    zend_string *key;            /* the one that has this key's messages; NULL: all */
    zend_object std;
} dueq_php_queue;

static inline dueq_php_queue *dueq_php_queue_of(zend_object *object) {
    return (dueq_php_queue *)((char *)object - offsetof(dueq_php_queue, std));
}

void dueq_php_queue_startup(void);
/* Opens a queue, which becomes one more holder of the client. False: it threw. */
bool dueq_php_queue_open(dueq_php_queue *queue, dueq_php_client *client, zend_string *name);
/* Opens a handle of it on a client, with its partitions. */
dueq_status dueq_php_queue_handle(const dueq_php_queue *queue, dueq_client *client,
                                  dueq_queue **handle);
/* The queue of $this; NULL, with an Error thrown, before its constructor has run. */
dueq_php_queue *dueq_php_this_queue(const zval *this);

#define THIS_QUEUE(queue)                                                                          \
    dueq_php_queue *queue = dueq_php_this_queue(ZEND_THIS);                                        \
    if (!queue) {                                                                                  \
        RETURN_THROWS();                                                                           \
    }

/*
 * The outcomes of a push's items from number `first` on, appended to a list: ids, null: a
 * duplicate.
 */
void dueq_php_ids_append(HashTable *list, const dueq_result *result, size_t first);

/* What calls take from */

/* What is taken from: a Dueq\Queue or Dueq\Queues, or a queue of another system. */
typedef struct dueq_php_source {
    zend_object *object;
    dueq_php_client *client;
    const struct dueq_php_interop *interop; /* NULL: it has the queues that follow */
    dueq_php_queue *const *queues;
    size_t count;
    dueq_order order;
} dueq_php_source;

/* A Dueq\Queue as one. */
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
/* The message is of a consumer's: it becomes one more holder of its loop, until it is settled. */
void dueq_php_message_attach(zend_object *message, struct dueq_php_loop *loop);
/* A call has ended the message's delivery, or found it ended. */
void dueq_php_message_settled(zend_object *message);
/* Its consumer settles it, with its next request: it leaves the loop. */
void dueq_php_message_detach(zend_object *message);
bool dueq_php_message_is_settled(zend_object *message);
/*
 * Its handler has returned. Where that called a method which settles it, and which failed, the
 * message is left to its lease, and PHP's log says so. False: it called none.
 */
bool dueq_php_message_left(zend_object *message);
/* Makes a message of a queue, or of its partition of this number. */
void dueq_php_message_of_part(zval *out, dueq_php_queue *queue, size_t partition,
                              const dueq_message *message);
/* Makes a message of a result: a dueq_php_item. */
void dueq_php_message_item(zval *out, const dueq_php_source *source, const dueq_result *result,
                           size_t index);
/* The ticket of a Dueq\Message, which it keeps; empty unless it comes from a queue. */
dueq_bytes dueq_php_message_ticket(zend_object *message);
/* Is it of a queue of this name, or of a partition of it? */
bool dueq_php_message_is_of(zend_object *message, const dueq_php_queue *queue);

/* messages.c: Dueq\Messages */

void dueq_php_messages_startup(void);
/* Makes a Dueq\Messages, which holds a reference to its queue. Nothing is sent. */
void dueq_php_messages_make(zval *out, dueq_php_queue *queue, dueq_state state, zend_long page);

/* query.c: Dueq\Queue's find, peek, names, stats, rates */

/* A point of time; 0 is none: null. */
void dueq_php_time_make(zval *out, int64_t ms);
/* Makes the sorted list of the names of the queues of this client's server, or throws. */
void dueq_php_names_make(zval *out, dueq_php_client *client);

/* lock.c: Dueq\Lock */

void dueq_php_lock_startup(void);

/* parameters.c: where values were given, and arrays whose keys are the names of parameters */

/*
 * Where a value was given, for the texts of errors: an argument's number, or the key of an item of
 * the array that is argument number `argument`.
 */
typedef struct dueq_php_place {
    uint32_t argument;
    zend_long item; /* from 0; -1: the argument itself */
    const char *name;
} dueq_php_place;

/* Reads the argument: how many partitions a queue has (0: none). False: it has thrown. */
bool dueq_php_partitions_read(const dueq_php_place *place, zend_long count, bool none,
                              zend_long *out);

/* Throws InvalidException: the value at this place "must ...". Returns false. */
bool dueq_php_invalid(const dueq_php_place *place, const char *text);
/* Throws a TypeError: the value at this place "must be of type ...". */
void dueq_php_type_error(const dueq_php_place *place, const char *type, const zval *value);

/*
 * Of an array of items, this parameter: it has no text as key, as what was to be one item has.
 * False: it threw.
 */
bool dueq_php_list_check(const char *name, HashTable *table);

/* An integer, or null: without limit. */
typedef struct dueq_php_bound {
    zend_long number;
    bool is_null;
} dueq_php_bound;

/*
 * What a key's value must be, and so what its member is: zend_string *, dueq_php_bound, zend_long,
 * bool, HashTable *, zval *.
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

/* Reads an item into the members of `fields`. False: it threw, as there is no such key or type. */
bool dueq_php_keys_read(const dueq_php_key *keys, size_t count, HashTable *table, zend_long item,
                        void *fields);

static inline bool dueq_php_given(const zval *value) { return value && Z_TYPE_P(value) != IS_NULL; }

/* draft.c: what push and pushMany are given */

/* One message in PHP's terms; NULL stands for what was not given. */
typedef struct dueq_php_fields {
    zend_string *body, *id, *dead_letter, *key;
    zval *delay, *at, *lease, *ttl, *backoff, *unique, *replace, *durable_timeout;
    HashTable *headers;
    dueq_php_bound max_attempts, max_crashes;
    zend_long priority, replicas;
    bool drop, disk;
} dueq_php_fields;

#define DUEQ_PHP_FIELDS                                                                            \
    {                                                                                              \
        .max_attempts = {DUEQ_DEFAULT_ATTEMPTS, false},                                            \
        .max_crashes = {DUEQ_DEFAULT_CRASHES, false}                                               \
    }

/* Reads the parameters of push(). False: an exception was thrown. */
bool dueq_php_fields_parse(zend_execute_data *execute_data, dueq_php_fields *fields);
/*
 * Fills a draft. It borrows the strings of `fields`; what else it needs is taken from the arena.
 * item: as in dueq_php_place. False: an exception was thrown.
 */
bool dueq_php_draft_fill(dueq_draft *draft, const dueq_php_fields *fields, zend_long item,
                         zend_arena **arena);
/* Reads headers, of an item (-1: of an argument), into the draft; false: it threw. */
bool dueq_php_headers_fill(dueq_draft *draft, HashTable *table, zend_long item, zend_arena **arena);
/*
 * Reads argument 1, an array of messages whose parameter has this name, into drafts of the arena.
 * NULL: an exception was thrown.
 */
dueq_draft *dueq_php_drafts_read(const char *name, HashTable *messages, zend_arena **arena);
/*
 * Reads a due time, of which at most one may be given (not null); neither: both are 0. first: the
 * place of the delay, of which `at` is the next parameter. False: an exception was thrown.
 */
bool dueq_php_due(zval *delay, zval *at, const dueq_php_place *first, int64_t *delay_ms,
                  int64_t *at_ms);

/*
 * Reads what pushes ask for. replicas: the place of the first; the others are the next parameters.
 * False: an exception was thrown.
 */
bool dueq_php_durability_read(const dueq_php_place *replicas, zend_long count, bool disk,
                              zval *timeout, dueq_durability *out);

/* backoff.c: Dueq\Backoff */

void dueq_php_backoff_startup(void);
/*
 * Reads a duration, an array of them or a Dueq\Backoff, whose list is borrowed. A list of an array
 * is taken from the arena. False: an exception was thrown.
 */
bool dueq_php_backoff_read(const dueq_php_place *place, zval *value, dueq_backoff *backoff,
                           zend_arena **arena);

/* times.c: PHP's seconds and dates to whole milliseconds */

/* Parts of a millisecond are rounded up. Each returns false after it has thrown. */
bool dueq_php_duration(const dueq_php_place *place, zval *value, int64_t *ms);
/* As dueq_php_duration; less than 0 is 0. */
bool dueq_php_from_now(const dueq_php_place *place, zval *value, int64_t *ms);
/* As dueq_php_duration; INF is DUEQ_FOREVER. */
bool dueq_php_timeout(const dueq_php_place *place, zval *value, int64_t *ms);
/* As dueq_php_duration, but null (or no value) is 0, and 0 is not allowed. */
bool dueq_php_limit(const dueq_php_place *place, zval *value, int64_t *ms);
/*
 * A point of time, never 0, which the core reads as none: 1970 itself becomes its first
 * millisecond.
 */
bool dueq_php_time(const dueq_php_place *place, zval *value, int64_t *ms);

/*
 * Reads the options of a reserve: its parameters from number `first` on, of which NULL was not
 * given, and leaves the member of *options as it is.
 */
bool dueq_php_reserve_options_read(zval *timeout, zval *lease, uint32_t first,
                                   dueq_php_reserve_options *options);

static inline double dueq_php_seconds(int64_t ms) { return (double)ms / 1000.0; }

/* call.c: submit, wait, take */

/*
 * Sees a submitted verb through: `submitted` is what dueq_VERB_submit() returned. The result is in
 * client->result. Throws on failure, and returns the final status.
 */
dueq_status dueq_php_finish(dueq_php_client *client, dueq_status submitted);
/* Writes what the library warns of to PHP's log, if there is anything new. */
void dueq_php_warn(dueq_client *client);
/* dueq_wait() and dueq_pump(), which also warn. */
dueq_status dueq_php_wait(dueq_client *client, int64_t at_most_ms);
dueq_status dueq_php_pump(dueq_client *client);
/*
 * The same for reserve and lock, which a signal ends: PHP runs the handlers when the method has
 * returned, so it returns INTERRUPTED with nothing taken and nothing thrown.
 */
dueq_status dueq_php_finish_wait(dueq_php_client *client, dueq_status submitted);

/*
 * The same for waits whose result nobody would give back, as a value that was taken from a list: a
 * signal ends them as their timeout would, with what came until then. INTERRUPTED: it failed
 * besides.
 */
dueq_status dueq_php_finish_soon(dueq_php_client *client, dueq_status submitted);

/* Makes the item of a result that has this index, or throws. */
typedef void (*dueq_php_item)(zval *out, const dueq_php_source *source, const dueq_result *result,
                              size_t index);
/*
 * What a method returns that takes one item: the first of the source's last call, which had this
 * status and is forgotten then. There may be none, or it threw.
 */
void dueq_php_first(zval *out, const dueq_php_source *source, dueq_status status,
                    dueq_php_item make);
/* The same of a method that takes several: a list of all. */
void dueq_php_list(zval *out, const dueq_php_source *source, dueq_status status,
                   dueq_php_item make);

/*
 * A verb on one message or lock, for which lease lost is an exception. text NULL: the status's own.
 */
dueq_status dueq_php_finish_held(dueq_php_client *client, dueq_status submitted, const char *text);

/*
 * Lets the program's signal handlers run, and its limit of time, as the engine does between two
 * instructions: for methods that go on waiting. True: one threw.
 */
bool dueq_php_interrupts(void);

typedef dueq_status (*dueq_php_submit)(dueq_queue *queue, const dueq_bytes *items, size_t count);
/*
 * What a method returns of an item: whether it was OK; or the state that it was in, null: there was
 * none.
 */
typedef void (*dueq_php_outcome)(zval *out, const dueq_result *result, size_t index);
void dueq_php_outcome_done(zval *out, const dueq_result *result, size_t index);
void dueq_php_outcome_state(zval *out, const dueq_result *result, size_t index);
/* Runs a verb on one ticket or id, and makes that of it. */
void dueq_php_one(dueq_php_queue *queue, dueq_php_submit submit, const zend_string *item,
                  dueq_php_outcome make, zval *out);
/* A verb on the items of argument 1, an array of strings or what else they are read from. */
typedef struct dueq_php_many {
    dueq_php_client *client;
    /* False: it threw. */
    bool (*read)(const void *verb, zval *value, zend_long number, dueq_bytes *item);
    dueq_status (*submit)(const void *verb, const dueq_bytes *items, size_t count);
    const void *verb;
    dueq_php_outcome make;
} dueq_php_many;
/*
 * Runs it in steps of one call each: `out` becomes the list of what is made of each, of those
 * before a step that threw. False: it threw before the first, and there is no list.
 */
bool dueq_php_many_run(const dueq_php_many *many, HashTable *table, zval *out);
/*
 * Runs a verb on the array of argument 1, of ids or (tickets) messages and tickets: `out` becomes
 * the list of what is made of each.
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
/* The same of a call with this result: the exception of NOT_DURABLE says what it stored. */
void dueq_php_throw_result(dueq_status status, const char *text, const dueq_result *result);
/*
 * Throws one of failures by number, of which there are some; the array is its property from now on.
 */
void dueq_php_throw_flush(HashTable *failures);
/* The text of the first of them. */
const char *dueq_php_first_text(HashTable *failures);
void dueq_php_throw_format(dueq_status status, const char *format, ...)
    ZEND_ATTRIBUTE_FORMAT(printf, 2, 3);
/* notice.c */

/*
 * A line for the listener of Client::onNotice(), else of PHP's log, as a warning. For what must not
 * end the program's work: an error handler would make an exception of an E_WARNING.
 */
void dueq_php_log(const char *format, ...) ZEND_ATTRIBUTE_FORMAT(printf, 1, 2);
void dueq_php_notice_startup(void);
/* The end of the script is that of its listener; what it was not told yet goes to PHP's log. */
void dueq_php_notice_shutdown(void);

/* strings */

static inline dueq_bytes dueq_php_bytes(const zend_string *string) {
    return string ? (dueq_bytes){ZSTR_VAL(string), ZSTR_LEN(string)} : (dueq_bytes){NULL, 0};
}

static inline void dueq_php_string(zval *out, dueq_bytes bytes) {
    ZVAL_STRINGL_FAST(out, bytes.size ? (const char *)bytes.data : "", bytes.size);
}

#endif
