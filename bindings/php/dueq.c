#include "interop/laravel/php_laravel.h"
#include "interop/redisson/php_redisson.h"

#include "php_ini.h"

#include "ext/standard/info.h"
#include "zend_attributes.h"
#include "zend_enum.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"

#include "ext/json/php_json.h"
#include "ext/spl/spl_exceptions.h"

#include "dueq_arginfo.h"

/* Made from core/options.toml by core/verbs.py: the defaults of a push. */
_Static_assert(DUEQ_DEFAULT_ATTEMPTS == 16, "the stub names this default of push()");
_Static_assert(DUEQ_DEFAULT_CRASHES == 5, "the stub names this default of push()");
/* The end of what was made. */

/* Made from core/options.toml by core/verbs.py: the defaults of consume. */
_Static_assert(DUEQ_MAX_RUN_MS == 3600000, "the stub names this default of consume()");
/* The end of what was made. */

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
zend_class_entry *dueq_php_limits_ce;
zend_class_entry *dueq_php_group_limits_ce;
zend_class_entry *dueq_php_worker_ce;
zend_class_entry *dueq_php_lease_ce;
zend_class_entry *dueq_php_failure_ce;
zend_class_entry *dueq_php_end_ce;
zend_class_entry *dueq_php_batch_status_ce;
zend_class_entry *dueq_php_group_ce;
zend_class_entry *dueq_php_redisson_queue_ce;
zend_class_entry *dueq_php_laravel_queue_ce;
zend_class_entry *dueq_php_laravel_job_ce;
zend_class_entry *dueq_php_moved_ce;
zend_class_entry *dueq_php_sizes_ce;
zend_class_entry *dueq_php_redisson_long_ce;
zend_class_entry *dueq_php_redisson_binary_ce;
zend_class_entry *dueq_php_redisson_unreadable_ce;
zend_class_entry *dueq_php_corrupt_ce;
zend_class_entry *dueq_php_flush_ce;

static void register_enums(void) {
    dueq_php_state.ce = register_class_Dueq_State();
    dueq_php_order.ce = register_class_Dueq_Order();
    dueq_php_replace.ce = register_class_Dueq_Replace();
    dueq_php_backoff_kind.ce = register_class_Dueq_BackoffKind();
    dueq_php_jitter.ce = register_class_Dueq_Jitter();
    dueq_php_catch_up.ce = register_class_Dueq_CatchUp();
    dueq_php_failure_kind.ce = register_class_Dueq_FailureKind();
    dueq_php_codec.ce = register_class_Dueq_Redisson_Codec();
    dueq_php_layout.ce = register_class_Dueq_Redisson_Layout();
}

/*
 * A class that a method returns must be registered before the method's class, as PHP then checks
 * the return type against that of the interface.
 */
static void register_classes(void) {
    dueq_php_finding_ce = register_class_Dueq_Finding();
    dueq_php_rate_ce = register_class_Dueq_Rate();
    dueq_php_stats_ce = register_class_Dueq_Stats();
    dueq_php_limits_ce = register_class_Dueq_Limits();
    dueq_php_group_limits_ce = register_class_Dueq_GroupLimits();
    dueq_php_worker_ce = register_class_Dueq_WorkerInfo();
    dueq_php_lease_ce = register_class_Dueq_Lease();
    dueq_php_failure_ce = register_class_Dueq_Failure();
    dueq_php_end_ce = register_class_Dueq_End();
    dueq_php_batch_status_ce = register_class_Dueq_BatchStatus();
    dueq_php_group_ce = register_class_Dueq_Group();
    dueq_php_backoff_ce = register_class_Dueq_Backoff();
    dueq_php_pending_ce = register_class_Dueq_Pending();
    dueq_php_messages_ce = register_class_Dueq_Messages(zend_ce_iterator);
    dueq_php_message_ce = register_class_Dueq_Message(register_class_Dueq_MessageInterface());
    dueq_php_lock_ce = register_class_Dueq_Lock(register_class_Dueq_LockInterface());
    dueq_php_pusher_ce = register_class_Dueq_Pusher(register_class_Dueq_PusherInterface());
    dueq_php_consumer_ce = register_class_Dueq_Consumer(
        zend_ce_aggregate, register_class_Dueq_ConsumerInterface(zend_ce_aggregate));
    dueq_php_queue_ce = register_class_Dueq_Queue(
        zend_ce_aggregate, register_class_Dueq_QueueInterface(zend_ce_aggregate));
    dueq_php_queues_ce = register_class_Dueq_Queues(zend_ce_aggregate);
    dueq_php_client_ce = register_class_Dueq_Client(register_class_Dueq_ClientInterface());
    dueq_php_backoff_startup();
    dueq_php_client_startup();
    dueq_php_consumer_startup();
    dueq_php_delivery_startup();
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
    zend_class_entry *all = register_class_Dueq_Exception_DueqException(zend_ce_throwable);
    zend_class_entry *invalid =
        register_class_Dueq_Exception_InvalidException(spl_ce_InvalidArgumentException, all);
    zend_class_entry *root =
        register_class_Dueq_Exception_RuntimeException(spl_ce_RuntimeException, all);

    register_class_Dueq_Exception_DuplicateException(root);
    register_class_Dueq_Exception_LeaseLostException(root);
    register_class_Dueq_Exception_NotFoundException(root);
    register_class_Dueq_Exception_NameException(invalid);
    register_class_Dueq_Exception_UrlException(invalid);
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
    register_class_Dueq_Exception_BacklogException(root);
    register_class_Dueq_Exception_NotDurableException(root);
    dueq_php_flush_ce = register_class_Dueq_Exception_FlushException(root);
}

ZEND_DECLARE_MODULE_GLOBALS(dueq)

PHP_INI_BEGIN()
STD_PHP_INI_BOOLEAN("dueq.persistent", "0", PHP_INI_ALL, OnUpdateBool, persistent,
                    zend_dueq_globals, dueq_globals)
PHP_INI_END()

/*
 * With threads: sets the address of this thread's globals, which EG() and CG() need in this
 * library.
 */
static void know_thread(void) {
#if defined(ZTS) && defined(COMPILE_DL_DUEQ)
    ZEND_TSRMLS_CACHE_UPDATE();
#endif
}

static PHP_GINIT_FUNCTION(dueq) {
    know_thread();
    memset(dueq_globals, 0, sizeof *dueq_globals);
}

static PHP_GSHUTDOWN_FUNCTION(dueq) { dueq_php_kept_close(&dueq_globals->kept); }

static PHP_MINIT_FUNCTION(dueq) {
    (void)type;
    know_thread();
    REGISTER_INI_ENTRIES();
    dueq_php_notice_startup();
    register_enums();
    register_classes();
    register_interop_classes();
    register_exceptions();
    return dueq_php_exception_startup();
}

static PHP_MSHUTDOWN_FUNCTION(dueq) {
    (void)type;
    UNREGISTER_INI_ENTRIES();
    return SUCCESS;
}

static PHP_RINIT_FUNCTION(dueq) {
    (void)type;
    (void)module_number;
    know_thread();
    dueq_php_kept_begin();
    return SUCCESS;
}

static PHP_RSHUTDOWN_FUNCTION(dueq) {
    (void)type;
    (void)module_number;
    dueq_php_delivery_shutdown();
    dueq_php_notice_shutdown();
    return SUCCESS;
}

static PHP_MINFO_FUNCTION(dueq) {
    php_info_print_table_start();
    php_info_print_table_row(2, "dueq", "enabled");
    php_info_print_table_row(2, "Version", dueq_version());
    php_info_print_table_row(2, "Servers", "Redis, Valkey (redis, rediss, unix, embedded)");
    php_info_print_table_end();
    display_ini_entries(zend_module);
}

zend_module_entry dueq_module_entry = {
    STANDARD_MODULE_HEADER,
    "dueq",
    NULL,
    PHP_MINIT(dueq),
    PHP_MSHUTDOWN(dueq),
    PHP_RINIT(dueq),
    PHP_RSHUTDOWN(dueq),
    PHP_MINFO(dueq),
    DUEQ_VERSION,
    PHP_MODULE_GLOBALS(dueq),
    PHP_GINIT(dueq),
    PHP_GSHUTDOWN(dueq),
    NULL,
    STANDARD_MODULE_PROPERTIES_EX,
};

#ifdef COMPILE_DL_DUEQ
#ifdef ZTS
ZEND_TSRMLS_CACHE_DEFINE()
#endif
ZEND_GET_MODULE(dueq)
#endif
