/*
 * The room of the queues of other systems, redisson/ and laravel/, each with a header of its own.
 * Here is what both use: json.c, and move.c with what moves messages that are due.
 */
#ifndef DUEQ_PHP_INTEROP_H
#define DUEQ_PHP_INTEROP_H

#include "../link.h"

/* Their classes; dueq.c registers them. */
extern zend_class_entry *dueq_php_moved_ce;
extern zend_class_entry *dueq_php_sizes_ce;

/* json.c: JSON by PHP's own functions */

/*
 * Writes a value, whose classes may run code of the program's. *text belongs to the caller. False:
 * it threw, for the value at this place.
 */
bool dueq_php_json_write(const dueq_php_place *place, zval *value, zend_string **text);
/* Reads one: objects as arrays, integers beyond 64 bits as strings. False: it is no JSON to PHP. */
bool dueq_php_json_read(zval *out, dueq_bytes text);

/*
 * Keeps a string until the table is freed, and returns its bytes: code of the program's that runs
 * meanwhile may drop what it was read from.
 */
dueq_bytes dueq_php_hold(HashTable *held, zend_string *text);

/* move.c: Moved, Sizes, and what both queues do alike */

void dueq_php_sizes_make(zval *out, const dueq_sizes *sizes);
/* Says in PHP's log how many entries of the queue were quarantined, if any. */
void dueq_php_quarantined(const dueq_php_source *source, size_t quarantined);
/* Has the server put back what an abandoned take or pop has got: a dueq_php_call's give_back. */
dueq_status dueq_php_put_back(dueq_php_link *link);

/*
 * The methods that move what is due, transfer() and migrate(), transferStart() and migrateStart(),
 * runTransfer() and runMigrate(): each reads its parameters. queue: that of the source's own
 * client.
 */
void dueq_php_move(zend_execute_data *execute_data, zval *return_value,
                   const dueq_php_source *source, void *queue);
void dueq_php_move_start(zend_execute_data *execute_data, zval *return_value,
                         const dueq_php_source *source);
void dueq_php_move_run(zend_execute_data *execute_data, const dueq_php_source *source);

#endif
