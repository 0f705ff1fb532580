/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: ab063ff66c5bc811fb1f3ffe11c8f5448e937686 */

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_ClientInterface_url, 0, 0, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_ClientInterface_queue, 0, 1, Dueq\\QueueInterface, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, replicas, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, disk, _IS_BOOL, 0, "false")
	ZEND_ARG_OBJ_TYPE_MASK(0, durableTimeout, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, partitions, IS_LONG, 1, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, keep, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_ClientInterface_queues, 0, 1, Dueq\\Queues, 0)
	ZEND_ARG_TYPE_INFO(0, names, IS_ARRAY, 0)
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, order, Dueq\\Order, 0, "Dueq\\Order::Preference")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_ClientInterface_names, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_QueueInterface_partitionFor, 0, 1, Dueq\\Queue, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_QueueInterface_url arginfo_class_Dueq_ClientInterface_url

#define arginfo_class_Dueq_QueueInterface_newId arginfo_class_Dueq_ClientInterface_url

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_QueueInterface_push, 0, 1, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, body, IS_STRING, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, delay, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, at, DateTimeInterface, MAY_BE_DOUBLE|MAY_BE_LONG|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, id, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, maxAttempts, IS_LONG, 1, "16")
	ZEND_ARG_OBJ_TYPE_MASK(0, lease, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, headers, IS_ARRAY, 0, "[]")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, priority, IS_LONG, 0, "0")
	ZEND_ARG_OBJ_TYPE_MASK(0, ttl, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, backoff, Dueq\\Backoff|DateInterval, MAY_BE_DOUBLE|MAY_BE_ARRAY|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, maxCrashes, IS_LONG, 1, "5")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, drop, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, deadLetter, IS_STRING, 1, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, unique, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, replace, Dueq\\Replace, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, replicas, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, disk, _IS_BOOL, 0, "false")
	ZEND_ARG_OBJ_TYPE_MASK(0, durableTimeout, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, key, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, group, IS_STRING, 1, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, keep, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, batch, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_QueueInterface_pushMany, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, messages, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_QueueInterface_schedule, 0, 3, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, expression, IS_STRING, 0)
	ZEND_ARG_TYPE_MASK(0, job, MAY_BE_STRING|MAY_BE_ARRAY, NULL)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, zone, IS_STRING, 0, "\"UTC\"")
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, catchup, Dueq\\CatchUp, 0, "Dueq\\CatchUp::Once")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, app, IS_STRING, 0, "\"\"")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, release, IS_STRING, 0, "\"\"")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_QueueInterface_pusher, 0, 0, Dueq\\PusherInterface, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, most, IS_LONG, 0, "10000")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_QueueInterface_reserve, 0, 0, Dueq\\MessageInterface, 1)
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE, "0.0")
	ZEND_ARG_OBJ_TYPE_MASK(0, lease, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_QueueInterface_reserveStart, 0, 0, Dueq\\Pending, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE, "INF")
	ZEND_ARG_OBJ_TYPE_MASK(0, lease, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_QueueInterface_reserveMany, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, count, IS_LONG, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE, "0.0")
	ZEND_ARG_OBJ_TYPE_MASK(0, lease, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_QueueInterface_consume, 0, 0, Dueq\\ConsumerInterface, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, prefetch, IS_LONG, 0, "1")
	ZEND_ARG_OBJ_TYPE_MASK(0, lease, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, maxRun, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "3600.0")
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE, "INF")
	ZEND_ARG_OBJ_TYPE_MASK(0, slack, DateInterval, MAY_BE_DOUBLE, "0.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, concurrency, IS_LONG, 1, "1")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, tasks, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_QueueInterface_ackMany arginfo_class_Dueq_QueueInterface_pushMany

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_QueueInterface_find, 0, 1, Dueq\\MessageInterface, 1)
	ZEND_ARG_TYPE_INFO(0, id, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_QueueInterface_peek, 0, 1, Iterator, 0)
	ZEND_ARG_OBJ_INFO(0, state, Dueq\\State, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, page, IS_LONG, 0, "100")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_QueueInterface_kickAll, 0, 0, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, error, IS_STRING, 1, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, since, DateTimeInterface, MAY_BE_DOUBLE|MAY_BE_LONG|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, until, DateTimeInterface, MAY_BE_DOUBLE|MAY_BE_LONG|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, progress, IS_CALLABLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_QueueInterface_kick, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, id, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_QueueInterface_kickMany, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, ids, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_QueueInterface_kill arginfo_class_Dueq_QueueInterface_kick

#define arginfo_class_Dueq_QueueInterface_killMany arginfo_class_Dueq_QueueInterface_kickMany

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_QueueInterface_cancel, 0, 1, Dueq\\State, 1)
	ZEND_ARG_TYPE_INFO(0, id, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_QueueInterface_cancelMany arginfo_class_Dueq_QueueInterface_kickMany

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_QueueInterface_reschedule, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, id, IS_STRING, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, delay, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, at, DateTimeInterface, MAY_BE_DOUBLE|MAY_BE_LONG|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_QueueInterface_pause, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_QueueInterface_resume arginfo_class_Dueq_QueueInterface_pause

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_QueueInterface_hold, 0, 2, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, group, IS_STRING, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, duration, DateInterval, MAY_BE_DOUBLE, NULL)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_QueueInterface_limit, 0, 0, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, concurrency, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, rate, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, burst, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, group, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, backlog, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, weight, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, order, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, eachGroupConcurrency, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, eachGroupRate, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, eachGroupBurst, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, eachGroupBacklog, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, clear, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_QueueInterface_closeBatch arginfo_class_Dueq_QueueInterface_kick

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_QueueInterface_openBatch, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, id, IS_STRING, 0)
	ZEND_ARG_TYPE_MASK(0, then, MAY_BE_STRING|MAY_BE_ARRAY|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_MASK(0, catch, MAY_BE_STRING|MAY_BE_ARRAY|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_MASK(0, finally, MAY_BE_STRING|MAY_BE_ARRAY|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, thenQueue, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, catchQueue, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, finallyQueue, IS_STRING, 1, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, open, DateInterval, MAY_BE_DOUBLE, "86400.0")
	ZEND_ARG_OBJ_TYPE_MASK(0, keep, DateInterval, MAY_BE_DOUBLE, "86400.0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_QueueInterface_findBatch, 0, 1, Dueq\\BatchStatus, 1)
	ZEND_ARG_TYPE_INFO(0, id, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_QueueInterface_batches arginfo_class_Dueq_ClientInterface_names

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_QueueInterface_cancelBatch, 0, 1, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, id, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, batchQueue, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_QueueInterface_pushTo, 0, 2, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, queue, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, messages, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_QueueInterface_allow, 0, 0, IS_ARRAY, 0)
	ZEND_ARG_TYPE_MASK(0, deadLetter, MAY_BE_ARRAY|MAY_BE_STRING|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, any, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_QueueInterface_purge, 0, 1, IS_LONG, 0)
	ZEND_ARG_OBJ_INFO(0, state, Dueq\\State, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, progress, IS_CALLABLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_QueueInterface_purgeGroup, 0, 1, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, group, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, progress, IS_CALLABLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_QueueInterface_remove, 0, 0, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, force, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_QueueInterface_check, 0, 0, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, repair, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, progress, IS_CALLABLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_QueueInterface_limits, 0, 0, Dueq\\Limits, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_QueueInterface_stats, 0, 0, Dueq\\Stats, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_QueueInterface_rates, 0, 0, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, minutes, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, hours, IS_LONG, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_QueueInterface_workers arginfo_class_Dueq_ClientInterface_names

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_QueueInterface_failures, 0, 0, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, id, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_QueueInterface_outcome, 0, 1, Dueq\\End, 1)
	ZEND_ARG_TYPE_INFO(0, id, IS_STRING, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE, "0.0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_QueueInterface_groups, 0, 0, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, most, IS_LONG, 0, "100")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_QueueInterface_lock, 0, 2, Dueq\\LockInterface, 1)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, ttl, DateInterval, MAY_BE_DOUBLE, NULL)
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE, "0.0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_ConsumerInterface_work, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, handler, IS_CALLABLE, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, onError, IS_CALLABLE, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_ConsumerInterface_stop arginfo_class_Dueq_QueueInterface_pause

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_ConsumerInterface_poll, 0, 0, Dueq\\MessageInterface, 1)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Dueq_ConsumerInterface_stream, 0, 0, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_ConsumerInterface_countExits, 0, 0, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, count, _IS_BOOL, 0, "true")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_ConsumerInterface_lost, 0, 0, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_MessageInterface_ack, 0, 0, IS_ARRAY, 1)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, push, IS_ARRAY, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, to, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, wait, _IS_BOOL, 0, "true")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, result, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_MessageInterface_isSchedule, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_MessageInterface_isSettled arginfo_class_Dueq_MessageInterface_isSchedule

#define arginfo_class_Dueq_MessageInterface_fire arginfo_class_Dueq_ClientInterface_names

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_MessageInterface_checkpoint, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, cursor, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_MessageInterface_retry, 0, 0, _IS_BOOL, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, delay, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, error, IS_STRING, 0, "\"\"")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_MessageInterface_release, 0, 0, IS_VOID, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, delay, DateInterval, MAY_BE_DOUBLE, "0.0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_MessageInterface_holdGroup, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, duration, DateInterval, MAY_BE_DOUBLE, NULL)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_MessageInterface_extend, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, lease, DateInterval, MAY_BE_DOUBLE, NULL)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_MessageInterface_bury, 0, 0, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, reason, IS_STRING, 0, "\"\"")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_PusherInterface_push, 0, 1, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, body, IS_STRING, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, delay, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, at, DateTimeInterface, MAY_BE_DOUBLE|MAY_BE_LONG|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, id, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, maxAttempts, IS_LONG, 1, "16")
	ZEND_ARG_OBJ_TYPE_MASK(0, lease, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, headers, IS_ARRAY, 0, "[]")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, priority, IS_LONG, 0, "0")
	ZEND_ARG_OBJ_TYPE_MASK(0, ttl, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, backoff, Dueq\\Backoff|DateInterval, MAY_BE_DOUBLE|MAY_BE_ARRAY|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, maxCrashes, IS_LONG, 1, "5")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, drop, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, deadLetter, IS_STRING, 1, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, unique, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, replace, Dueq\\Replace, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, replicas, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, disk, _IS_BOOL, 0, "false")
	ZEND_ARG_OBJ_TYPE_MASK(0, durableTimeout, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, key, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, group, IS_STRING, 1, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, keep, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, batch, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_PusherInterface_flush arginfo_class_Dueq_QueueInterface_pause

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_LockInterface_extend, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, ttl, DateInterval, MAY_BE_DOUBLE, NULL)
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_LockInterface_release arginfo_class_Dueq_QueueInterface_pause

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Dueq_Client___construct, 0, 0, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, url, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, persistent, _IS_BOOL, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Client_url arginfo_class_Dueq_ClientInterface_url

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_Client_queue, 0, 1, Dueq\\Queue, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, replicas, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, disk, _IS_BOOL, 0, "false")
	ZEND_ARG_OBJ_TYPE_MASK(0, durableTimeout, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, partitions, IS_LONG, 1, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, keep, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Client_queues arginfo_class_Dueq_ClientInterface_queues

#define arginfo_class_Dueq_Client_names arginfo_class_Dueq_ClientInterface_names

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Client_onNotice, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, listener, IS_CALLABLE, 1)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Client_escape, 0, 1, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, text, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Client_duration, 0, 1, IS_DOUBLE, 1)
	ZEND_ARG_TYPE_INFO(0, text, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Dueq_Queue___construct, 0, 0, 1)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, url, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, persistent, _IS_BOOL, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, replicas, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, disk, _IS_BOOL, 0, "false")
	ZEND_ARG_OBJ_TYPE_MASK(0, durableTimeout, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, partitions, IS_LONG, 1, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, keep, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Queue_partitionFor arginfo_class_Dueq_QueueInterface_partitionFor

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Queue_names, 0, 0, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, url, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Queue_url arginfo_class_Dueq_ClientInterface_url

#define arginfo_class_Dueq_Queue_newId arginfo_class_Dueq_ClientInterface_url

#define arginfo_class_Dueq_Queue_push arginfo_class_Dueq_QueueInterface_push

#define arginfo_class_Dueq_Queue_pushMany arginfo_class_Dueq_QueueInterface_pushMany

#define arginfo_class_Dueq_Queue_schedule arginfo_class_Dueq_QueueInterface_schedule

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Queue_nextTime, 0, 1, IS_DOUBLE, 1)
	ZEND_ARG_TYPE_INFO(0, expression, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, zone, IS_STRING, 0, "\"UTC\"")
	ZEND_ARG_OBJ_TYPE_MASK(0, after, DateTimeInterface, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_Queue_pusher, 0, 0, Dueq\\Pusher, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, most, IS_LONG, 0, "10000")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_Queue_reserve, 0, 0, Dueq\\Message, 1)
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE, "0.0")
	ZEND_ARG_OBJ_TYPE_MASK(0, lease, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Queue_reserveStart arginfo_class_Dueq_QueueInterface_reserveStart

#define arginfo_class_Dueq_Queue_reserveMany arginfo_class_Dueq_QueueInterface_reserveMany

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_Queue_consume, 0, 0, Dueq\\Consumer, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, prefetch, IS_LONG, 0, "1")
	ZEND_ARG_OBJ_TYPE_MASK(0, lease, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, maxRun, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "3600.0")
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE, "INF")
	ZEND_ARG_OBJ_TYPE_MASK(0, slack, DateInterval, MAY_BE_DOUBLE, "0.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, concurrency, IS_LONG, 1, "1")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, tasks, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_Queue_getIterator, 0, 0, Dueq\\Consumer, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Queue_ackMany arginfo_class_Dueq_QueueInterface_pushMany

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_Queue_find, 0, 1, Dueq\\Message, 1)
	ZEND_ARG_TYPE_INFO(0, id, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_Queue_peek, 0, 1, Dueq\\Messages, 0)
	ZEND_ARG_OBJ_INFO(0, state, Dueq\\State, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, page, IS_LONG, 0, "100")
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Queue_kickAll arginfo_class_Dueq_QueueInterface_kickAll

#define arginfo_class_Dueq_Queue_kick arginfo_class_Dueq_QueueInterface_kick

#define arginfo_class_Dueq_Queue_kickMany arginfo_class_Dueq_QueueInterface_kickMany

#define arginfo_class_Dueq_Queue_kill arginfo_class_Dueq_QueueInterface_kick

#define arginfo_class_Dueq_Queue_killMany arginfo_class_Dueq_QueueInterface_kickMany

#define arginfo_class_Dueq_Queue_cancel arginfo_class_Dueq_QueueInterface_cancel

#define arginfo_class_Dueq_Queue_cancelMany arginfo_class_Dueq_QueueInterface_kickMany

#define arginfo_class_Dueq_Queue_reschedule arginfo_class_Dueq_QueueInterface_reschedule

#define arginfo_class_Dueq_Queue_pause arginfo_class_Dueq_QueueInterface_pause

#define arginfo_class_Dueq_Queue_resume arginfo_class_Dueq_QueueInterface_pause

#define arginfo_class_Dueq_Queue_hold arginfo_class_Dueq_QueueInterface_hold

#define arginfo_class_Dueq_Queue_limit arginfo_class_Dueq_QueueInterface_limit

#define arginfo_class_Dueq_Queue_closeBatch arginfo_class_Dueq_QueueInterface_kick

#define arginfo_class_Dueq_Queue_allow arginfo_class_Dueq_QueueInterface_allow

#define arginfo_class_Dueq_Queue_purge arginfo_class_Dueq_QueueInterface_purge

#define arginfo_class_Dueq_Queue_purgeGroup arginfo_class_Dueq_QueueInterface_purgeGroup

#define arginfo_class_Dueq_Queue_remove arginfo_class_Dueq_QueueInterface_remove

#define arginfo_class_Dueq_Queue_check arginfo_class_Dueq_QueueInterface_check

#define arginfo_class_Dueq_Queue_limits arginfo_class_Dueq_QueueInterface_limits

#define arginfo_class_Dueq_Queue_stats arginfo_class_Dueq_QueueInterface_stats

#define arginfo_class_Dueq_Queue_rates arginfo_class_Dueq_QueueInterface_rates

#define arginfo_class_Dueq_Queue_workers arginfo_class_Dueq_ClientInterface_names

#define arginfo_class_Dueq_Queue_failures arginfo_class_Dueq_QueueInterface_failures

#define arginfo_class_Dueq_Queue_outcome arginfo_class_Dueq_QueueInterface_outcome

#define arginfo_class_Dueq_Queue_openBatch arginfo_class_Dueq_QueueInterface_openBatch

#define arginfo_class_Dueq_Queue_findBatch arginfo_class_Dueq_QueueInterface_findBatch

#define arginfo_class_Dueq_Queue_batches arginfo_class_Dueq_ClientInterface_names

#define arginfo_class_Dueq_Queue_cancelBatch arginfo_class_Dueq_QueueInterface_cancelBatch

#define arginfo_class_Dueq_Queue_pushTo arginfo_class_Dueq_QueueInterface_pushTo

#define arginfo_class_Dueq_Queue_groups arginfo_class_Dueq_QueueInterface_groups

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_Queue_lock, 0, 2, Dueq\\Lock, 1)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, ttl, DateInterval, MAY_BE_DOUBLE, NULL)
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE, "0.0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Dueq_Queues___construct, 0, 0, 1)
	ZEND_ARG_TYPE_INFO(0, names, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, url, IS_STRING, 1, "null")
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, order, Dueq\\Order, 0, "Dueq\\Order::Preference")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, persistent, _IS_BOOL, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Queues_url arginfo_class_Dueq_ClientInterface_url

#define arginfo_class_Dueq_Queues_reserve arginfo_class_Dueq_Queue_reserve

#define arginfo_class_Dueq_Queues_reserveStart arginfo_class_Dueq_QueueInterface_reserveStart

#define arginfo_class_Dueq_Queues_consume arginfo_class_Dueq_Queue_consume

#define arginfo_class_Dueq_Queues_getIterator arginfo_class_Dueq_Queue_getIterator

#define arginfo_class_Dueq_Queues_reserveMany arginfo_class_Dueq_QueueInterface_reserveMany

#define arginfo_class_Dueq_Consumer___construct arginfo_class_Dueq_ConsumerInterface_stream

#define arginfo_class_Dueq_Consumer_work arginfo_class_Dueq_ConsumerInterface_work

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_Consumer_getIterator, 0, 0, Iterator, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Consumer_stop arginfo_class_Dueq_QueueInterface_pause

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_Consumer_poll, 0, 0, Dueq\\Message, 1)
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Consumer_stream arginfo_class_Dueq_ConsumerInterface_stream

#define arginfo_class_Dueq_Consumer_countExits arginfo_class_Dueq_ConsumerInterface_countExits

#define arginfo_class_Dueq_Consumer_lost arginfo_class_Dueq_ConsumerInterface_lost

#define arginfo_class_Dueq_Backoff___construct arginfo_class_Dueq_ConsumerInterface_stream

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_Backoff_fixed, 0, 1, Dueq\\Backoff, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, delay, DateInterval, MAY_BE_DOUBLE, NULL)
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, jitter, Dueq\\Jitter, 0, "Dueq\\Jitter::None")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_Backoff_linear, 0, 1, Dueq\\Backoff, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, base, DateInterval, MAY_BE_DOUBLE, NULL)
	ZEND_ARG_OBJ_TYPE_MASK(0, cap, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, jitter, Dueq\\Jitter, 0, "Dueq\\Jitter::None")
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Backoff_exponential arginfo_class_Dueq_Backoff_linear

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_Backoff_list, 0, 1, Dueq\\Backoff, 0)
	ZEND_ARG_TYPE_INFO(0, delays, IS_ARRAY, 0)
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, jitter, Dueq\\Jitter, 0, "Dueq\\Jitter::None")
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Message___construct arginfo_class_Dueq_ConsumerInterface_stream

#define arginfo_class_Dueq_Message_ack arginfo_class_Dueq_MessageInterface_ack

#define arginfo_class_Dueq_Message_isSchedule arginfo_class_Dueq_MessageInterface_isSchedule

#define arginfo_class_Dueq_Message_isSettled arginfo_class_Dueq_MessageInterface_isSchedule

#define arginfo_class_Dueq_Message_fire arginfo_class_Dueq_ClientInterface_names

#define arginfo_class_Dueq_Message_checkpoint arginfo_class_Dueq_MessageInterface_checkpoint

#define arginfo_class_Dueq_Message_retry arginfo_class_Dueq_MessageInterface_retry

#define arginfo_class_Dueq_Message_release arginfo_class_Dueq_MessageInterface_release

#define arginfo_class_Dueq_Message_holdGroup arginfo_class_Dueq_MessageInterface_holdGroup

#define arginfo_class_Dueq_Message_extend arginfo_class_Dueq_MessageInterface_extend

#define arginfo_class_Dueq_Message_bury arginfo_class_Dueq_MessageInterface_bury

#define arginfo_class_Dueq_Messages___construct arginfo_class_Dueq_ConsumerInterface_stream

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Messages_current, 0, 0, IS_MIXED, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Messages_key arginfo_class_Dueq_Messages_current

#define arginfo_class_Dueq_Messages_next arginfo_class_Dueq_QueueInterface_pause

#define arginfo_class_Dueq_Messages_rewind arginfo_class_Dueq_QueueInterface_pause

#define arginfo_class_Dueq_Messages_valid arginfo_class_Dueq_MessageInterface_isSchedule

#define arginfo_class_Dueq_Pending___construct arginfo_class_Dueq_ConsumerInterface_stream

#define arginfo_class_Dueq_Pending_stream arginfo_class_Dueq_ConsumerInterface_stream

#define arginfo_class_Dueq_Pending_poll arginfo_class_Dueq_MessageInterface_isSchedule

#define arginfo_class_Dueq_Pending_result arginfo_class_Dueq_Messages_current

#define arginfo_class_Dueq_Pending_cancel arginfo_class_Dueq_QueueInterface_pause

#define arginfo_class_Dueq_Pusher___construct arginfo_class_Dueq_ConsumerInterface_stream

#define arginfo_class_Dueq_Pusher_push arginfo_class_Dueq_PusherInterface_push

#define arginfo_class_Dueq_Pusher_flush arginfo_class_Dueq_QueueInterface_pause

#define arginfo_class_Dueq_Lock___construct arginfo_class_Dueq_ConsumerInterface_stream

#define arginfo_class_Dueq_Lock_extend arginfo_class_Dueq_LockInterface_extend

#define arginfo_class_Dueq_Lock_release arginfo_class_Dueq_QueueInterface_pause

#define arginfo_class_Dueq_Stats___construct arginfo_class_Dueq_ConsumerInterface_stream

#define arginfo_class_Dueq_GroupLimits___construct arginfo_class_Dueq_ConsumerInterface_stream

#define arginfo_class_Dueq_Limits___construct arginfo_class_Dueq_ConsumerInterface_stream

#define arginfo_class_Dueq_Finding___construct arginfo_class_Dueq_ConsumerInterface_stream

#define arginfo_class_Dueq_Rate___construct arginfo_class_Dueq_ConsumerInterface_stream

#define arginfo_class_Dueq_WorkerInfo___construct arginfo_class_Dueq_ConsumerInterface_stream

#define arginfo_class_Dueq_Lease___construct arginfo_class_Dueq_ConsumerInterface_stream

#define arginfo_class_Dueq_End___construct arginfo_class_Dueq_ConsumerInterface_stream

#define arginfo_class_Dueq_Failure___construct arginfo_class_Dueq_ConsumerInterface_stream

#define arginfo_class_Dueq_BatchStatus___construct arginfo_class_Dueq_ConsumerInterface_stream

#define arginfo_class_Dueq_Group___construct arginfo_class_Dueq_ConsumerInterface_stream

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Dueq_Redisson_DelayedQueue___construct, 0, 0, 1)
	ZEND_ARG_TYPE_INFO(0, destination, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, url, IS_STRING, 1, "null")
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, codec, Dueq\\Redisson\\Codec, 0, "Dueq\\Redisson\\Codec::Kryo5")
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, layout, Dueq\\Redisson\\Layout, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, persistent, _IS_BOOL, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Redisson_DelayedQueue_url arginfo_class_Dueq_ClientInterface_url

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Redisson_DelayedQueue_offer, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, delay, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, at, DateTimeInterface, MAY_BE_DOUBLE|MAY_BE_LONG|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Redisson_DelayedQueue_offerMany, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, values, IS_ARRAY, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, delay, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, at, DateTimeInterface, MAY_BE_DOUBLE|MAY_BE_LONG|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_Redisson_DelayedQueue_transfer, 0, 0, Dueq\\Interop\\Moved, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE, "0.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, most, IS_LONG, 0, "200")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_Redisson_DelayedQueue_transferStart, 0, 0, Dueq\\Pending, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE, "INF")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, most, IS_LONG, 0, "200")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Redisson_DelayedQueue_runTransfer, 0, 0, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, until, IS_CALLABLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Redisson_DelayedQueue_take, 0, 0, IS_MIXED, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE, "INF")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_Redisson_DelayedQueue_takeStart, 0, 0, Dueq\\Pending, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE, "INF")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Redisson_DelayedQueue_takeMany, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, count, IS_LONG, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE, "INF")
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Redisson_DelayedQueue_poll arginfo_class_Dueq_Messages_current

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Redisson_DelayedQueue_pollMany, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, count, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Redisson_DelayedQueue_peek, 0, 0, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, count, IS_LONG, 0, "1")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Redisson_DelayedQueue_remove, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Redisson_DelayedQueue_contains arginfo_class_Dueq_Redisson_DelayedQueue_remove

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_Redisson_DelayedQueue_size, 0, 0, Dueq\\Interop\\Sizes, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Redisson_DelayedQueue_count arginfo_class_Dueq_ConsumerInterface_lost

#define arginfo_class_Dueq_Redisson_DelayedQueue_clear arginfo_class_Dueq_ConsumerInterface_lost

#define arginfo_class_Dueq_Redisson_DelayedQueue_destroy arginfo_class_Dueq_QueueInterface_pause

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Dueq_Redisson_Long___construct, 0, 0, 1)
	ZEND_ARG_TYPE_INFO(0, value, IS_LONG, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Redisson_Long_jsonSerialize arginfo_class_Dueq_ConsumerInterface_lost

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Dueq_Redisson_Binary___construct, 0, 0, 1)
	ZEND_ARG_TYPE_INFO(0, bytes, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Redisson_Binary_jsonSerialize, 0, 0, IS_NEVER, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Redisson_Unreadable___construct arginfo_class_Dueq_ConsumerInterface_stream

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Dueq_Laravel_Queue___construct, 0, 0, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, name, IS_STRING, 0, "\"default\"")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, url, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, prefix, IS_STRING, 0, "\"\"")
	ZEND_ARG_OBJ_TYPE_MASK(0, retryAfter, DateInterval, MAY_BE_DOUBLE, "90.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, persistent, _IS_BOOL, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Laravel_Queue_url arginfo_class_Dueq_ClientInterface_url

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Laravel_Queue_push, 0, 1, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, job, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, data, IS_MIXED, 0, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, delay, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, at, DateTimeInterface, MAY_BE_DOUBLE|MAY_BE_LONG|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, displayName, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, maxTries, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, maxExceptions, IS_LONG, 1, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, backoff, DateInterval, MAY_BE_DOUBLE|MAY_BE_ARRAY|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, retryUntil, DateTimeInterface, MAY_BE_DOUBLE|MAY_BE_LONG|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, failOnTimeout, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Laravel_Queue_later, 0, 2, IS_STRING, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, delay, DateInterval, MAY_BE_DOUBLE, NULL)
	ZEND_ARG_TYPE_INFO(0, job, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, data, IS_MIXED, 0, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, displayName, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, maxTries, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, maxExceptions, IS_LONG, 1, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, backoff, DateInterval, MAY_BE_DOUBLE|MAY_BE_ARRAY|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, retryUntil, DateTimeInterface, MAY_BE_DOUBLE|MAY_BE_LONG|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, failOnTimeout, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Laravel_Queue_pushRaw, 0, 1, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, payload, IS_STRING, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, delay, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, at, DateTimeInterface, MAY_BE_DOUBLE|MAY_BE_LONG|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Laravel_Queue_pushObject, 0, 2, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, commandName, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, command, IS_STRING, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, delay, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, at, DateTimeInterface, MAY_BE_DOUBLE|MAY_BE_LONG|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, displayName, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, maxTries, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, maxExceptions, IS_LONG, 1, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, backoff, DateInterval, MAY_BE_DOUBLE|MAY_BE_ARRAY|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, retryUntil, DateTimeInterface, MAY_BE_DOUBLE|MAY_BE_LONG|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, failOnTimeout, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Laravel_Queue_pushMany, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, jobs, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_Laravel_Queue_pop, 0, 0, Dueq\\Laravel\\Job, 1)
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE, "0.0")
	ZEND_ARG_OBJ_TYPE_MASK(0, retryAfter, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_Laravel_Queue_popStart, 0, 0, Dueq\\Pending, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE, "INF")
	ZEND_ARG_OBJ_TYPE_MASK(0, retryAfter, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Laravel_Queue_popMany, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, count, IS_LONG, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE, "0.0")
	ZEND_ARG_OBJ_TYPE_MASK(0, retryAfter, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Laravel_Queue_deleteMany arginfo_class_Dueq_Laravel_Queue_pushMany

#define arginfo_class_Dueq_Laravel_Queue_size arginfo_class_Dueq_Redisson_DelayedQueue_size

#define arginfo_class_Dueq_Laravel_Queue_clear arginfo_class_Dueq_ConsumerInterface_lost

#define arginfo_class_Dueq_Laravel_Queue_migrate arginfo_class_Dueq_Redisson_DelayedQueue_transfer

#define arginfo_class_Dueq_Laravel_Queue_migrateStart arginfo_class_Dueq_Redisson_DelayedQueue_transferStart

#define arginfo_class_Dueq_Laravel_Queue_runMigrate arginfo_class_Dueq_Redisson_DelayedQueue_runTransfer

#define arginfo_class_Dueq_Laravel_Job___construct arginfo_class_Dueq_ConsumerInterface_stream

#define arginfo_class_Dueq_Laravel_Job_delete arginfo_class_Dueq_QueueInterface_pause

#define arginfo_class_Dueq_Laravel_Job_release arginfo_class_Dueq_MessageInterface_release

#define arginfo_class_Dueq_Interop_Moved___construct arginfo_class_Dueq_ConsumerInterface_stream

#define arginfo_class_Dueq_Interop_Sizes___construct arginfo_class_Dueq_ConsumerInterface_stream

#define arginfo_class_Dueq_Exception_DueqException_isRetriable arginfo_class_Dueq_MessageInterface_isSchedule

#define arginfo_class_Dueq_Exception_RuntimeException_isRetriable arginfo_class_Dueq_MessageInterface_isSchedule

#define arginfo_class_Dueq_Exception_InvalidException_isRetriable arginfo_class_Dueq_MessageInterface_isSchedule


ZEND_METHOD(Dueq_Client, __construct);
ZEND_METHOD(Dueq_Client, url);
ZEND_METHOD(Dueq_Client, queue);
ZEND_METHOD(Dueq_Client, queues);
ZEND_METHOD(Dueq_Client, names);
ZEND_METHOD(Dueq_Client, onNotice);
ZEND_METHOD(Dueq_Client, escape);
ZEND_METHOD(Dueq_Client, duration);
ZEND_METHOD(Dueq_Queue, __construct);
ZEND_METHOD(Dueq_Queue, partitionFor);
ZEND_METHOD(Dueq_Queue, names);
ZEND_METHOD(Dueq_Queue, url);
ZEND_METHOD(Dueq_Queue, newId);
ZEND_METHOD(Dueq_Queue, push);
ZEND_METHOD(Dueq_Queue, pushMany);
ZEND_METHOD(Dueq_Queue, schedule);
ZEND_METHOD(Dueq_Queue, nextTime);
ZEND_METHOD(Dueq_Queue, pusher);
ZEND_METHOD(Dueq_Queue, reserve);
ZEND_METHOD(Dueq_Queue, reserveStart);
ZEND_METHOD(Dueq_Queue, reserveMany);
ZEND_METHOD(Dueq_Queue, consume);
ZEND_METHOD(Dueq_Queue, getIterator);
ZEND_METHOD(Dueq_Queue, ackMany);
ZEND_METHOD(Dueq_Queue, find);
ZEND_METHOD(Dueq_Queue, peek);
ZEND_METHOD(Dueq_Queue, kickAll);
ZEND_METHOD(Dueq_Queue, kick);
ZEND_METHOD(Dueq_Queue, kickMany);
ZEND_METHOD(Dueq_Queue, kill);
ZEND_METHOD(Dueq_Queue, killMany);
ZEND_METHOD(Dueq_Queue, cancel);
ZEND_METHOD(Dueq_Queue, cancelMany);
ZEND_METHOD(Dueq_Queue, reschedule);
ZEND_METHOD(Dueq_Queue, pause);
ZEND_METHOD(Dueq_Queue, resume);
ZEND_METHOD(Dueq_Queue, hold);
ZEND_METHOD(Dueq_Queue, limit);
ZEND_METHOD(Dueq_Queue, closeBatch);
ZEND_METHOD(Dueq_Queue, allow);
ZEND_METHOD(Dueq_Queue, purge);
ZEND_METHOD(Dueq_Queue, purgeGroup);
ZEND_METHOD(Dueq_Queue, remove);
ZEND_METHOD(Dueq_Queue, check);
ZEND_METHOD(Dueq_Queue, limits);
ZEND_METHOD(Dueq_Queue, stats);
ZEND_METHOD(Dueq_Queue, rates);
ZEND_METHOD(Dueq_Queue, workers);
ZEND_METHOD(Dueq_Queue, failures);
ZEND_METHOD(Dueq_Queue, outcome);
ZEND_METHOD(Dueq_Queue, openBatch);
ZEND_METHOD(Dueq_Queue, findBatch);
ZEND_METHOD(Dueq_Queue, batches);
ZEND_METHOD(Dueq_Queue, cancelBatch);
ZEND_METHOD(Dueq_Queue, pushTo);
ZEND_METHOD(Dueq_Queue, groups);
ZEND_METHOD(Dueq_Queue, lock);
ZEND_METHOD(Dueq_Queues, __construct);
ZEND_METHOD(Dueq_Queues, url);
ZEND_METHOD(Dueq_Queues, reserve);
ZEND_METHOD(Dueq_Queues, reserveStart);
ZEND_METHOD(Dueq_Queues, consume);
ZEND_METHOD(Dueq_Queues, getIterator);
ZEND_METHOD(Dueq_Queues, reserveMany);
ZEND_METHOD(Dueq_Consumer, __construct);
ZEND_METHOD(Dueq_Consumer, work);
ZEND_METHOD(Dueq_Consumer, getIterator);
ZEND_METHOD(Dueq_Consumer, stop);
ZEND_METHOD(Dueq_Consumer, poll);
ZEND_METHOD(Dueq_Consumer, stream);
ZEND_METHOD(Dueq_Consumer, countExits);
ZEND_METHOD(Dueq_Consumer, lost);
ZEND_METHOD(Dueq_Backoff, __construct);
ZEND_METHOD(Dueq_Backoff, fixed);
ZEND_METHOD(Dueq_Backoff, linear);
ZEND_METHOD(Dueq_Backoff, exponential);
ZEND_METHOD(Dueq_Backoff, list);
ZEND_METHOD(Dueq_Message, __construct);
ZEND_METHOD(Dueq_Message, ack);
ZEND_METHOD(Dueq_Message, isSchedule);
ZEND_METHOD(Dueq_Message, isSettled);
ZEND_METHOD(Dueq_Message, fire);
ZEND_METHOD(Dueq_Message, checkpoint);
ZEND_METHOD(Dueq_Message, retry);
ZEND_METHOD(Dueq_Message, release);
ZEND_METHOD(Dueq_Message, holdGroup);
ZEND_METHOD(Dueq_Message, extend);
ZEND_METHOD(Dueq_Message, bury);
ZEND_METHOD(Dueq_Messages, __construct);
ZEND_METHOD(Dueq_Messages, current);
ZEND_METHOD(Dueq_Messages, key);
ZEND_METHOD(Dueq_Messages, next);
ZEND_METHOD(Dueq_Messages, rewind);
ZEND_METHOD(Dueq_Messages, valid);
ZEND_METHOD(Dueq_Pending, __construct);
ZEND_METHOD(Dueq_Pending, stream);
ZEND_METHOD(Dueq_Pending, poll);
ZEND_METHOD(Dueq_Pending, result);
ZEND_METHOD(Dueq_Pending, cancel);
ZEND_METHOD(Dueq_Pusher, __construct);
ZEND_METHOD(Dueq_Pusher, push);
ZEND_METHOD(Dueq_Pusher, flush);
ZEND_METHOD(Dueq_Lock, __construct);
ZEND_METHOD(Dueq_Lock, extend);
ZEND_METHOD(Dueq_Lock, release);
ZEND_METHOD(Dueq_Stats, __construct);
ZEND_METHOD(Dueq_GroupLimits, __construct);
ZEND_METHOD(Dueq_Limits, __construct);
ZEND_METHOD(Dueq_Finding, __construct);
ZEND_METHOD(Dueq_Rate, __construct);
ZEND_METHOD(Dueq_WorkerInfo, __construct);
ZEND_METHOD(Dueq_Lease, __construct);
ZEND_METHOD(Dueq_End, __construct);
ZEND_METHOD(Dueq_Failure, __construct);
ZEND_METHOD(Dueq_BatchStatus, __construct);
ZEND_METHOD(Dueq_Group, __construct);
ZEND_METHOD(Dueq_Redisson_DelayedQueue, __construct);
ZEND_METHOD(Dueq_Redisson_DelayedQueue, url);
ZEND_METHOD(Dueq_Redisson_DelayedQueue, offer);
ZEND_METHOD(Dueq_Redisson_DelayedQueue, offerMany);
ZEND_METHOD(Dueq_Redisson_DelayedQueue, transfer);
ZEND_METHOD(Dueq_Redisson_DelayedQueue, transferStart);
ZEND_METHOD(Dueq_Redisson_DelayedQueue, runTransfer);
ZEND_METHOD(Dueq_Redisson_DelayedQueue, take);
ZEND_METHOD(Dueq_Redisson_DelayedQueue, takeStart);
ZEND_METHOD(Dueq_Redisson_DelayedQueue, takeMany);
ZEND_METHOD(Dueq_Redisson_DelayedQueue, poll);
ZEND_METHOD(Dueq_Redisson_DelayedQueue, pollMany);
ZEND_METHOD(Dueq_Redisson_DelayedQueue, peek);
ZEND_METHOD(Dueq_Redisson_DelayedQueue, remove);
ZEND_METHOD(Dueq_Redisson_DelayedQueue, contains);
ZEND_METHOD(Dueq_Redisson_DelayedQueue, size);
ZEND_METHOD(Dueq_Redisson_DelayedQueue, count);
ZEND_METHOD(Dueq_Redisson_DelayedQueue, clear);
ZEND_METHOD(Dueq_Redisson_DelayedQueue, destroy);
ZEND_METHOD(Dueq_Redisson_Long, __construct);
ZEND_METHOD(Dueq_Redisson_Long, jsonSerialize);
ZEND_METHOD(Dueq_Redisson_Binary, __construct);
ZEND_METHOD(Dueq_Redisson_Binary, jsonSerialize);
ZEND_METHOD(Dueq_Redisson_Unreadable, __construct);
ZEND_METHOD(Dueq_Laravel_Queue, __construct);
ZEND_METHOD(Dueq_Laravel_Queue, url);
ZEND_METHOD(Dueq_Laravel_Queue, push);
ZEND_METHOD(Dueq_Laravel_Queue, later);
ZEND_METHOD(Dueq_Laravel_Queue, pushRaw);
ZEND_METHOD(Dueq_Laravel_Queue, pushObject);
ZEND_METHOD(Dueq_Laravel_Queue, pushMany);
ZEND_METHOD(Dueq_Laravel_Queue, pop);
ZEND_METHOD(Dueq_Laravel_Queue, popStart);
ZEND_METHOD(Dueq_Laravel_Queue, popMany);
ZEND_METHOD(Dueq_Laravel_Queue, deleteMany);
ZEND_METHOD(Dueq_Laravel_Queue, size);
ZEND_METHOD(Dueq_Laravel_Queue, clear);
ZEND_METHOD(Dueq_Laravel_Queue, migrate);
ZEND_METHOD(Dueq_Laravel_Queue, migrateStart);
ZEND_METHOD(Dueq_Laravel_Queue, runMigrate);
ZEND_METHOD(Dueq_Laravel_Job, __construct);
ZEND_METHOD(Dueq_Laravel_Job, delete);
ZEND_METHOD(Dueq_Laravel_Job, release);
ZEND_METHOD(Dueq_Interop_Moved, __construct);
ZEND_METHOD(Dueq_Interop_Sizes, __construct);
ZEND_METHOD(Dueq_Exception_RuntimeException, isRetriable);


static const zend_function_entry class_Dueq_State_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Order_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Replace_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_BackoffKind_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Jitter_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_CatchUp_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_FailureKind_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_ClientInterface_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_ClientInterface, url, arginfo_class_Dueq_ClientInterface_url, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_ClientInterface, queue, arginfo_class_Dueq_ClientInterface_queue, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_ClientInterface, queues, arginfo_class_Dueq_ClientInterface_queues, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_ClientInterface, names, arginfo_class_Dueq_ClientInterface_names, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_QueueInterface_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, partitionFor, arginfo_class_Dueq_QueueInterface_partitionFor, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, url, arginfo_class_Dueq_QueueInterface_url, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, newId, arginfo_class_Dueq_QueueInterface_newId, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, push, arginfo_class_Dueq_QueueInterface_push, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, pushMany, arginfo_class_Dueq_QueueInterface_pushMany, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, schedule, arginfo_class_Dueq_QueueInterface_schedule, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, pusher, arginfo_class_Dueq_QueueInterface_pusher, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, reserve, arginfo_class_Dueq_QueueInterface_reserve, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, reserveStart, arginfo_class_Dueq_QueueInterface_reserveStart, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, reserveMany, arginfo_class_Dueq_QueueInterface_reserveMany, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, consume, arginfo_class_Dueq_QueueInterface_consume, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, ackMany, arginfo_class_Dueq_QueueInterface_ackMany, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, find, arginfo_class_Dueq_QueueInterface_find, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, peek, arginfo_class_Dueq_QueueInterface_peek, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, kickAll, arginfo_class_Dueq_QueueInterface_kickAll, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, kick, arginfo_class_Dueq_QueueInterface_kick, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, kickMany, arginfo_class_Dueq_QueueInterface_kickMany, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, kill, arginfo_class_Dueq_QueueInterface_kill, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, killMany, arginfo_class_Dueq_QueueInterface_killMany, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, cancel, arginfo_class_Dueq_QueueInterface_cancel, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, cancelMany, arginfo_class_Dueq_QueueInterface_cancelMany, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, reschedule, arginfo_class_Dueq_QueueInterface_reschedule, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, pause, arginfo_class_Dueq_QueueInterface_pause, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, resume, arginfo_class_Dueq_QueueInterface_resume, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, hold, arginfo_class_Dueq_QueueInterface_hold, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, limit, arginfo_class_Dueq_QueueInterface_limit, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, closeBatch, arginfo_class_Dueq_QueueInterface_closeBatch, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, openBatch, arginfo_class_Dueq_QueueInterface_openBatch, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, findBatch, arginfo_class_Dueq_QueueInterface_findBatch, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, batches, arginfo_class_Dueq_QueueInterface_batches, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, cancelBatch, arginfo_class_Dueq_QueueInterface_cancelBatch, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, pushTo, arginfo_class_Dueq_QueueInterface_pushTo, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, allow, arginfo_class_Dueq_QueueInterface_allow, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, purge, arginfo_class_Dueq_QueueInterface_purge, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, purgeGroup, arginfo_class_Dueq_QueueInterface_purgeGroup, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, remove, arginfo_class_Dueq_QueueInterface_remove, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, check, arginfo_class_Dueq_QueueInterface_check, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, limits, arginfo_class_Dueq_QueueInterface_limits, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, stats, arginfo_class_Dueq_QueueInterface_stats, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, rates, arginfo_class_Dueq_QueueInterface_rates, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, workers, arginfo_class_Dueq_QueueInterface_workers, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, failures, arginfo_class_Dueq_QueueInterface_failures, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, outcome, arginfo_class_Dueq_QueueInterface_outcome, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, groups, arginfo_class_Dueq_QueueInterface_groups, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_QueueInterface, lock, arginfo_class_Dueq_QueueInterface_lock, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_ConsumerInterface_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_ConsumerInterface, work, arginfo_class_Dueq_ConsumerInterface_work, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_ConsumerInterface, stop, arginfo_class_Dueq_ConsumerInterface_stop, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_ConsumerInterface, poll, arginfo_class_Dueq_ConsumerInterface_poll, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_ConsumerInterface, stream, arginfo_class_Dueq_ConsumerInterface_stream, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_ConsumerInterface, countExits, arginfo_class_Dueq_ConsumerInterface_countExits, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_ConsumerInterface, lost, arginfo_class_Dueq_ConsumerInterface_lost, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_MessageInterface_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_MessageInterface, ack, arginfo_class_Dueq_MessageInterface_ack, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_MessageInterface, isSchedule, arginfo_class_Dueq_MessageInterface_isSchedule, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_MessageInterface, isSettled, arginfo_class_Dueq_MessageInterface_isSettled, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_MessageInterface, fire, arginfo_class_Dueq_MessageInterface_fire, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_MessageInterface, checkpoint, arginfo_class_Dueq_MessageInterface_checkpoint, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_MessageInterface, retry, arginfo_class_Dueq_MessageInterface_retry, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_MessageInterface, release, arginfo_class_Dueq_MessageInterface_release, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_MessageInterface, holdGroup, arginfo_class_Dueq_MessageInterface_holdGroup, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_MessageInterface, extend, arginfo_class_Dueq_MessageInterface_extend, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_MessageInterface, bury, arginfo_class_Dueq_MessageInterface_bury, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_PusherInterface_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_PusherInterface, push, arginfo_class_Dueq_PusherInterface_push, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_PusherInterface, flush, arginfo_class_Dueq_PusherInterface_flush, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_LockInterface_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_LockInterface, extend, arginfo_class_Dueq_LockInterface_extend, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_LockInterface, release, arginfo_class_Dueq_LockInterface_release, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Client_methods[] = {
	ZEND_ME(Dueq_Client, __construct, arginfo_class_Dueq_Client___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Client, url, arginfo_class_Dueq_Client_url, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Client, queue, arginfo_class_Dueq_Client_queue, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Client, queues, arginfo_class_Dueq_Client_queues, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Client, names, arginfo_class_Dueq_Client_names, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Client, onNotice, arginfo_class_Dueq_Client_onNotice, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Dueq_Client, escape, arginfo_class_Dueq_Client_escape, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Dueq_Client, duration, arginfo_class_Dueq_Client_duration, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Queue_methods[] = {
	ZEND_ME(Dueq_Queue, __construct, arginfo_class_Dueq_Queue___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, partitionFor, arginfo_class_Dueq_Queue_partitionFor, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, names, arginfo_class_Dueq_Queue_names, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Dueq_Queue, url, arginfo_class_Dueq_Queue_url, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, newId, arginfo_class_Dueq_Queue_newId, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, push, arginfo_class_Dueq_Queue_push, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, pushMany, arginfo_class_Dueq_Queue_pushMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, schedule, arginfo_class_Dueq_Queue_schedule, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, nextTime, arginfo_class_Dueq_Queue_nextTime, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Dueq_Queue, pusher, arginfo_class_Dueq_Queue_pusher, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, reserve, arginfo_class_Dueq_Queue_reserve, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, reserveStart, arginfo_class_Dueq_Queue_reserveStart, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, reserveMany, arginfo_class_Dueq_Queue_reserveMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, consume, arginfo_class_Dueq_Queue_consume, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, getIterator, arginfo_class_Dueq_Queue_getIterator, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, ackMany, arginfo_class_Dueq_Queue_ackMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, find, arginfo_class_Dueq_Queue_find, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, peek, arginfo_class_Dueq_Queue_peek, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, kickAll, arginfo_class_Dueq_Queue_kickAll, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, kick, arginfo_class_Dueq_Queue_kick, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, kickMany, arginfo_class_Dueq_Queue_kickMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, kill, arginfo_class_Dueq_Queue_kill, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, killMany, arginfo_class_Dueq_Queue_killMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, cancel, arginfo_class_Dueq_Queue_cancel, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, cancelMany, arginfo_class_Dueq_Queue_cancelMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, reschedule, arginfo_class_Dueq_Queue_reschedule, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, pause, arginfo_class_Dueq_Queue_pause, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, resume, arginfo_class_Dueq_Queue_resume, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, hold, arginfo_class_Dueq_Queue_hold, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, limit, arginfo_class_Dueq_Queue_limit, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, closeBatch, arginfo_class_Dueq_Queue_closeBatch, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, allow, arginfo_class_Dueq_Queue_allow, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, purge, arginfo_class_Dueq_Queue_purge, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, purgeGroup, arginfo_class_Dueq_Queue_purgeGroup, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, remove, arginfo_class_Dueq_Queue_remove, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, check, arginfo_class_Dueq_Queue_check, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, limits, arginfo_class_Dueq_Queue_limits, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, stats, arginfo_class_Dueq_Queue_stats, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, rates, arginfo_class_Dueq_Queue_rates, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, workers, arginfo_class_Dueq_Queue_workers, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, failures, arginfo_class_Dueq_Queue_failures, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, outcome, arginfo_class_Dueq_Queue_outcome, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, openBatch, arginfo_class_Dueq_Queue_openBatch, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, findBatch, arginfo_class_Dueq_Queue_findBatch, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, batches, arginfo_class_Dueq_Queue_batches, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, cancelBatch, arginfo_class_Dueq_Queue_cancelBatch, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, pushTo, arginfo_class_Dueq_Queue_pushTo, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, groups, arginfo_class_Dueq_Queue_groups, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, lock, arginfo_class_Dueq_Queue_lock, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Queues_methods[] = {
	ZEND_ME(Dueq_Queues, __construct, arginfo_class_Dueq_Queues___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queues, url, arginfo_class_Dueq_Queues_url, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queues, reserve, arginfo_class_Dueq_Queues_reserve, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queues, reserveStart, arginfo_class_Dueq_Queues_reserveStart, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queues, consume, arginfo_class_Dueq_Queues_consume, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queues, getIterator, arginfo_class_Dueq_Queues_getIterator, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queues, reserveMany, arginfo_class_Dueq_Queues_reserveMany, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Consumer_methods[] = {
	ZEND_ME(Dueq_Consumer, __construct, arginfo_class_Dueq_Consumer___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Dueq_Consumer, work, arginfo_class_Dueq_Consumer_work, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Consumer, getIterator, arginfo_class_Dueq_Consumer_getIterator, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Consumer, stop, arginfo_class_Dueq_Consumer_stop, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Consumer, poll, arginfo_class_Dueq_Consumer_poll, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Consumer, stream, arginfo_class_Dueq_Consumer_stream, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Consumer, countExits, arginfo_class_Dueq_Consumer_countExits, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Consumer, lost, arginfo_class_Dueq_Consumer_lost, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Backoff_methods[] = {
	ZEND_ME(Dueq_Backoff, __construct, arginfo_class_Dueq_Backoff___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Dueq_Backoff, fixed, arginfo_class_Dueq_Backoff_fixed, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Dueq_Backoff, linear, arginfo_class_Dueq_Backoff_linear, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Dueq_Backoff, exponential, arginfo_class_Dueq_Backoff_exponential, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Dueq_Backoff, list, arginfo_class_Dueq_Backoff_list, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Message_methods[] = {
	ZEND_ME(Dueq_Message, __construct, arginfo_class_Dueq_Message___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Dueq_Message, ack, arginfo_class_Dueq_Message_ack, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Message, isSchedule, arginfo_class_Dueq_Message_isSchedule, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Message, isSettled, arginfo_class_Dueq_Message_isSettled, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Message, fire, arginfo_class_Dueq_Message_fire, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Message, checkpoint, arginfo_class_Dueq_Message_checkpoint, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Message, retry, arginfo_class_Dueq_Message_retry, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Message, release, arginfo_class_Dueq_Message_release, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Message, holdGroup, arginfo_class_Dueq_Message_holdGroup, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Message, extend, arginfo_class_Dueq_Message_extend, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Message, bury, arginfo_class_Dueq_Message_bury, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Messages_methods[] = {
	ZEND_ME(Dueq_Messages, __construct, arginfo_class_Dueq_Messages___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Dueq_Messages, current, arginfo_class_Dueq_Messages_current, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Messages, key, arginfo_class_Dueq_Messages_key, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Messages, next, arginfo_class_Dueq_Messages_next, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Messages, rewind, arginfo_class_Dueq_Messages_rewind, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Messages, valid, arginfo_class_Dueq_Messages_valid, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Pending_methods[] = {
	ZEND_ME(Dueq_Pending, __construct, arginfo_class_Dueq_Pending___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Dueq_Pending, stream, arginfo_class_Dueq_Pending_stream, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Pending, poll, arginfo_class_Dueq_Pending_poll, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Pending, result, arginfo_class_Dueq_Pending_result, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Pending, cancel, arginfo_class_Dueq_Pending_cancel, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Pusher_methods[] = {
	ZEND_ME(Dueq_Pusher, __construct, arginfo_class_Dueq_Pusher___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Dueq_Pusher, push, arginfo_class_Dueq_Pusher_push, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Pusher, flush, arginfo_class_Dueq_Pusher_flush, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Lock_methods[] = {
	ZEND_ME(Dueq_Lock, __construct, arginfo_class_Dueq_Lock___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Dueq_Lock, extend, arginfo_class_Dueq_Lock_extend, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Lock, release, arginfo_class_Dueq_Lock_release, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Stats_methods[] = {
	ZEND_ME(Dueq_Stats, __construct, arginfo_class_Dueq_Stats___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_GroupLimits_methods[] = {
	ZEND_ME(Dueq_GroupLimits, __construct, arginfo_class_Dueq_GroupLimits___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Limits_methods[] = {
	ZEND_ME(Dueq_Limits, __construct, arginfo_class_Dueq_Limits___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Finding_methods[] = {
	ZEND_ME(Dueq_Finding, __construct, arginfo_class_Dueq_Finding___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Rate_methods[] = {
	ZEND_ME(Dueq_Rate, __construct, arginfo_class_Dueq_Rate___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_WorkerInfo_methods[] = {
	ZEND_ME(Dueq_WorkerInfo, __construct, arginfo_class_Dueq_WorkerInfo___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Lease_methods[] = {
	ZEND_ME(Dueq_Lease, __construct, arginfo_class_Dueq_Lease___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_End_methods[] = {
	ZEND_ME(Dueq_End, __construct, arginfo_class_Dueq_End___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Failure_methods[] = {
	ZEND_ME(Dueq_Failure, __construct, arginfo_class_Dueq_Failure___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_BatchStatus_methods[] = {
	ZEND_ME(Dueq_BatchStatus, __construct, arginfo_class_Dueq_BatchStatus___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Group_methods[] = {
	ZEND_ME(Dueq_Group, __construct, arginfo_class_Dueq_Group___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Redisson_Codec_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Redisson_Layout_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Redisson_DelayedQueue_methods[] = {
	ZEND_ME(Dueq_Redisson_DelayedQueue, __construct, arginfo_class_Dueq_Redisson_DelayedQueue___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Redisson_DelayedQueue, url, arginfo_class_Dueq_Redisson_DelayedQueue_url, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Redisson_DelayedQueue, offer, arginfo_class_Dueq_Redisson_DelayedQueue_offer, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Redisson_DelayedQueue, offerMany, arginfo_class_Dueq_Redisson_DelayedQueue_offerMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Redisson_DelayedQueue, transfer, arginfo_class_Dueq_Redisson_DelayedQueue_transfer, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Redisson_DelayedQueue, transferStart, arginfo_class_Dueq_Redisson_DelayedQueue_transferStart, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Redisson_DelayedQueue, runTransfer, arginfo_class_Dueq_Redisson_DelayedQueue_runTransfer, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Redisson_DelayedQueue, take, arginfo_class_Dueq_Redisson_DelayedQueue_take, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Redisson_DelayedQueue, takeStart, arginfo_class_Dueq_Redisson_DelayedQueue_takeStart, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Redisson_DelayedQueue, takeMany, arginfo_class_Dueq_Redisson_DelayedQueue_takeMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Redisson_DelayedQueue, poll, arginfo_class_Dueq_Redisson_DelayedQueue_poll, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Redisson_DelayedQueue, pollMany, arginfo_class_Dueq_Redisson_DelayedQueue_pollMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Redisson_DelayedQueue, peek, arginfo_class_Dueq_Redisson_DelayedQueue_peek, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Redisson_DelayedQueue, remove, arginfo_class_Dueq_Redisson_DelayedQueue_remove, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Redisson_DelayedQueue, contains, arginfo_class_Dueq_Redisson_DelayedQueue_contains, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Redisson_DelayedQueue, size, arginfo_class_Dueq_Redisson_DelayedQueue_size, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Redisson_DelayedQueue, count, arginfo_class_Dueq_Redisson_DelayedQueue_count, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Redisson_DelayedQueue, clear, arginfo_class_Dueq_Redisson_DelayedQueue_clear, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Redisson_DelayedQueue, destroy, arginfo_class_Dueq_Redisson_DelayedQueue_destroy, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Redisson_Long_methods[] = {
	ZEND_ME(Dueq_Redisson_Long, __construct, arginfo_class_Dueq_Redisson_Long___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Redisson_Long, jsonSerialize, arginfo_class_Dueq_Redisson_Long_jsonSerialize, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Redisson_Binary_methods[] = {
	ZEND_ME(Dueq_Redisson_Binary, __construct, arginfo_class_Dueq_Redisson_Binary___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Redisson_Binary, jsonSerialize, arginfo_class_Dueq_Redisson_Binary_jsonSerialize, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Redisson_Unreadable_methods[] = {
	ZEND_ME(Dueq_Redisson_Unreadable, __construct, arginfo_class_Dueq_Redisson_Unreadable___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Laravel_Queue_methods[] = {
	ZEND_ME(Dueq_Laravel_Queue, __construct, arginfo_class_Dueq_Laravel_Queue___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Laravel_Queue, url, arginfo_class_Dueq_Laravel_Queue_url, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Laravel_Queue, push, arginfo_class_Dueq_Laravel_Queue_push, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Laravel_Queue, later, arginfo_class_Dueq_Laravel_Queue_later, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Laravel_Queue, pushRaw, arginfo_class_Dueq_Laravel_Queue_pushRaw, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Laravel_Queue, pushObject, arginfo_class_Dueq_Laravel_Queue_pushObject, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Laravel_Queue, pushMany, arginfo_class_Dueq_Laravel_Queue_pushMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Laravel_Queue, pop, arginfo_class_Dueq_Laravel_Queue_pop, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Laravel_Queue, popStart, arginfo_class_Dueq_Laravel_Queue_popStart, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Laravel_Queue, popMany, arginfo_class_Dueq_Laravel_Queue_popMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Laravel_Queue, deleteMany, arginfo_class_Dueq_Laravel_Queue_deleteMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Laravel_Queue, size, arginfo_class_Dueq_Laravel_Queue_size, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Laravel_Queue, clear, arginfo_class_Dueq_Laravel_Queue_clear, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Laravel_Queue, migrate, arginfo_class_Dueq_Laravel_Queue_migrate, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Laravel_Queue, migrateStart, arginfo_class_Dueq_Laravel_Queue_migrateStart, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Laravel_Queue, runMigrate, arginfo_class_Dueq_Laravel_Queue_runMigrate, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Laravel_Job_methods[] = {
	ZEND_ME(Dueq_Laravel_Job, __construct, arginfo_class_Dueq_Laravel_Job___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Dueq_Laravel_Job, delete, arginfo_class_Dueq_Laravel_Job_delete, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Laravel_Job, release, arginfo_class_Dueq_Laravel_Job_release, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Interop_Moved_methods[] = {
	ZEND_ME(Dueq_Interop_Moved, __construct, arginfo_class_Dueq_Interop_Moved___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Interop_Sizes_methods[] = {
	ZEND_ME(Dueq_Interop_Sizes, __construct, arginfo_class_Dueq_Interop_Sizes___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_DueqException_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dueq_Exception_DueqException, isRetriable, arginfo_class_Dueq_Exception_DueqException_isRetriable, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_RuntimeException_methods[] = {
	ZEND_ME(Dueq_Exception_RuntimeException, isRetriable, arginfo_class_Dueq_Exception_RuntimeException_isRetriable, ZEND_ACC_PUBLIC|ZEND_ACC_FINAL)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_InvalidException_methods[] = {
	ZEND_MALIAS(Dueq_Exception_RuntimeException, isRetriable, isRetriable, arginfo_class_Dueq_Exception_InvalidException_isRetriable, ZEND_ACC_PUBLIC|ZEND_ACC_FINAL)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_FlushException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_DuplicateException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_LeaseLostException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_NotFoundException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_NameException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_UrlException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_TooLargeException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_NoMemoryException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_InUseException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_ConnectException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_ClosedException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_TimeoutException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_TlsException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_EmbeddedException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_AuthException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_DeniedException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_DatabaseException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_LoadingException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_ReadonlyException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_FullException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_BusyException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_WrongTypeException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_CorruptException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_UnsupportedException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_ServerException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_ProtocolException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_LayoutException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_UnavailableException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_BacklogException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_NotDurableException_methods[] = {
	ZEND_FE_END
};

static zend_class_entry *register_class_Dueq_State(void)
{
	zend_class_entry *class_entry = zend_register_internal_enum("Dueq\\State", IS_STRING, class_Dueq_State_methods);

	zval enum_case_Ready_value;
	zend_string *enum_case_Ready_value_str = zend_string_init("ready", strlen("ready"), 1);
	ZVAL_STR(&enum_case_Ready_value, enum_case_Ready_value_str);
	zend_enum_add_case_cstr(class_entry, "Ready", &enum_case_Ready_value);

	zval enum_case_Delayed_value;
	zend_string *enum_case_Delayed_value_str = zend_string_init("delayed", strlen("delayed"), 1);
	ZVAL_STR(&enum_case_Delayed_value, enum_case_Delayed_value_str);
	zend_enum_add_case_cstr(class_entry, "Delayed", &enum_case_Delayed_value);

	zval enum_case_Leased_value;
	zend_string *enum_case_Leased_value_str = zend_string_init("leased", strlen("leased"), 1);
	ZVAL_STR(&enum_case_Leased_value, enum_case_Leased_value_str);
	zend_enum_add_case_cstr(class_entry, "Leased", &enum_case_Leased_value);

	zval enum_case_Dead_value;
	zend_string *enum_case_Dead_value_str = zend_string_init("dead", strlen("dead"), 1);
	ZVAL_STR(&enum_case_Dead_value, enum_case_Dead_value_str);
	zend_enum_add_case_cstr(class_entry, "Dead", &enum_case_Dead_value);

	zval enum_case_Outbox_value;
	zend_string *enum_case_Outbox_value_str = zend_string_init("outbox", strlen("outbox"), 1);
	ZVAL_STR(&enum_case_Outbox_value, enum_case_Outbox_value_str);
	zend_enum_add_case_cstr(class_entry, "Outbox", &enum_case_Outbox_value);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Order(void)
{
	zend_class_entry *class_entry = zend_register_internal_enum("Dueq\\Order", IS_STRING, class_Dueq_Order_methods);

	zval enum_case_Preference_value;
	zend_string *enum_case_Preference_value_str = zend_string_init("preference", strlen("preference"), 1);
	ZVAL_STR(&enum_case_Preference_value, enum_case_Preference_value_str);
	zend_enum_add_case_cstr(class_entry, "Preference", &enum_case_Preference_value);

	zval enum_case_RoundRobin_value;
	zend_string *enum_case_RoundRobin_value_str = zend_string_init("round robin", strlen("round robin"), 1);
	ZVAL_STR(&enum_case_RoundRobin_value, enum_case_RoundRobin_value_str);
	zend_enum_add_case_cstr(class_entry, "RoundRobin", &enum_case_RoundRobin_value);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Replace(void)
{
	zend_class_entry *class_entry = zend_register_internal_enum("Dueq\\Replace", IS_STRING, class_Dueq_Replace_methods);

	zval enum_case_Message_value;
	zend_string *enum_case_Message_value_str = zend_string_init("message", strlen("message"), 1);
	ZVAL_STR(&enum_case_Message_value, enum_case_Message_value_str);
	zend_enum_add_case_cstr(class_entry, "Message", &enum_case_Message_value);

	zval enum_case_Body_value;
	zend_string *enum_case_Body_value_str = zend_string_init("body", strlen("body"), 1);
	ZVAL_STR(&enum_case_Body_value, enum_case_Body_value_str);
	zend_enum_add_case_cstr(class_entry, "Body", &enum_case_Body_value);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_BackoffKind(void)
{
	zend_class_entry *class_entry = zend_register_internal_enum("Dueq\\BackoffKind", IS_STRING, class_Dueq_BackoffKind_methods);

	zval enum_case_Fixed_value;
	zend_string *enum_case_Fixed_value_str = zend_string_init("fixed", strlen("fixed"), 1);
	ZVAL_STR(&enum_case_Fixed_value, enum_case_Fixed_value_str);
	zend_enum_add_case_cstr(class_entry, "Fixed", &enum_case_Fixed_value);

	zval enum_case_Linear_value;
	zend_string *enum_case_Linear_value_str = zend_string_init("linear", strlen("linear"), 1);
	ZVAL_STR(&enum_case_Linear_value, enum_case_Linear_value_str);
	zend_enum_add_case_cstr(class_entry, "Linear", &enum_case_Linear_value);

	zval enum_case_Exponential_value;
	zend_string *enum_case_Exponential_value_str = zend_string_init("exponential", strlen("exponential"), 1);
	ZVAL_STR(&enum_case_Exponential_value, enum_case_Exponential_value_str);
	zend_enum_add_case_cstr(class_entry, "Exponential", &enum_case_Exponential_value);

	zval enum_case_List_value;
	zend_string *enum_case_List_value_str = zend_string_init("list", strlen("list"), 1);
	ZVAL_STR(&enum_case_List_value, enum_case_List_value_str);
	zend_enum_add_case_cstr(class_entry, "List", &enum_case_List_value);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Jitter(void)
{
	zend_class_entry *class_entry = zend_register_internal_enum("Dueq\\Jitter", IS_STRING, class_Dueq_Jitter_methods);

	zval enum_case_None_value;
	zend_string *enum_case_None_value_str = zend_string_init("none", strlen("none"), 1);
	ZVAL_STR(&enum_case_None_value, enum_case_None_value_str);
	zend_enum_add_case_cstr(class_entry, "None", &enum_case_None_value);

	zval enum_case_Full_value;
	zend_string *enum_case_Full_value_str = zend_string_init("full", strlen("full"), 1);
	ZVAL_STR(&enum_case_Full_value, enum_case_Full_value_str);
	zend_enum_add_case_cstr(class_entry, "Full", &enum_case_Full_value);

	zval enum_case_Equal_value;
	zend_string *enum_case_Equal_value_str = zend_string_init("equal", strlen("equal"), 1);
	ZVAL_STR(&enum_case_Equal_value, enum_case_Equal_value_str);
	zend_enum_add_case_cstr(class_entry, "Equal", &enum_case_Equal_value);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_CatchUp(void)
{
	zend_class_entry *class_entry = zend_register_internal_enum("Dueq\\CatchUp", IS_STRING, class_Dueq_CatchUp_methods);

	zval enum_case_Once_value;
	zend_string *enum_case_Once_value_str = zend_string_init("once", strlen("once"), 1);
	ZVAL_STR(&enum_case_Once_value, enum_case_Once_value_str);
	zend_enum_add_case_cstr(class_entry, "Once", &enum_case_Once_value);

	zval enum_case_Skip_value;
	zend_string *enum_case_Skip_value_str = zend_string_init("skip", strlen("skip"), 1);
	ZVAL_STR(&enum_case_Skip_value, enum_case_Skip_value_str);
	zend_enum_add_case_cstr(class_entry, "Skip", &enum_case_Skip_value);

	zval enum_case_All_value;
	zend_string *enum_case_All_value_str = zend_string_init("all", strlen("all"), 1);
	ZVAL_STR(&enum_case_All_value, enum_case_All_value_str);
	zend_enum_add_case_cstr(class_entry, "All", &enum_case_All_value);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_FailureKind(void)
{
	zend_class_entry *class_entry = zend_register_internal_enum("Dueq\\FailureKind", IS_STRING, class_Dueq_FailureKind_methods);

	zval enum_case_Failed_value;
	zend_string *enum_case_Failed_value_str = zend_string_init("failed", strlen("failed"), 1);
	ZVAL_STR(&enum_case_Failed_value, enum_case_Failed_value_str);
	zend_enum_add_case_cstr(class_entry, "Failed", &enum_case_Failed_value);

	zval enum_case_Crashed_value;
	zend_string *enum_case_Crashed_value_str = zend_string_init("crashed", strlen("crashed"), 1);
	ZVAL_STR(&enum_case_Crashed_value, enum_case_Crashed_value_str);
	zend_enum_add_case_cstr(class_entry, "Crashed", &enum_case_Crashed_value);

	zval enum_case_Buried_value;
	zend_string *enum_case_Buried_value_str = zend_string_init("buried", strlen("buried"), 1);
	ZVAL_STR(&enum_case_Buried_value, enum_case_Buried_value_str);
	zend_enum_add_case_cstr(class_entry, "Buried", &enum_case_Buried_value);

	zval enum_case_Died_value;
	zend_string *enum_case_Died_value_str = zend_string_init("died", strlen("died"), 1);
	ZVAL_STR(&enum_case_Died_value, enum_case_Died_value_str);
	zend_enum_add_case_cstr(class_entry, "Died", &enum_case_Died_value);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_ClientInterface(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "ClientInterface", class_Dueq_ClientInterface_methods);
	class_entry = zend_register_internal_interface(&ce);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_QueueInterface(zend_class_entry *class_entry_IteratorAggregate)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "QueueInterface", class_Dueq_QueueInterface_methods);
	class_entry = zend_register_internal_interface(&ce);
	zend_class_implements(class_entry, 1, class_entry_IteratorAggregate);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_ConsumerInterface(zend_class_entry *class_entry_IteratorAggregate)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "ConsumerInterface", class_Dueq_ConsumerInterface_methods);
	class_entry = zend_register_internal_interface(&ce);
	zend_class_implements(class_entry, 1, class_entry_IteratorAggregate);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_MessageInterface(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "MessageInterface", class_Dueq_MessageInterface_methods);
	class_entry = zend_register_internal_interface(&ce);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_PusherInterface(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "PusherInterface", class_Dueq_PusherInterface_methods);
	class_entry = zend_register_internal_interface(&ce);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_LockInterface(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "LockInterface", class_Dueq_LockInterface_methods);
	class_entry = zend_register_internal_interface(&ce);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Client(zend_class_entry *class_entry_Dueq_ClientInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "Client", class_Dueq_Client_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Dueq_ClientInterface);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Queue(zend_class_entry *class_entry_IteratorAggregate, zend_class_entry *class_entry_Dueq_QueueInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "Queue", class_Dueq_Queue_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 2, class_entry_IteratorAggregate, class_entry_Dueq_QueueInterface);

	zval const_VERSION_value;
	zend_string *const_VERSION_value_str = zend_string_init(DUEQ_VERSION, strlen(DUEQ_VERSION), 1);
	ZVAL_STR(&const_VERSION_value, const_VERSION_value_str);
	zend_string *const_VERSION_name = zend_string_init_interned("VERSION", sizeof("VERSION") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_VERSION_name, &const_VERSION_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_VERSION_name);

	zval property_name_default_value;
	ZVAL_UNDEF(&property_name_default_value);
	zend_string *property_name_name = zend_string_init("name", sizeof("name") - 1, 1);
	zend_declare_typed_property(class_entry, property_name_name, &property_name_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_name_name);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 1, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "names", sizeof("names") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Queues(zend_class_entry *class_entry_IteratorAggregate)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "Queues", class_Dueq_Queues_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_IteratorAggregate);

	zval property_names_default_value;
	ZVAL_UNDEF(&property_names_default_value);
	zend_string *property_names_name = zend_string_init("names", sizeof("names") - 1, 1);
	zend_declare_typed_property(class_entry, property_names_name, &property_names_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_names_name);

	zend_string *property_order_class_Dueq_Order = zend_string_init("Dueq\\Order", sizeof("Dueq\\Order")-1, 1);
	zval property_order_default_value;
	ZVAL_UNDEF(&property_order_default_value);
	zend_string *property_order_name = zend_string_init("order", sizeof("order") - 1, 1);
	zend_declare_typed_property(class_entry, property_order_name, &property_order_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_order_class_Dueq_Order, 0, 0));
	zend_string_release(property_order_name);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 1, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Consumer(zend_class_entry *class_entry_IteratorAggregate, zend_class_entry *class_entry_Dueq_ConsumerInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "Consumer", class_Dueq_Consumer_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 2, class_entry_IteratorAggregate, class_entry_Dueq_ConsumerInterface);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Backoff(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "Backoff", class_Dueq_Backoff_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zend_string *property_kind_class_Dueq_BackoffKind = zend_string_init("Dueq\\BackoffKind", sizeof("Dueq\\BackoffKind")-1, 1);
	zval property_kind_default_value;
	ZVAL_UNDEF(&property_kind_default_value);
	zend_string *property_kind_name = zend_string_init("kind", sizeof("kind") - 1, 1);
	zend_declare_typed_property(class_entry, property_kind_name, &property_kind_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_kind_class_Dueq_BackoffKind, 0, 0));
	zend_string_release(property_kind_name);

	zval property_base_default_value;
	ZVAL_UNDEF(&property_base_default_value);
	zend_string *property_base_name = zend_string_init("base", sizeof("base") - 1, 1);
	zend_declare_typed_property(class_entry, property_base_name, &property_base_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_base_name);

	zval property_cap_default_value;
	ZVAL_UNDEF(&property_cap_default_value);
	zend_string *property_cap_name = zend_string_init("cap", sizeof("cap") - 1, 1);
	zend_declare_typed_property(class_entry, property_cap_name, &property_cap_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_cap_name);

	zval property_delays_default_value;
	ZVAL_UNDEF(&property_delays_default_value);
	zend_string *property_delays_name = zend_string_init("delays", sizeof("delays") - 1, 1);
	zend_declare_typed_property(class_entry, property_delays_name, &property_delays_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_delays_name);

	zend_string *property_jitter_class_Dueq_Jitter = zend_string_init("Dueq\\Jitter", sizeof("Dueq\\Jitter")-1, 1);
	zval property_jitter_default_value;
	ZVAL_UNDEF(&property_jitter_default_value);
	zend_string *property_jitter_name = zend_string_init("jitter", sizeof("jitter") - 1, 1);
	zend_declare_typed_property(class_entry, property_jitter_name, &property_jitter_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_jitter_class_Dueq_Jitter, 0, 0));
	zend_string_release(property_jitter_name);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Message(zend_class_entry *class_entry_Dueq_MessageInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "Message", class_Dueq_Message_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Dueq_MessageInterface);

	zval property_queue_default_value;
	ZVAL_UNDEF(&property_queue_default_value);
	zend_string *property_queue_name = zend_string_init("queue", sizeof("queue") - 1, 1);
	zend_declare_typed_property(class_entry, property_queue_name, &property_queue_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_queue_name);

	zval property_id_default_value;
	ZVAL_UNDEF(&property_id_default_value);
	zend_string *property_id_name = zend_string_init("id", sizeof("id") - 1, 1);
	zend_declare_typed_property(class_entry, property_id_name, &property_id_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_id_name);

	zval property_body_default_value;
	ZVAL_UNDEF(&property_body_default_value);
	zend_string *property_body_name = zend_string_init("body", sizeof("body") - 1, 1);
	zend_declare_typed_property(class_entry, property_body_name, &property_body_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_body_name);

	zval property_headers_default_value;
	ZVAL_UNDEF(&property_headers_default_value);
	zend_string *property_headers_name = zend_string_init("headers", sizeof("headers") - 1, 1);
	zend_declare_typed_property(class_entry, property_headers_name, &property_headers_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_headers_name);

	zval property_ticket_default_value;
	ZVAL_UNDEF(&property_ticket_default_value);
	zend_string *property_ticket_name = zend_string_init("ticket", sizeof("ticket") - 1, 1);
	zend_declare_typed_property(class_entry, property_ticket_name, &property_ticket_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_ticket_name);

	zval property_attempt_default_value;
	ZVAL_UNDEF(&property_attempt_default_value);
	zend_string *property_attempt_name = zend_string_init("attempt", sizeof("attempt") - 1, 1);
	zend_declare_typed_property(class_entry, property_attempt_name, &property_attempt_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_attempt_name);

	zval property_maxAttempts_default_value;
	ZVAL_UNDEF(&property_maxAttempts_default_value);
	zend_string *property_maxAttempts_name = zend_string_init("maxAttempts", sizeof("maxAttempts") - 1, 1);
	zend_declare_typed_property(class_entry, property_maxAttempts_name, &property_maxAttempts_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_maxAttempts_name);

	zval property_crashes_default_value;
	ZVAL_UNDEF(&property_crashes_default_value);
	zend_string *property_crashes_name = zend_string_init("crashes", sizeof("crashes") - 1, 1);
	zend_declare_typed_property(class_entry, property_crashes_name, &property_crashes_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_crashes_name);

	zval property_maxCrashes_default_value;
	ZVAL_UNDEF(&property_maxCrashes_default_value);
	zend_string *property_maxCrashes_name = zend_string_init("maxCrashes", sizeof("maxCrashes") - 1, 1);
	zend_declare_typed_property(class_entry, property_maxCrashes_name, &property_maxCrashes_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_maxCrashes_name);

	zval property_deliveries_default_value;
	ZVAL_UNDEF(&property_deliveries_default_value);
	zend_string *property_deliveries_name = zend_string_init("deliveries", sizeof("deliveries") - 1, 1);
	zend_declare_typed_property(class_entry, property_deliveries_name, &property_deliveries_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_deliveries_name);

	zval property_priority_default_value;
	ZVAL_UNDEF(&property_priority_default_value);
	zend_string *property_priority_name = zend_string_init("priority", sizeof("priority") - 1, 1);
	zend_declare_typed_property(class_entry, property_priority_name, &property_priority_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_priority_name);

	zend_string *property_state_class_Dueq_State = zend_string_init("Dueq\\State", sizeof("Dueq\\State")-1, 1);
	zval property_state_default_value;
	ZVAL_UNDEF(&property_state_default_value);
	zend_string *property_state_name = zend_string_init("state", sizeof("state") - 1, 1);
	zend_declare_typed_property(class_entry, property_state_name, &property_state_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_state_class_Dueq_State, 0, 0));
	zend_string_release(property_state_name);

	zval property_time_default_value;
	ZVAL_UNDEF(&property_time_default_value);
	zend_string *property_time_name = zend_string_init("time", sizeof("time") - 1, 1);
	zend_declare_typed_property(class_entry, property_time_name, &property_time_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_time_name);

	zval property_created_default_value;
	ZVAL_UNDEF(&property_created_default_value);
	zend_string *property_created_name = zend_string_init("created", sizeof("created") - 1, 1);
	zend_declare_typed_property(class_entry, property_created_name, &property_created_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_created_name);

	zval property_expires_default_value;
	ZVAL_UNDEF(&property_expires_default_value);
	zend_string *property_expires_name = zend_string_init("expires", sizeof("expires") - 1, 1);
	zend_declare_typed_property(class_entry, property_expires_name, &property_expires_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_expires_name);

	zval property_error_default_value;
	ZVAL_UNDEF(&property_error_default_value);
	zend_string *property_error_name = zend_string_init("error", sizeof("error") - 1, 1);
	zend_declare_typed_property(class_entry, property_error_name, &property_error_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_error_name);

	zval property_drop_default_value;
	ZVAL_UNDEF(&property_drop_default_value);
	zend_string *property_drop_name = zend_string_init("drop", sizeof("drop") - 1, 1);
	zend_declare_typed_property(class_entry, property_drop_name, &property_drop_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_BOOL));
	zend_string_release(property_drop_name);

	zval property_deadLetter_default_value;
	ZVAL_UNDEF(&property_deadLetter_default_value);
	zend_string *property_deadLetter_name = zend_string_init("deadLetter", sizeof("deadLetter") - 1, 1);
	zend_declare_typed_property(class_entry, property_deadLetter_name, &property_deadLetter_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_deadLetter_name);

	zval property_group_default_value;
	ZVAL_UNDEF(&property_group_default_value);
	zend_string *property_group_name = zend_string_init("group", sizeof("group") - 1, 1);
	zend_declare_typed_property(class_entry, property_group_name, &property_group_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_group_name);

	zval property_progress_default_value;
	ZVAL_UNDEF(&property_progress_default_value);
	zend_string *property_progress_name = zend_string_init("progress", sizeof("progress") - 1, 1);
	zend_declare_typed_property(class_entry, property_progress_name, &property_progress_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_progress_name);

	zval property_progressNote_default_value;
	ZVAL_UNDEF(&property_progressNote_default_value);
	zend_string *property_progressNote_name = zend_string_init("progressNote", sizeof("progressNote") - 1, 1);
	zend_declare_typed_property(class_entry, property_progressNote_name, &property_progressNote_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_progressNote_name);

	zval property_keep_default_value;
	ZVAL_UNDEF(&property_keep_default_value);
	zend_string *property_keep_name = zend_string_init("keep", sizeof("keep") - 1, 1);
	zend_declare_typed_property(class_entry, property_keep_name, &property_keep_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_keep_name);

	zval property_batch_default_value;
	ZVAL_UNDEF(&property_batch_default_value);
	zend_string *property_batch_name = zend_string_init("batch", sizeof("batch") - 1, 1);
	zend_declare_typed_property(class_entry, property_batch_name, &property_batch_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_batch_name);

	zval property_batchQueue_default_value;
	ZVAL_UNDEF(&property_batchQueue_default_value);
	zend_string *property_batchQueue_name = zend_string_init("batchQueue", sizeof("batchQueue") - 1, 1);
	zend_declare_typed_property(class_entry, property_batchQueue_name, &property_batchQueue_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_batchQueue_name);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Messages(zend_class_entry *class_entry_Iterator)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "Messages", class_Dueq_Messages_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Iterator);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Pending(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "Pending", class_Dueq_Pending_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Pusher(zend_class_entry *class_entry_Dueq_PusherInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "Pusher", class_Dueq_Pusher_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Dueq_PusherInterface);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Lock(zend_class_entry *class_entry_Dueq_LockInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "Lock", class_Dueq_Lock_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Dueq_LockInterface);

	zval property_name_default_value;
	ZVAL_UNDEF(&property_name_default_value);
	zend_string *property_name_name = zend_string_init("name", sizeof("name") - 1, 1);
	zend_declare_typed_property(class_entry, property_name_name, &property_name_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_name_name);

	zval property_token_default_value;
	ZVAL_UNDEF(&property_token_default_value);
	zend_string *property_token_name = zend_string_init("token", sizeof("token") - 1, 1);
	zend_declare_typed_property(class_entry, property_token_name, &property_token_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_token_name);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Stats(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "Stats", class_Dueq_Stats_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_ready_default_value;
	ZVAL_UNDEF(&property_ready_default_value);
	zend_string *property_ready_name = zend_string_init("ready", sizeof("ready") - 1, 1);
	zend_declare_typed_property(class_entry, property_ready_name, &property_ready_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_ready_name);

	zval property_delayed_default_value;
	ZVAL_UNDEF(&property_delayed_default_value);
	zend_string *property_delayed_name = zend_string_init("delayed", sizeof("delayed") - 1, 1);
	zend_declare_typed_property(class_entry, property_delayed_name, &property_delayed_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_delayed_name);

	zval property_leased_default_value;
	ZVAL_UNDEF(&property_leased_default_value);
	zend_string *property_leased_name = zend_string_init("leased", sizeof("leased") - 1, 1);
	zend_declare_typed_property(class_entry, property_leased_name, &property_leased_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_leased_name);

	zval property_dead_default_value;
	ZVAL_UNDEF(&property_dead_default_value);
	zend_string *property_dead_name = zend_string_init("dead", sizeof("dead") - 1, 1);
	zend_declare_typed_property(class_entry, property_dead_name, &property_dead_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_dead_name);

	zval property_outbox_default_value;
	ZVAL_UNDEF(&property_outbox_default_value);
	zend_string *property_outbox_name = zend_string_init("outbox", sizeof("outbox") - 1, 1);
	zend_declare_typed_property(class_entry, property_outbox_name, &property_outbox_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_outbox_name);

	zval property_outboxError_default_value;
	ZVAL_UNDEF(&property_outboxError_default_value);
	zend_string *property_outboxError_name = zend_string_init("outboxError", sizeof("outboxError") - 1, 1);
	zend_declare_typed_property(class_entry, property_outboxError_name, &property_outboxError_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_outboxError_name);

	zval property_pushed_default_value;
	ZVAL_UNDEF(&property_pushed_default_value);
	zend_string *property_pushed_name = zend_string_init("pushed", sizeof("pushed") - 1, 1);
	zend_declare_typed_property(class_entry, property_pushed_name, &property_pushed_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_pushed_name);

	zval property_reserved_default_value;
	ZVAL_UNDEF(&property_reserved_default_value);
	zend_string *property_reserved_name = zend_string_init("reserved", sizeof("reserved") - 1, 1);
	zend_declare_typed_property(class_entry, property_reserved_name, &property_reserved_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_reserved_name);

	zval property_acked_default_value;
	ZVAL_UNDEF(&property_acked_default_value);
	zend_string *property_acked_name = zend_string_init("acked", sizeof("acked") - 1, 1);
	zend_declare_typed_property(class_entry, property_acked_name, &property_acked_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_acked_name);

	zval property_retried_default_value;
	ZVAL_UNDEF(&property_retried_default_value);
	zend_string *property_retried_name = zend_string_init("retried", sizeof("retried") - 1, 1);
	zend_declare_typed_property(class_entry, property_retried_name, &property_retried_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_retried_name);

	zval property_expired_default_value;
	ZVAL_UNDEF(&property_expired_default_value);
	zend_string *property_expired_name = zend_string_init("expired", sizeof("expired") - 1, 1);
	zend_declare_typed_property(class_entry, property_expired_name, &property_expired_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_expired_name);

	zval property_died_default_value;
	ZVAL_UNDEF(&property_died_default_value);
	zend_string *property_died_name = zend_string_init("died", sizeof("died") - 1, 1);
	zend_declare_typed_property(class_entry, property_died_name, &property_died_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_died_name);

	zval property_cancelled_default_value;
	ZVAL_UNDEF(&property_cancelled_default_value);
	zend_string *property_cancelled_name = zend_string_init("cancelled", sizeof("cancelled") - 1, 1);
	zend_declare_typed_property(class_entry, property_cancelled_name, &property_cancelled_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_cancelled_name);

	zval property_purged_default_value;
	ZVAL_UNDEF(&property_purged_default_value);
	zend_string *property_purged_name = zend_string_init("purged", sizeof("purged") - 1, 1);
	zend_declare_typed_property(class_entry, property_purged_name, &property_purged_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_purged_name);

	zval property_quarantined_default_value;
	ZVAL_UNDEF(&property_quarantined_default_value);
	zend_string *property_quarantined_name = zend_string_init("quarantined", sizeof("quarantined") - 1, 1);
	zend_declare_typed_property(class_entry, property_quarantined_name, &property_quarantined_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_quarantined_name);

	zval property_nextEvent_default_value;
	ZVAL_UNDEF(&property_nextEvent_default_value);
	zend_string *property_nextEvent_name = zend_string_init("nextEvent", sizeof("nextEvent") - 1, 1);
	zend_declare_typed_property(class_entry, property_nextEvent_name, &property_nextEvent_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_nextEvent_name);

	zval property_oldest_default_value;
	ZVAL_UNDEF(&property_oldest_default_value);
	zend_string *property_oldest_name = zend_string_init("oldest", sizeof("oldest") - 1, 1);
	zend_declare_typed_property(class_entry, property_oldest_name, &property_oldest_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_oldest_name);

	zval property_now_default_value;
	ZVAL_UNDEF(&property_now_default_value);
	zend_string *property_now_name = zend_string_init("now", sizeof("now") - 1, 1);
	zend_declare_typed_property(class_entry, property_now_name, &property_now_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_now_name);

	zval property_paused_default_value;
	ZVAL_UNDEF(&property_paused_default_value);
	zend_string *property_paused_name = zend_string_init("paused", sizeof("paused") - 1, 1);
	zend_declare_typed_property(class_entry, property_paused_name, &property_paused_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_BOOL));
	zend_string_release(property_paused_name);

	zval property_atLimit_default_value;
	ZVAL_UNDEF(&property_atLimit_default_value);
	zend_string *property_atLimit_name = zend_string_init("atLimit", sizeof("atLimit") - 1, 1);
	zend_declare_typed_property(class_entry, property_atLimit_name, &property_atLimit_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_atLimit_name);

	zval property_evicting_default_value;
	ZVAL_UNDEF(&property_evicting_default_value);
	zend_string *property_evicting_name = zend_string_init("evicting", sizeof("evicting") - 1, 1);
	zend_declare_typed_property(class_entry, property_evicting_name, &property_evicting_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_BOOL));
	zend_string_release(property_evicting_name);

	zval property_ends_default_value;
	ZVAL_UNDEF(&property_ends_default_value);
	zend_string *property_ends_name = zend_string_init("ends", sizeof("ends") - 1, 1);
	zend_declare_typed_property(class_entry, property_ends_name, &property_ends_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_ends_name);

	zval property_endsBytes_default_value;
	ZVAL_UNDEF(&property_endsBytes_default_value);
	zend_string *property_endsBytes_name = zend_string_init("endsBytes", sizeof("endsBytes") - 1, 1);
	zend_declare_typed_property(class_entry, property_endsBytes_name, &property_endsBytes_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_endsBytes_name);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_GroupLimits(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "GroupLimits", class_Dueq_GroupLimits_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_name_default_value;
	ZVAL_UNDEF(&property_name_default_value);
	zend_string *property_name_name = zend_string_init("name", sizeof("name") - 1, 1);
	zend_declare_typed_property(class_entry, property_name_name, &property_name_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_name_name);

	zval property_concurrency_default_value;
	ZVAL_UNDEF(&property_concurrency_default_value);
	zend_string *property_concurrency_name = zend_string_init("concurrency", sizeof("concurrency") - 1, 1);
	zend_declare_typed_property(class_entry, property_concurrency_name, &property_concurrency_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_concurrency_name);

	zval property_rate_default_value;
	ZVAL_UNDEF(&property_rate_default_value);
	zend_string *property_rate_name = zend_string_init("rate", sizeof("rate") - 1, 1);
	zend_declare_typed_property(class_entry, property_rate_name, &property_rate_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_rate_name);

	zval property_burst_default_value;
	ZVAL_UNDEF(&property_burst_default_value);
	zend_string *property_burst_name = zend_string_init("burst", sizeof("burst") - 1, 1);
	zend_declare_typed_property(class_entry, property_burst_name, &property_burst_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_burst_name);

	zval property_backlog_default_value;
	ZVAL_UNDEF(&property_backlog_default_value);
	zend_string *property_backlog_name = zend_string_init("backlog", sizeof("backlog") - 1, 1);
	zend_declare_typed_property(class_entry, property_backlog_name, &property_backlog_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_backlog_name);

	zval property_weight_default_value;
	ZVAL_UNDEF(&property_weight_default_value);
	zend_string *property_weight_name = zend_string_init("weight", sizeof("weight") - 1, 1);
	zend_declare_typed_property(class_entry, property_weight_name, &property_weight_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_weight_name);

	zval property_order_default_value;
	ZVAL_UNDEF(&property_order_default_value);
	zend_string *property_order_name = zend_string_init("order", sizeof("order") - 1, 1);
	zend_declare_typed_property(class_entry, property_order_name, &property_order_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_order_name);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Limits(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "Limits", class_Dueq_Limits_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_concurrency_default_value;
	ZVAL_UNDEF(&property_concurrency_default_value);
	zend_string *property_concurrency_name = zend_string_init("concurrency", sizeof("concurrency") - 1, 1);
	zend_declare_typed_property(class_entry, property_concurrency_name, &property_concurrency_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_concurrency_name);

	zval property_rate_default_value;
	ZVAL_UNDEF(&property_rate_default_value);
	zend_string *property_rate_name = zend_string_init("rate", sizeof("rate") - 1, 1);
	zend_declare_typed_property(class_entry, property_rate_name, &property_rate_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_rate_name);

	zval property_burst_default_value;
	ZVAL_UNDEF(&property_burst_default_value);
	zend_string *property_burst_name = zend_string_init("burst", sizeof("burst") - 1, 1);
	zend_declare_typed_property(class_entry, property_burst_name, &property_burst_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_burst_name);

	zval property_eachGroupConcurrency_default_value;
	ZVAL_UNDEF(&property_eachGroupConcurrency_default_value);
	zend_string *property_eachGroupConcurrency_name = zend_string_init("eachGroupConcurrency", sizeof("eachGroupConcurrency") - 1, 1);
	zend_declare_typed_property(class_entry, property_eachGroupConcurrency_name, &property_eachGroupConcurrency_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_eachGroupConcurrency_name);

	zval property_eachGroupRate_default_value;
	ZVAL_UNDEF(&property_eachGroupRate_default_value);
	zend_string *property_eachGroupRate_name = zend_string_init("eachGroupRate", sizeof("eachGroupRate") - 1, 1);
	zend_declare_typed_property(class_entry, property_eachGroupRate_name, &property_eachGroupRate_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_eachGroupRate_name);

	zval property_eachGroupBurst_default_value;
	ZVAL_UNDEF(&property_eachGroupBurst_default_value);
	zend_string *property_eachGroupBurst_name = zend_string_init("eachGroupBurst", sizeof("eachGroupBurst") - 1, 1);
	zend_declare_typed_property(class_entry, property_eachGroupBurst_name, &property_eachGroupBurst_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_eachGroupBurst_name);

	zval property_eachGroupBacklog_default_value;
	ZVAL_UNDEF(&property_eachGroupBacklog_default_value);
	zend_string *property_eachGroupBacklog_name = zend_string_init("eachGroupBacklog", sizeof("eachGroupBacklog") - 1, 1);
	zend_declare_typed_property(class_entry, property_eachGroupBacklog_name, &property_eachGroupBacklog_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_eachGroupBacklog_name);

	zval property_order_default_value;
	ZVAL_UNDEF(&property_order_default_value);
	zend_string *property_order_name = zend_string_init("order", sizeof("order") - 1, 1);
	zend_declare_typed_property(class_entry, property_order_name, &property_order_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_order_name);

	zval property_groups_default_value;
	ZVAL_UNDEF(&property_groups_default_value);
	zend_string *property_groups_name = zend_string_init("groups", sizeof("groups") - 1, 1);
	zend_declare_typed_property(class_entry, property_groups_name, &property_groups_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_groups_name);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Finding(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "Finding", class_Dueq_Finding_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_kind_default_value;
	ZVAL_UNDEF(&property_kind_default_value);
	zend_string *property_kind_name = zend_string_init("kind", sizeof("kind") - 1, 1);
	zend_declare_typed_property(class_entry, property_kind_name, &property_kind_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_kind_name);

	zval property_text_default_value;
	ZVAL_UNDEF(&property_text_default_value);
	zend_string *property_text_name = zend_string_init("text", sizeof("text") - 1, 1);
	zend_declare_typed_property(class_entry, property_text_name, &property_text_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_text_name);

	zval property_wrong_default_value;
	ZVAL_UNDEF(&property_wrong_default_value);
	zend_string *property_wrong_name = zend_string_init("wrong", sizeof("wrong") - 1, 1);
	zend_declare_typed_property(class_entry, property_wrong_name, &property_wrong_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_BOOL));
	zend_string_release(property_wrong_name);

	zval property_count_default_value;
	ZVAL_UNDEF(&property_count_default_value);
	zend_string *property_count_name = zend_string_init("count", sizeof("count") - 1, 1);
	zend_declare_typed_property(class_entry, property_count_name, &property_count_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_count_name);

	zval property_repaired_default_value;
	ZVAL_UNDEF(&property_repaired_default_value);
	zend_string *property_repaired_name = zend_string_init("repaired", sizeof("repaired") - 1, 1);
	zend_declare_typed_property(class_entry, property_repaired_name, &property_repaired_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_repaired_name);

	zval property_examples_default_value;
	ZVAL_UNDEF(&property_examples_default_value);
	zend_string *property_examples_name = zend_string_init("examples", sizeof("examples") - 1, 1);
	zend_declare_typed_property(class_entry, property_examples_name, &property_examples_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_examples_name);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Rate(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "Rate", class_Dueq_Rate_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_start_default_value;
	ZVAL_UNDEF(&property_start_default_value);
	zend_string *property_start_name = zend_string_init("start", sizeof("start") - 1, 1);
	zend_declare_typed_property(class_entry, property_start_name, &property_start_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_start_name);

	zval property_span_default_value;
	ZVAL_UNDEF(&property_span_default_value);
	zend_string *property_span_name = zend_string_init("span", sizeof("span") - 1, 1);
	zend_declare_typed_property(class_entry, property_span_name, &property_span_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_span_name);

	zval property_pushed_default_value;
	ZVAL_UNDEF(&property_pushed_default_value);
	zend_string *property_pushed_name = zend_string_init("pushed", sizeof("pushed") - 1, 1);
	zend_declare_typed_property(class_entry, property_pushed_name, &property_pushed_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_pushed_name);

	zval property_reserved_default_value;
	ZVAL_UNDEF(&property_reserved_default_value);
	zend_string *property_reserved_name = zend_string_init("reserved", sizeof("reserved") - 1, 1);
	zend_declare_typed_property(class_entry, property_reserved_name, &property_reserved_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_reserved_name);

	zval property_acked_default_value;
	ZVAL_UNDEF(&property_acked_default_value);
	zend_string *property_acked_name = zend_string_init("acked", sizeof("acked") - 1, 1);
	zend_declare_typed_property(class_entry, property_acked_name, &property_acked_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_acked_name);

	zval property_retried_default_value;
	ZVAL_UNDEF(&property_retried_default_value);
	zend_string *property_retried_name = zend_string_init("retried", sizeof("retried") - 1, 1);
	zend_declare_typed_property(class_entry, property_retried_name, &property_retried_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_retried_name);

	zval property_expired_default_value;
	ZVAL_UNDEF(&property_expired_default_value);
	zend_string *property_expired_name = zend_string_init("expired", sizeof("expired") - 1, 1);
	zend_declare_typed_property(class_entry, property_expired_name, &property_expired_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_expired_name);

	zval property_died_default_value;
	ZVAL_UNDEF(&property_died_default_value);
	zend_string *property_died_name = zend_string_init("died", sizeof("died") - 1, 1);
	zend_declare_typed_property(class_entry, property_died_name, &property_died_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_died_name);

	zval property_cancelled_default_value;
	ZVAL_UNDEF(&property_cancelled_default_value);
	zend_string *property_cancelled_name = zend_string_init("cancelled", sizeof("cancelled") - 1, 1);
	zend_declare_typed_property(class_entry, property_cancelled_name, &property_cancelled_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_cancelled_name);

	zval property_lateP50_default_value;
	ZVAL_UNDEF(&property_lateP50_default_value);
	zend_string *property_lateP50_name = zend_string_init("lateP50", sizeof("lateP50") - 1, 1);
	zend_declare_typed_property(class_entry, property_lateP50_name, &property_lateP50_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_lateP50_name);

	zval property_lateP99_default_value;
	ZVAL_UNDEF(&property_lateP99_default_value);
	zend_string *property_lateP99_name = zend_string_init("lateP99", sizeof("lateP99") - 1, 1);
	zend_declare_typed_property(class_entry, property_lateP99_name, &property_lateP99_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_lateP99_name);

	zval property_runP50_default_value;
	ZVAL_UNDEF(&property_runP50_default_value);
	zend_string *property_runP50_name = zend_string_init("runP50", sizeof("runP50") - 1, 1);
	zend_declare_typed_property(class_entry, property_runP50_name, &property_runP50_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_runP50_name);

	zval property_runP99_default_value;
	ZVAL_UNDEF(&property_runP99_default_value);
	zend_string *property_runP99_name = zend_string_init("runP99", sizeof("runP99") - 1, 1);
	zend_declare_typed_property(class_entry, property_runP99_name, &property_runP99_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_runP99_name);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_WorkerInfo(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "WorkerInfo", class_Dueq_WorkerInfo_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_session_default_value;
	ZVAL_UNDEF(&property_session_default_value);
	zend_string *property_session_name = zend_string_init("session", sizeof("session") - 1, 1);
	zend_declare_typed_property(class_entry, property_session_name, &property_session_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_session_name);

	zval property_host_default_value;
	ZVAL_UNDEF(&property_host_default_value);
	zend_string *property_host_name = zend_string_init("host", sizeof("host") - 1, 1);
	zend_declare_typed_property(class_entry, property_host_name, &property_host_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_host_name);

	zval property_pid_default_value;
	ZVAL_UNDEF(&property_pid_default_value);
	zend_string *property_pid_name = zend_string_init("pid", sizeof("pid") - 1, 1);
	zend_declare_typed_property(class_entry, property_pid_name, &property_pid_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_pid_name);

	zval property_program_default_value;
	ZVAL_UNDEF(&property_program_default_value);
	zend_string *property_program_name = zend_string_init("program", sizeof("program") - 1, 1);
	zend_declare_typed_property(class_entry, property_program_name, &property_program_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_program_name);

	zval property_version_default_value;
	ZVAL_UNDEF(&property_version_default_value);
	zend_string *property_version_name = zend_string_init("version", sizeof("version") - 1, 1);
	zend_declare_typed_property(class_entry, property_version_name, &property_version_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_version_name);

	zval property_slots_default_value;
	ZVAL_UNDEF(&property_slots_default_value);
	zend_string *property_slots_name = zend_string_init("slots", sizeof("slots") - 1, 1);
	zend_declare_typed_property(class_entry, property_slots_name, &property_slots_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_slots_name);

	zval property_since_default_value;
	ZVAL_UNDEF(&property_since_default_value);
	zend_string *property_since_name = zend_string_init("since", sizeof("since") - 1, 1);
	zend_declare_typed_property(class_entry, property_since_name, &property_since_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_since_name);

	zval property_seen_default_value;
	ZVAL_UNDEF(&property_seen_default_value);
	zend_string *property_seen_name = zend_string_init("seen", sizeof("seen") - 1, 1);
	zend_declare_typed_property(class_entry, property_seen_name, &property_seen_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_seen_name);

	zval property_until_default_value;
	ZVAL_UNDEF(&property_until_default_value);
	zend_string *property_until_name = zend_string_init("until", sizeof("until") - 1, 1);
	zend_declare_typed_property(class_entry, property_until_name, &property_until_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_until_name);

	zval property_now_default_value;
	ZVAL_UNDEF(&property_now_default_value);
	zend_string *property_now_name = zend_string_init("now", sizeof("now") - 1, 1);
	zend_declare_typed_property(class_entry, property_now_name, &property_now_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_now_name);

	zval property_offline_default_value;
	ZVAL_UNDEF(&property_offline_default_value);
	zend_string *property_offline_name = zend_string_init("offline", sizeof("offline") - 1, 1);
	zend_declare_typed_property(class_entry, property_offline_name, &property_offline_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_BOOL));
	zend_string_release(property_offline_name);

	zval property_leased_default_value;
	ZVAL_UNDEF(&property_leased_default_value);
	zend_string *property_leased_name = zend_string_init("leased", sizeof("leased") - 1, 1);
	zend_declare_typed_property(class_entry, property_leased_name, &property_leased_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_leased_name);

	zval property_running_default_value;
	ZVAL_UNDEF(&property_running_default_value);
	zend_string *property_running_name = zend_string_init("running", sizeof("running") - 1, 1);
	zend_declare_typed_property(class_entry, property_running_name, &property_running_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_running_name);

	zval property_stopping_default_value;
	ZVAL_UNDEF(&property_stopping_default_value);
	zend_string *property_stopping_name = zend_string_init("stopping", sizeof("stopping") - 1, 1);
	zend_declare_typed_property(class_entry, property_stopping_name, &property_stopping_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_BOOL));
	zend_string_release(property_stopping_name);

	zval property_leases_default_value;
	ZVAL_UNDEF(&property_leases_default_value);
	zend_string *property_leases_name = zend_string_init("leases", sizeof("leases") - 1, 1);
	zend_declare_typed_property(class_entry, property_leases_name, &property_leases_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_leases_name);

	zval property_tasks_default_value;
	ZVAL_UNDEF(&property_tasks_default_value);
	zend_string *property_tasks_name = zend_string_init("tasks", sizeof("tasks") - 1, 1);
	zend_declare_typed_property(class_entry, property_tasks_name, &property_tasks_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_tasks_name);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Lease(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "Lease", class_Dueq_Lease_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_id_default_value;
	ZVAL_UNDEF(&property_id_default_value);
	zend_string *property_id_name = zend_string_init("id", sizeof("id") - 1, 1);
	zend_declare_typed_property(class_entry, property_id_name, &property_id_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_id_name);

	zval property_ticket_default_value;
	ZVAL_UNDEF(&property_ticket_default_value);
	zend_string *property_ticket_name = zend_string_init("ticket", sizeof("ticket") - 1, 1);
	zend_declare_typed_property(class_entry, property_ticket_name, &property_ticket_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_ticket_name);

	zval property_partition_default_value;
	ZVAL_UNDEF(&property_partition_default_value);
	zend_string *property_partition_name = zend_string_init("partition", sizeof("partition") - 1, 1);
	zend_declare_typed_property(class_entry, property_partition_name, &property_partition_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_partition_name);

	zval property_since_default_value;
	ZVAL_UNDEF(&property_since_default_value);
	zend_string *property_since_name = zend_string_init("since", sizeof("since") - 1, 1);
	zend_declare_typed_property(class_entry, property_since_name, &property_since_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_since_name);

	zval property_running_default_value;
	ZVAL_UNDEF(&property_running_default_value);
	zend_string *property_running_name = zend_string_init("running", sizeof("running") - 1, 1);
	zend_declare_typed_property(class_entry, property_running_name, &property_running_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_BOOL));
	zend_string_release(property_running_name);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_End(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "End", class_Dueq_End_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_id_default_value;
	ZVAL_UNDEF(&property_id_default_value);
	zend_string *property_id_name = zend_string_init("id", sizeof("id") - 1, 1);
	zend_declare_typed_property(class_entry, property_id_name, &property_id_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_id_name);

	zval property_outcome_default_value;
	ZVAL_UNDEF(&property_outcome_default_value);
	zend_string *property_outcome_name = zend_string_init("outcome", sizeof("outcome") - 1, 1);
	zend_declare_typed_property(class_entry, property_outcome_name, &property_outcome_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_outcome_name);

	zval property_time_default_value;
	ZVAL_UNDEF(&property_time_default_value);
	zend_string *property_time_name = zend_string_init("time", sizeof("time") - 1, 1);
	zend_declare_typed_property(class_entry, property_time_name, &property_time_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_time_name);

	zval property_created_default_value;
	ZVAL_UNDEF(&property_created_default_value);
	zend_string *property_created_name = zend_string_init("created", sizeof("created") - 1, 1);
	zend_declare_typed_property(class_entry, property_created_name, &property_created_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_created_name);

	zval property_waited_default_value;
	ZVAL_UNDEF(&property_waited_default_value);
	zend_string *property_waited_name = zend_string_init("waited", sizeof("waited") - 1, 1);
	zend_declare_typed_property(class_entry, property_waited_name, &property_waited_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_waited_name);

	zval property_ran_default_value;
	ZVAL_UNDEF(&property_ran_default_value);
	zend_string *property_ran_name = zend_string_init("ran", sizeof("ran") - 1, 1);
	zend_declare_typed_property(class_entry, property_ran_name, &property_ran_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_ran_name);

	zval property_deliveries_default_value;
	ZVAL_UNDEF(&property_deliveries_default_value);
	zend_string *property_deliveries_name = zend_string_init("deliveries", sizeof("deliveries") - 1, 1);
	zend_declare_typed_property(class_entry, property_deliveries_name, &property_deliveries_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_deliveries_name);

	zval property_host_default_value;
	ZVAL_UNDEF(&property_host_default_value);
	zend_string *property_host_name = zend_string_init("host", sizeof("host") - 1, 1);
	zend_declare_typed_property(class_entry, property_host_name, &property_host_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_host_name);

	zval property_pid_default_value;
	ZVAL_UNDEF(&property_pid_default_value);
	zend_string *property_pid_name = zend_string_init("pid", sizeof("pid") - 1, 1);
	zend_declare_typed_property(class_entry, property_pid_name, &property_pid_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_pid_name);

	zval property_hasResult_default_value;
	ZVAL_UNDEF(&property_hasResult_default_value);
	zend_string *property_hasResult_name = zend_string_init("hasResult", sizeof("hasResult") - 1, 1);
	zend_declare_typed_property(class_entry, property_hasResult_name, &property_hasResult_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_BOOL));
	zend_string_release(property_hasResult_name);

	zval property_result_default_value;
	ZVAL_UNDEF(&property_result_default_value);
	zend_string *property_result_name = zend_string_init("result", sizeof("result") - 1, 1);
	zend_declare_typed_property(class_entry, property_result_name, &property_result_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_result_name);

	zval property_error_default_value;
	ZVAL_UNDEF(&property_error_default_value);
	zend_string *property_error_name = zend_string_init("error", sizeof("error") - 1, 1);
	zend_declare_typed_property(class_entry, property_error_name, &property_error_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_error_name);

	zval property_until_default_value;
	ZVAL_UNDEF(&property_until_default_value);
	zend_string *property_until_name = zend_string_init("until", sizeof("until") - 1, 1);
	zend_declare_typed_property(class_entry, property_until_name, &property_until_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_until_name);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Failure(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "Failure", class_Dueq_Failure_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_time_default_value;
	ZVAL_UNDEF(&property_time_default_value);
	zend_string *property_time_name = zend_string_init("time", sizeof("time") - 1, 1);
	zend_declare_typed_property(class_entry, property_time_name, &property_time_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_time_name);

	zend_string *property_kind_class_Dueq_FailureKind = zend_string_init("Dueq\\FailureKind", sizeof("Dueq\\FailureKind")-1, 1);
	zval property_kind_default_value;
	ZVAL_UNDEF(&property_kind_default_value);
	zend_string *property_kind_name = zend_string_init("kind", sizeof("kind") - 1, 1);
	zend_declare_typed_property(class_entry, property_kind_name, &property_kind_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_kind_class_Dueq_FailureKind, 0, 0));
	zend_string_release(property_kind_name);

	zval property_id_default_value;
	ZVAL_UNDEF(&property_id_default_value);
	zend_string *property_id_name = zend_string_init("id", sizeof("id") - 1, 1);
	zend_declare_typed_property(class_entry, property_id_name, &property_id_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_id_name);

	zval property_ticket_default_value;
	ZVAL_UNDEF(&property_ticket_default_value);
	zend_string *property_ticket_name = zend_string_init("ticket", sizeof("ticket") - 1, 1);
	zend_declare_typed_property(class_entry, property_ticket_name, &property_ticket_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_ticket_name);

	zval property_delivery_default_value;
	ZVAL_UNDEF(&property_delivery_default_value);
	zend_string *property_delivery_name = zend_string_init("delivery", sizeof("delivery") - 1, 1);
	zend_declare_typed_property(class_entry, property_delivery_name, &property_delivery_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_delivery_name);

	zval property_created_default_value;
	ZVAL_UNDEF(&property_created_default_value);
	zend_string *property_created_name = zend_string_init("created", sizeof("created") - 1, 1);
	zend_declare_typed_property(class_entry, property_created_name, &property_created_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_created_name);

	zval property_host_default_value;
	ZVAL_UNDEF(&property_host_default_value);
	zend_string *property_host_name = zend_string_init("host", sizeof("host") - 1, 1);
	zend_declare_typed_property(class_entry, property_host_name, &property_host_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_host_name);

	zval property_pid_default_value;
	ZVAL_UNDEF(&property_pid_default_value);
	zend_string *property_pid_name = zend_string_init("pid", sizeof("pid") - 1, 1);
	zend_declare_typed_property(class_entry, property_pid_name, &property_pid_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_pid_name);

	zval property_error_default_value;
	ZVAL_UNDEF(&property_error_default_value);
	zend_string *property_error_name = zend_string_init("error", sizeof("error") - 1, 1);
	zend_declare_typed_property(class_entry, property_error_name, &property_error_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_error_name);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_BatchStatus(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "BatchStatus", class_Dueq_BatchStatus_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_id_default_value;
	ZVAL_UNDEF(&property_id_default_value);
	zend_string *property_id_name = zend_string_init("id", sizeof("id") - 1, 1);
	zend_declare_typed_property(class_entry, property_id_name, &property_id_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_id_name);

	zval property_state_default_value;
	ZVAL_UNDEF(&property_state_default_value);
	zend_string *property_state_name = zend_string_init("state", sizeof("state") - 1, 1);
	zend_declare_typed_property(class_entry, property_state_name, &property_state_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_state_name);

	zval property_pushed_default_value;
	ZVAL_UNDEF(&property_pushed_default_value);
	zend_string *property_pushed_name = zend_string_init("pushed", sizeof("pushed") - 1, 1);
	zend_declare_typed_property(class_entry, property_pushed_name, &property_pushed_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_pushed_name);

	zval property_acked_default_value;
	ZVAL_UNDEF(&property_acked_default_value);
	zend_string *property_acked_name = zend_string_init("acked", sizeof("acked") - 1, 1);
	zend_declare_typed_property(class_entry, property_acked_name, &property_acked_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_acked_name);

	zval property_dead_default_value;
	ZVAL_UNDEF(&property_dead_default_value);
	zend_string *property_dead_name = zend_string_init("dead", sizeof("dead") - 1, 1);
	zend_declare_typed_property(class_entry, property_dead_name, &property_dead_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_dead_name);

	zval property_cancelled_default_value;
	ZVAL_UNDEF(&property_cancelled_default_value);
	zend_string *property_cancelled_name = zend_string_init("cancelled", sizeof("cancelled") - 1, 1);
	zend_declare_typed_property(class_entry, property_cancelled_name, &property_cancelled_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_cancelled_name);

	zval property_expired_default_value;
	ZVAL_UNDEF(&property_expired_default_value);
	zend_string *property_expired_name = zend_string_init("expired", sizeof("expired") - 1, 1);
	zend_declare_typed_property(class_entry, property_expired_name, &property_expired_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_expired_name);

	zval property_purged_default_value;
	ZVAL_UNDEF(&property_purged_default_value);
	zend_string *property_purged_name = zend_string_init("purged", sizeof("purged") - 1, 1);
	zend_declare_typed_property(class_entry, property_purged_name, &property_purged_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_purged_name);

	zval property_left_default_value;
	ZVAL_UNDEF(&property_left_default_value);
	zend_string *property_left_name = zend_string_init("left", sizeof("left") - 1, 1);
	zend_declare_typed_property(class_entry, property_left_name, &property_left_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_left_name);

	zval property_opened_default_value;
	ZVAL_UNDEF(&property_opened_default_value);
	zend_string *property_opened_name = zend_string_init("opened", sizeof("opened") - 1, 1);
	zend_declare_typed_property(class_entry, property_opened_name, &property_opened_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_opened_name);

	zval property_closes_default_value;
	ZVAL_UNDEF(&property_closes_default_value);
	zend_string *property_closes_name = zend_string_init("closes", sizeof("closes") - 1, 1);
	zend_declare_typed_property(class_entry, property_closes_name, &property_closes_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_closes_name);

	zval property_ended_default_value;
	ZVAL_UNDEF(&property_ended_default_value);
	zend_string *property_ended_name = zend_string_init("ended", sizeof("ended") - 1, 1);
	zend_declare_typed_property(class_entry, property_ended_name, &property_ended_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_ended_name);

	zval property_now_default_value;
	ZVAL_UNDEF(&property_now_default_value);
	zend_string *property_now_name = zend_string_init("now", sizeof("now") - 1, 1);
	zend_declare_typed_property(class_entry, property_now_name, &property_now_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_now_name);

	zval property_thenId_default_value;
	ZVAL_UNDEF(&property_thenId_default_value);
	zend_string *property_thenId_name = zend_string_init("thenId", sizeof("thenId") - 1, 1);
	zend_declare_typed_property(class_entry, property_thenId_name, &property_thenId_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_thenId_name);

	zval property_thenQueue_default_value;
	ZVAL_UNDEF(&property_thenQueue_default_value);
	zend_string *property_thenQueue_name = zend_string_init("thenQueue", sizeof("thenQueue") - 1, 1);
	zend_declare_typed_property(class_entry, property_thenQueue_name, &property_thenQueue_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_thenQueue_name);

	zval property_catchId_default_value;
	ZVAL_UNDEF(&property_catchId_default_value);
	zend_string *property_catchId_name = zend_string_init("catchId", sizeof("catchId") - 1, 1);
	zend_declare_typed_property(class_entry, property_catchId_name, &property_catchId_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_catchId_name);

	zval property_catchQueue_default_value;
	ZVAL_UNDEF(&property_catchQueue_default_value);
	zend_string *property_catchQueue_name = zend_string_init("catchQueue", sizeof("catchQueue") - 1, 1);
	zend_declare_typed_property(class_entry, property_catchQueue_name, &property_catchQueue_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_catchQueue_name);

	zval property_finallyId_default_value;
	ZVAL_UNDEF(&property_finallyId_default_value);
	zend_string *property_finallyId_name = zend_string_init("finallyId", sizeof("finallyId") - 1, 1);
	zend_declare_typed_property(class_entry, property_finallyId_name, &property_finallyId_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_finallyId_name);

	zval property_finallyQueue_default_value;
	ZVAL_UNDEF(&property_finallyQueue_default_value);
	zend_string *property_finallyQueue_name = zend_string_init("finallyQueue", sizeof("finallyQueue") - 1, 1);
	zend_declare_typed_property(class_entry, property_finallyQueue_name, &property_finallyQueue_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_finallyQueue_name);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Group(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "Group", class_Dueq_Group_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_name_default_value;
	ZVAL_UNDEF(&property_name_default_value);
	zend_string *property_name_name = zend_string_init("name", sizeof("name") - 1, 1);
	zend_declare_typed_property(class_entry, property_name_name, &property_name_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_name_name);

	zval property_waiting_default_value;
	ZVAL_UNDEF(&property_waiting_default_value);
	zend_string *property_waiting_name = zend_string_init("waiting", sizeof("waiting") - 1, 1);
	zend_declare_typed_property(class_entry, property_waiting_name, &property_waiting_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_waiting_name);

	zval property_oldest_default_value;
	ZVAL_UNDEF(&property_oldest_default_value);
	zend_string *property_oldest_name = zend_string_init("oldest", sizeof("oldest") - 1, 1);
	zend_declare_typed_property(class_entry, property_oldest_name, &property_oldest_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_oldest_name);

	zval property_leased_default_value;
	ZVAL_UNDEF(&property_leased_default_value);
	zend_string *property_leased_name = zend_string_init("leased", sizeof("leased") - 1, 1);
	zend_declare_typed_property(class_entry, property_leased_name, &property_leased_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_leased_name);

	zval property_servedPerMinute_default_value;
	ZVAL_UNDEF(&property_servedPerMinute_default_value);
	zend_string *property_servedPerMinute_name = zend_string_init("servedPerMinute", sizeof("servedPerMinute") - 1, 1);
	zend_declare_typed_property(class_entry, property_servedPerMinute_name, &property_servedPerMinute_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_servedPerMinute_name);

	zval property_now_default_value;
	ZVAL_UNDEF(&property_now_default_value);
	zend_string *property_now_name = zend_string_init("now", sizeof("now") - 1, 1);
	zend_declare_typed_property(class_entry, property_now_name, &property_now_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_now_name);

	zval property_atLimit_default_value;
	ZVAL_UNDEF(&property_atLimit_default_value);
	zend_string *property_atLimit_name = zend_string_init("atLimit", sizeof("atLimit") - 1, 1);
	zend_declare_typed_property(class_entry, property_atLimit_name, &property_atLimit_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_atLimit_name);

	zval property_heldUntil_default_value;
	ZVAL_UNDEF(&property_heldUntil_default_value);
	zend_string *property_heldUntil_name = zend_string_init("heldUntil", sizeof("heldUntil") - 1, 1);
	zend_declare_typed_property(class_entry, property_heldUntil_name, &property_heldUntil_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_heldUntil_name);

	zval property_holder_default_value;
	ZVAL_UNDEF(&property_holder_default_value);
	zend_string *property_holder_name = zend_string_init("holder", sizeof("holder") - 1, 1);
	zend_declare_typed_property(class_entry, property_holder_name, &property_holder_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_holder_name);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Redisson_Codec(void)
{
	zend_class_entry *class_entry = zend_register_internal_enum("Dueq\\Redisson\\Codec", IS_STRING, class_Dueq_Redisson_Codec_methods);

	zval enum_case_Kryo5_value;
	zend_string *enum_case_Kryo5_value_str = zend_string_init("kryo5", strlen("kryo5"), 1);
	ZVAL_STR(&enum_case_Kryo5_value, enum_case_Kryo5_value_str);
	zend_enum_add_case_cstr(class_entry, "Kryo5", &enum_case_Kryo5_value);

	zval enum_case_Bytes_value;
	zend_string *enum_case_Bytes_value_str = zend_string_init("bytes", strlen("bytes"), 1);
	ZVAL_STR(&enum_case_Bytes_value, enum_case_Bytes_value_str);
	zend_enum_add_case_cstr(class_entry, "Bytes", &enum_case_Bytes_value);

	zval enum_case_String_value;
	zend_string *enum_case_String_value_str = zend_string_init("string", strlen("string"), 1);
	ZVAL_STR(&enum_case_String_value, enum_case_String_value_str);
	zend_enum_add_case_cstr(class_entry, "String", &enum_case_String_value);

	zval enum_case_Long_value;
	zend_string *enum_case_Long_value_str = zend_string_init("long", strlen("long"), 1);
	ZVAL_STR(&enum_case_Long_value, enum_case_Long_value_str);
	zend_enum_add_case_cstr(class_entry, "Long", &enum_case_Long_value);

	zval enum_case_Jackson_value;
	zend_string *enum_case_Jackson_value_str = zend_string_init("jackson", strlen("jackson"), 1);
	ZVAL_STR(&enum_case_Jackson_value, enum_case_Jackson_value_str);
	zend_enum_add_case_cstr(class_entry, "Jackson", &enum_case_Jackson_value);

	zval enum_case_TypedJson_value;
	zend_string *enum_case_TypedJson_value_str = zend_string_init("typed json", strlen("typed json"), 1);
	ZVAL_STR(&enum_case_TypedJson_value, enum_case_TypedJson_value_str);
	zend_enum_add_case_cstr(class_entry, "TypedJson", &enum_case_TypedJson_value);

	zval enum_case_Jackson3_value;
	zend_string *enum_case_Jackson3_value_str = zend_string_init("jackson3", strlen("jackson3"), 1);
	ZVAL_STR(&enum_case_Jackson3_value, enum_case_Jackson3_value_str);
	zend_enum_add_case_cstr(class_entry, "Jackson3", &enum_case_Jackson3_value);

	zval enum_case_TypedJson3_value;
	zend_string *enum_case_TypedJson3_value_str = zend_string_init("typed json3", strlen("typed json3"), 1);
	ZVAL_STR(&enum_case_TypedJson3_value, enum_case_TypedJson3_value_str);
	zend_enum_add_case_cstr(class_entry, "TypedJson3", &enum_case_TypedJson3_value);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Redisson_Layout(void)
{
	zend_class_entry *class_entry = zend_register_internal_enum("Dueq\\Redisson\\Layout", IS_STRING, class_Dueq_Redisson_Layout_methods);

	zval enum_case_New_value;
	zend_string *enum_case_New_value_str = zend_string_init("new", strlen("new"), 1);
	ZVAL_STR(&enum_case_New_value, enum_case_New_value_str);
	zend_enum_add_case_cstr(class_entry, "New", &enum_case_New_value);

	zval enum_case_Old_value;
	zend_string *enum_case_Old_value_str = zend_string_init("old", strlen("old"), 1);
	ZVAL_STR(&enum_case_Old_value, enum_case_Old_value_str);
	zend_enum_add_case_cstr(class_entry, "Old", &enum_case_Old_value);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Redisson_DelayedQueue(zend_class_entry *class_entry_Countable)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Redisson", "DelayedQueue", class_Dueq_Redisson_DelayedQueue_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Countable);

	zval property_destination_default_value;
	ZVAL_UNDEF(&property_destination_default_value);
	zend_string *property_destination_name = zend_string_init("destination", sizeof("destination") - 1, 1);
	zend_declare_typed_property(class_entry, property_destination_name, &property_destination_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_destination_name);

	zend_string *property_codec_class_Dueq_Redisson_Codec = zend_string_init("Dueq\\Redisson\\Codec", sizeof("Dueq\\Redisson\\Codec")-1, 1);
	zval property_codec_default_value;
	ZVAL_UNDEF(&property_codec_default_value);
	zend_string *property_codec_name = zend_string_init("codec", sizeof("codec") - 1, 1);
	zend_declare_typed_property(class_entry, property_codec_name, &property_codec_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_codec_class_Dueq_Redisson_Codec, 0, 0));
	zend_string_release(property_codec_name);

	zend_string *property_layout_class_Dueq_Redisson_Layout = zend_string_init("Dueq\\Redisson\\Layout", sizeof("Dueq\\Redisson\\Layout")-1, 1);
	zval property_layout_default_value;
	ZVAL_UNDEF(&property_layout_default_value);
	zend_string *property_layout_name = zend_string_init("layout", sizeof("layout") - 1, 1);
	zend_declare_typed_property(class_entry, property_layout_name, &property_layout_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_layout_class_Dueq_Redisson_Layout, 0, MAY_BE_NULL));
	zend_string_release(property_layout_name);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 1, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Redisson_Long(zend_class_entry *class_entry_JsonSerializable)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Redisson", "Long", class_Dueq_Redisson_Long_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_JsonSerializable);

	zval property_value_default_value;
	ZVAL_UNDEF(&property_value_default_value);
	zend_string *property_value_name = zend_string_init("value", sizeof("value") - 1, 1);
	zend_declare_typed_property(class_entry, property_value_name, &property_value_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_value_name);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Redisson_Binary(zend_class_entry *class_entry_JsonSerializable)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Redisson", "Binary", class_Dueq_Redisson_Binary_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_JsonSerializable);

	zval property_bytes_default_value;
	ZVAL_UNDEF(&property_bytes_default_value);
	zend_string *property_bytes_name = zend_string_init("bytes", sizeof("bytes") - 1, 1);
	zend_declare_typed_property(class_entry, property_bytes_name, &property_bytes_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_bytes_name);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Redisson_Unreadable(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Redisson", "Unreadable", class_Dueq_Redisson_Unreadable_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_raw_default_value;
	ZVAL_UNDEF(&property_raw_default_value);
	zend_string *property_raw_name = zend_string_init("raw", sizeof("raw") - 1, 1);
	zend_declare_typed_property(class_entry, property_raw_name, &property_raw_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_raw_name);

	zval property_reason_default_value;
	ZVAL_UNDEF(&property_reason_default_value);
	zend_string *property_reason_name = zend_string_init("reason", sizeof("reason") - 1, 1);
	zend_declare_typed_property(class_entry, property_reason_name, &property_reason_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_reason_name);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Laravel_Queue(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Laravel", "Queue", class_Dueq_Laravel_Queue_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_name_default_value;
	ZVAL_UNDEF(&property_name_default_value);
	zend_string *property_name_name = zend_string_init("name", sizeof("name") - 1, 1);
	zend_declare_typed_property(class_entry, property_name_name, &property_name_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_name_name);

	zval property_prefix_default_value;
	ZVAL_UNDEF(&property_prefix_default_value);
	zend_string *property_prefix_name = zend_string_init("prefix", sizeof("prefix") - 1, 1);
	zend_declare_typed_property(class_entry, property_prefix_name, &property_prefix_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_prefix_name);

	zval property_retryAfter_default_value;
	ZVAL_UNDEF(&property_retryAfter_default_value);
	zend_string *property_retryAfter_name = zend_string_init("retryAfter", sizeof("retryAfter") - 1, 1);
	zend_declare_typed_property(class_entry, property_retryAfter_name, &property_retryAfter_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_retryAfter_name);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 1, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Laravel_Job(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Laravel", "Job", class_Dueq_Laravel_Job_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_payload_default_value;
	ZVAL_UNDEF(&property_payload_default_value);
	zend_string *property_payload_name = zend_string_init("payload", sizeof("payload") - 1, 1);
	zend_declare_typed_property(class_entry, property_payload_name, &property_payload_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_payload_name);

	zval property_reserved_default_value;
	ZVAL_UNDEF(&property_reserved_default_value);
	zend_string *property_reserved_name = zend_string_init("reserved", sizeof("reserved") - 1, 1);
	zend_declare_typed_property(class_entry, property_reserved_name, &property_reserved_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_reserved_name);

	zval property_id_default_value;
	ZVAL_UNDEF(&property_id_default_value);
	zend_string *property_id_name = zend_string_init("id", sizeof("id") - 1, 1);
	zend_declare_typed_property(class_entry, property_id_name, &property_id_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_id_name);

	zval property_uuid_default_value;
	ZVAL_UNDEF(&property_uuid_default_value);
	zend_string *property_uuid_name = zend_string_init("uuid", sizeof("uuid") - 1, 1);
	zend_declare_typed_property(class_entry, property_uuid_name, &property_uuid_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_uuid_name);

	zval property_name_default_value;
	ZVAL_UNDEF(&property_name_default_value);
	zend_string *property_name_name = zend_string_init("name", sizeof("name") - 1, 1);
	zend_declare_typed_property(class_entry, property_name_name, &property_name_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_name_name);

	zval property_data_default_value;
	ZVAL_UNDEF(&property_data_default_value);
	zend_string *property_data_name = zend_string_init("data", sizeof("data") - 1, 1);
	zend_declare_typed_property(class_entry, property_data_name, &property_data_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ANY));
	zend_string_release(property_data_name);

	zval property_displayName_default_value;
	ZVAL_UNDEF(&property_displayName_default_value);
	zend_string *property_displayName_name = zend_string_init("displayName", sizeof("displayName") - 1, 1);
	zend_declare_typed_property(class_entry, property_displayName_name, &property_displayName_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_displayName_name);

	zval property_attempts_default_value;
	ZVAL_UNDEF(&property_attempts_default_value);
	zend_string *property_attempts_name = zend_string_init("attempts", sizeof("attempts") - 1, 1);
	zend_declare_typed_property(class_entry, property_attempts_name, &property_attempts_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_attempts_name);

	zval property_maxTries_default_value;
	ZVAL_UNDEF(&property_maxTries_default_value);
	zend_string *property_maxTries_name = zend_string_init("maxTries", sizeof("maxTries") - 1, 1);
	zend_declare_typed_property(class_entry, property_maxTries_name, &property_maxTries_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_maxTries_name);

	zval property_timeout_default_value;
	ZVAL_UNDEF(&property_timeout_default_value);
	zend_string *property_timeout_name = zend_string_init("timeout", sizeof("timeout") - 1, 1);
	zend_declare_typed_property(class_entry, property_timeout_name, &property_timeout_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_timeout_name);

	zval property_backoff_default_value;
	ZVAL_UNDEF(&property_backoff_default_value);
	zend_string *property_backoff_name = zend_string_init("backoff", sizeof("backoff") - 1, 1);
	zend_declare_typed_property(class_entry, property_backoff_name, &property_backoff_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_backoff_name);

	zval property_retryUntil_default_value;
	ZVAL_UNDEF(&property_retryUntil_default_value);
	zend_string *property_retryUntil_name = zend_string_init("retryUntil", sizeof("retryUntil") - 1, 1);
	zend_declare_typed_property(class_entry, property_retryUntil_name, &property_retryUntil_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_retryUntil_name);

	zval property_until_default_value;
	ZVAL_UNDEF(&property_until_default_value);
	zend_string *property_until_name = zend_string_init("until", sizeof("until") - 1, 1);
	zend_declare_typed_property(class_entry, property_until_name, &property_until_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_until_name);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Interop_Moved(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Interop", "Moved", class_Dueq_Interop_Moved_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_moved_default_value;
	ZVAL_UNDEF(&property_moved_default_value);
	zend_string *property_moved_name = zend_string_init("moved", sizeof("moved") - 1, 1);
	zend_declare_typed_property(class_entry, property_moved_name, &property_moved_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_moved_name);

	zval property_quarantined_default_value;
	ZVAL_UNDEF(&property_quarantined_default_value);
	zend_string *property_quarantined_name = zend_string_init("quarantined", sizeof("quarantined") - 1, 1);
	zend_declare_typed_property(class_entry, property_quarantined_name, &property_quarantined_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_quarantined_name);

	zval property_next_default_value;
	ZVAL_UNDEF(&property_next_default_value);
	zend_string *property_next_name = zend_string_init("next", sizeof("next") - 1, 1);
	zend_declare_typed_property(class_entry, property_next_name, &property_next_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_next_name);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Interop_Sizes(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Interop", "Sizes", class_Dueq_Interop_Sizes_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_ready_default_value;
	ZVAL_UNDEF(&property_ready_default_value);
	zend_string *property_ready_name = zend_string_init("ready", sizeof("ready") - 1, 1);
	zend_declare_typed_property(class_entry, property_ready_name, &property_ready_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_ready_name);

	zval property_delayed_default_value;
	ZVAL_UNDEF(&property_delayed_default_value);
	zend_string *property_delayed_name = zend_string_init("delayed", sizeof("delayed") - 1, 1);
	zend_declare_typed_property(class_entry, property_delayed_name, &property_delayed_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_delayed_name);

	zval property_reserved_default_value;
	ZVAL_UNDEF(&property_reserved_default_value);
	zend_string *property_reserved_name = zend_string_init("reserved", sizeof("reserved") - 1, 1);
	zend_declare_typed_property(class_entry, property_reserved_name, &property_reserved_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_reserved_name);

	zval property_quarantined_default_value;
	ZVAL_UNDEF(&property_quarantined_default_value);
	zend_string *property_quarantined_name = zend_string_init("quarantined", sizeof("quarantined") - 1, 1);
	zend_declare_typed_property(class_entry, property_quarantined_name, &property_quarantined_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_quarantined_name);

	zval property_next_default_value;
	ZVAL_UNDEF(&property_next_default_value);
	zend_string *property_next_name = zend_string_init("next", sizeof("next") - 1, 1);
	zend_declare_typed_property(class_entry, property_next_name, &property_next_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_next_name);

	zval property_now_default_value;
	ZVAL_UNDEF(&property_now_default_value);
	zend_string *property_now_name = zend_string_init("now", sizeof("now") - 1, 1);
	zend_declare_typed_property(class_entry, property_now_name, &property_now_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_now_name);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_DueqException(zend_class_entry *class_entry_Throwable)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "DueqException", class_Dueq_Exception_DueqException_methods);
	class_entry = zend_register_internal_interface(&ce);
	zend_class_implements(class_entry, 1, class_entry_Throwable);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_RuntimeException(zend_class_entry *class_entry_RuntimeException, zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "RuntimeException", class_Dueq_Exception_RuntimeException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_RuntimeException);
	zend_class_implements(class_entry, 1, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_InvalidException(zend_class_entry *class_entry_InvalidArgumentException, zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "InvalidException", class_Dueq_Exception_InvalidException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_InvalidArgumentException);
	zend_class_implements(class_entry, 1, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_FlushException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "FlushException", class_Dueq_Exception_FlushException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	zval property_failures_default_value;
	ZVAL_EMPTY_ARRAY(&property_failures_default_value);
	zend_string *property_failures_name = zend_string_init("failures", sizeof("failures") - 1, 1);
	zend_declare_typed_property(class_entry, property_failures_name, &property_failures_default_value, ZEND_ACC_PUBLIC, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_failures_name);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_DuplicateException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "DuplicateException", class_Dueq_Exception_DuplicateException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_LeaseLostException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "LeaseLostException", class_Dueq_Exception_LeaseLostException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_NotFoundException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "NotFoundException", class_Dueq_Exception_NotFoundException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_NameException(zend_class_entry *class_entry_Dueq_Exception_InvalidException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "NameException", class_Dueq_Exception_NameException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_InvalidException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_UrlException(zend_class_entry *class_entry_Dueq_Exception_InvalidException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "UrlException", class_Dueq_Exception_UrlException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_InvalidException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_TooLargeException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "TooLargeException", class_Dueq_Exception_TooLargeException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_NoMemoryException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "NoMemoryException", class_Dueq_Exception_NoMemoryException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_InUseException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "InUseException", class_Dueq_Exception_InUseException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_ConnectException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "ConnectException", class_Dueq_Exception_ConnectException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_ClosedException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "ClosedException", class_Dueq_Exception_ClosedException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_TimeoutException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "TimeoutException", class_Dueq_Exception_TimeoutException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_TlsException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "TlsException", class_Dueq_Exception_TlsException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_EmbeddedException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "EmbeddedException", class_Dueq_Exception_EmbeddedException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_AuthException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "AuthException", class_Dueq_Exception_AuthException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_DeniedException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "DeniedException", class_Dueq_Exception_DeniedException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_DatabaseException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "DatabaseException", class_Dueq_Exception_DatabaseException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_LoadingException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "LoadingException", class_Dueq_Exception_LoadingException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_ReadonlyException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "ReadonlyException", class_Dueq_Exception_ReadonlyException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_FullException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "FullException", class_Dueq_Exception_FullException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_BusyException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "BusyException", class_Dueq_Exception_BusyException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_WrongTypeException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "WrongTypeException", class_Dueq_Exception_WrongTypeException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_CorruptException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "CorruptException", class_Dueq_Exception_CorruptException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	zval property_raw_default_value;
	ZVAL_NULL(&property_raw_default_value);
	zend_string *property_raw_name = zend_string_init("raw", sizeof("raw") - 1, 1);
	zend_declare_typed_property(class_entry, property_raw_name, &property_raw_default_value, ZEND_ACC_PUBLIC, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_raw_name);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_UnsupportedException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "UnsupportedException", class_Dueq_Exception_UnsupportedException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_ServerException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "ServerException", class_Dueq_Exception_ServerException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_ProtocolException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "ProtocolException", class_Dueq_Exception_ProtocolException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_LayoutException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "LayoutException", class_Dueq_Exception_LayoutException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_UnavailableException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "UnavailableException", class_Dueq_Exception_UnavailableException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_BacklogException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "BacklogException", class_Dueq_Exception_BacklogException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	zval property_ids_default_value;
	ZVAL_EMPTY_ARRAY(&property_ids_default_value);
	zend_string *property_ids_name = zend_string_init("ids", sizeof("ids") - 1, 1);
	zend_declare_typed_property(class_entry, property_ids_name, &property_ids_default_value, ZEND_ACC_PUBLIC, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_ids_name);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_NotDurableException(zend_class_entry *class_entry_Dueq_Exception_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "NotDurableException", class_Dueq_Exception_NotDurableException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_RuntimeException);

	zval property_ids_default_value;
	ZVAL_EMPTY_ARRAY(&property_ids_default_value);
	zend_string *property_ids_name = zend_string_init("ids", sizeof("ids") - 1, 1);
	zend_declare_typed_property(class_entry, property_ids_name, &property_ids_default_value, ZEND_ACC_PUBLIC, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_ids_name);

	zval property_replicas_default_value;
	ZVAL_LONG(&property_replicas_default_value, 0);
	zend_string *property_replicas_name = zend_string_init("replicas", sizeof("replicas") - 1, 1);
	zend_declare_typed_property(class_entry, property_replicas_name, &property_replicas_default_value, ZEND_ACC_PUBLIC, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_replicas_name);

	zval property_disk_default_value;
	ZVAL_FALSE(&property_disk_default_value);
	zend_string *property_disk_name = zend_string_init("disk", sizeof("disk") - 1, 1);
	zend_declare_typed_property(class_entry, property_disk_name, &property_disk_default_value, ZEND_ACC_PUBLIC, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_BOOL));
	zend_string_release(property_disk_name);

	return class_entry;
}
