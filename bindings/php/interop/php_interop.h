/*
 * The queues of other systems: redisson/ and laravel/, each with a header of its own. This header
 * declares the parts that both use: json.c, and move.c, which moves due messages.
 */
#ifndef DUEQ_PHP_INTEROP_H
#define DUEQ_PHP_INTEROP_H

#include "../link.h"

/* Their classes; dueq.c registers them. */
extern zend_class_entry *dueq_php_moved_ce;
extern zend_class_entry *dueq_php_sizes_ce;

/* json.c: JSON by PHP's own functions */

/*
 * Writes a value. Its classes may run code of the program. *text belongs to the caller. False: it
 * threw, for the value at this place.
 */
bool dueq_php_json_write(const dueq_php_place *place, zval *value, zend_string **text);
/* Reads JSON: objects become arrays, integers beyond 64 bits strings. False: PHP cannot read it. */
bool dueq_php_json_read(zval *out, dueq_bytes text);

/*
 * Keeps a string until the table is freed, and returns its bytes. Code of the program may run
 * meanwhile, and drop the value from which the string was read.
 */
dueq_bytes dueq_php_hold(HashTable *held, zend_string *text);

/* move.c: Moved, Sizes, and the methods that both queues share */

void dueq_php_sizes_make(zval *out, const dueq_sizes *sizes);
/* Warns in PHP's log of quarantined entries, if there are any. */
void dueq_php_quarantined(const dueq_php_source *source, size_t quarantined);
/*
 * Makes the server put back the items of an abandoned take or pop: the give_back of a
 * dueq_php_call.
 */
dueq_status dueq_php_put_back(dueq_php_link *link);

/*
 * The methods that move due items, transfer() and migrate(), transferStart() and migrateStart(),
 * runTransfer() and runMigrate(): each reads its parameters. queue: that of the source's own
 * client.
 */
void dueq_php_move(zend_execute_data *execute_data, zval *return_value,
                   const dueq_php_source *source, void *queue);
void dueq_php_move_start(zend_execute_data *execute_data, zval *return_value,
                         const dueq_php_source *source);
void dueq_php_move_run(zend_execute_data *execute_data, const dueq_php_source *source);

#endif
