#include "interop/laravel/php_laravel.h"
#include "interop/redisson/php_redisson.h"

#include "ext/standard/info.h"
#include "zend_attributes.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"

#include "ext/json/php_json.h"
#include "ext/spl/spl_exceptions.h"

#include "dueq_arginfo.h"

_Static_assert(DUEQ_DEFAULT_ATTEMPTS == 16, "the stub names this default of Queue::push()");
_Static_assert(DUEQ_MAX_RUN_MS == 3600000, "the stub names this default of Queue::consume()");
_Static_assert(DUEQ_DEFAULT_CRASHES == 5, "the stub names this default of Queue::push()");

zend_class_entry *dueq_php_backoff_ce;
zend_class_entry *dueq_php_client_ce;
zend_class_entry *dueq_php_consumer_ce;
zend_class_entry *dueq_php_lock_ce;
zend_class_entry *dueq_php_message_ce;
zend_class_entry *dueq_php_messages_ce;
zend_class_entry *dueq_php_pending_ce;
zend_class_entry *dueq_php_pusher_ce;
zend_class_entry *dueq_php_queue_ce;
zend_class_entry *dueq_php_queues_ce;
zend_class_entry *dueq_php_finding_ce;
zend_class_entry *dueq_php_rate_ce;
zend_class_entry *dueq_php_stats_ce;
zend_class_entry *dueq_php_redisson_queue_ce;
zend_class_entry *dueq_php_laravel_queue_ce;
zend_class_entry *dueq_php_laravel_job_ce;
zend_class_entry *dueq_php_moved_ce;
zend_class_entry *dueq_php_sizes_ce;
zend_class_entry *dueq_php_redisson_long_ce;
zend_class_entry *dueq_php_redisson_binary_ce;
zend_class_entry *dueq_php_redisson_unreadable_ce;
zend_class_entry *dueq_php_corrupt_ce;

static void register_classes(void) {
    dueq_php_backoff_ce = register_class_Dueq_Backoff();
    dueq_php_client_ce = register_class_Dueq_Client();
    dueq_php_consumer_ce = register_class_Dueq_Consumer(zend_ce_aggregate);
    dueq_php_lock_ce = register_class_Dueq_Lock();
    dueq_php_message_ce = register_class_Dueq_Message();
    dueq_php_messages_ce = register_class_Dueq_Messages(zend_ce_iterator);
    dueq_php_pending_ce = register_class_Dueq_Pending();
    dueq_php_pusher_ce = register_class_Dueq_Pusher();
    dueq_php_queue_ce = register_class_Dueq_Queue();
    dueq_php_queues_ce = register_class_Dueq_Queues();
    dueq_php_finding_ce = register_class_Dueq_Finding();
    dueq_php_rate_ce = register_class_Dueq_Rate();
    dueq_php_stats_ce = register_class_Dueq_Stats();
    dueq_php_backoff_startup();
    dueq_php_client_startup();
    dueq_php_consumer_startup();
    dueq_php_lock_startup();
    dueq_php_message_startup();
    dueq_php_messages_startup();
    dueq_php_pending_startup();
    dueq_php_pusher_startup();
    dueq_php_queue_startup();
    dueq_php_queues_startup();
}

static void register_interop_classes(void) {
    dueq_php_redisson_queue_ce = register_class_Dueq_Redisson_DelayedQueue(zend_ce_countable);
    dueq_php_laravel_queue_ce = register_class_Dueq_Laravel_Queue();
    dueq_php_laravel_job_ce = register_class_Dueq_Laravel_Job();
    dueq_php_moved_ce = register_class_Dueq_Interop_Moved();
    dueq_php_sizes_ce = register_class_Dueq_Interop_Sizes();
    dueq_php_redisson_long_ce = register_class_Dueq_Redisson_Long(php_json_serializable_ce);
    dueq_php_redisson_binary_ce = register_class_Dueq_Redisson_Binary(php_json_serializable_ce);
    dueq_php_redisson_unreadable_ce = register_class_Dueq_Redisson_Unreadable();
    dueq_php_redisson_startup();
    dueq_php_laravel_startup();
    dueq_php_job_startup();
}

static void register_exceptions(void) {
    zend_class_entry *root = register_class_Dueq_Exception_DueqException(spl_ce_RuntimeException);

    register_class_Dueq_Exception_DuplicateException(root);
    register_class_Dueq_Exception_LeaseLostException(root);
    register_class_Dueq_Exception_InvalidException(root);
    register_class_Dueq_Exception_NameException(root);
    register_class_Dueq_Exception_UrlException(root);
    register_class_Dueq_Exception_TooLargeException(root);
    register_class_Dueq_Exception_NoMemoryException(root);
    register_class_Dueq_Exception_InUseException(root);
    register_class_Dueq_Exception_ConnectException(root);
    register_class_Dueq_Exception_ClosedException(root);
    register_class_Dueq_Exception_TimeoutException(root);
    register_class_Dueq_Exception_TlsException(root);
    register_class_Dueq_Exception_EmbeddedException(root);
    register_class_Dueq_Exception_AuthException(root);
    register_class_Dueq_Exception_DeniedException(root);
    register_class_Dueq_Exception_DatabaseException(root);
    register_class_Dueq_Exception_LoadingException(root);
    register_class_Dueq_Exception_ReadonlyException(root);
    register_class_Dueq_Exception_FullException(root);
    register_class_Dueq_Exception_BusyException(root);
    register_class_Dueq_Exception_WrongTypeException(root);
    dueq_php_corrupt_ce = register_class_Dueq_Exception_CorruptException(root);
    register_class_Dueq_Exception_UnsupportedException(root);
    register_class_Dueq_Exception_ServerException(root);
    register_class_Dueq_Exception_ProtocolException(root);
    register_class_Dueq_Exception_LayoutException(root);
    register_class_Dueq_Exception_UnavailableException(root);
}

/* With threads, the address of this thread's globals, which EG() and CG() need in this library. */
static void know_thread(void) {
#if defined(ZTS) && defined(COMPILE_DL_DUEQ)
    ZEND_TSRMLS_CACHE_UPDATE();
#endif
}

static PHP_MINIT_FUNCTION(dueq) {
    (void)type;
    (void)module_number;
    know_thread();
    register_classes();
    register_interop_classes();
    register_exceptions();
    return dueq_php_exception_startup();
}

static PHP_RINIT_FUNCTION(dueq) {
    (void)type;
    (void)module_number;
    know_thread();
    return SUCCESS;
}

static PHP_MINFO_FUNCTION(dueq) {
    (void)zend_module;
    php_info_print_table_start();
    php_info_print_table_row(2, "dueq", "enabled");
    php_info_print_table_row(2, "Version", dueq_version());
    php_info_print_table_row(2, "Servers", "Redis, Valkey (redis, rediss, unix, embedded)");
    php_info_print_table_end();
}

zend_module_entry dueq_module_entry = {
    STANDARD_MODULE_HEADER,
    "dueq",
    NULL,
    PHP_MINIT(dueq),
    NULL,
    PHP_RINIT(dueq),
    NULL,
    PHP_MINFO(dueq),
    DUEQ_VERSION,
    STANDARD_MODULE_PROPERTIES,
};

#ifdef COMPILE_DL_DUEQ
#ifdef ZTS
ZEND_TSRMLS_CACHE_DEFINE()
#endif
ZEND_GET_MODULE(dueq)
#endif
