/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: ec6b8836c67ded2afaed7d95caffe12f86a6f04b */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Dueq_Queue___construct, 0, 0, 1)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, url, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Queue_url, 0, 0, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Queue_newId arginfo_class_Dueq_Queue_url

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Queue_push, 0, 1, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, body, IS_STRING, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, delay, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, at, DateTimeInterface, MAY_BE_DOUBLE|MAY_BE_LONG|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, id, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, maxAttempts, IS_LONG, 1, "5")
	ZEND_ARG_OBJ_TYPE_MASK(0, lease, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, headers, IS_ARRAY, 0, "[]")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Queue_pushMany, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, messages, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_Queue_reserve, 0, 0, Dueq\\Message, 1)
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE, "0.0")
	ZEND_ARG_OBJ_TYPE_MASK(0, lease, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Queue_reserveMany, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, count, IS_LONG, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE, "0.0")
	ZEND_ARG_OBJ_TYPE_MASK(0, lease, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Queue_ackMany arginfo_class_Dueq_Queue_pushMany

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Queue_cancel, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, id, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Queue_cancelMany, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, ids, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_Queue_find, 0, 1, Dueq\\Message, 1)
	ZEND_ARG_TYPE_INFO(0, id, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Queue_kick arginfo_class_Dueq_Queue_cancel

#define arginfo_class_Dueq_Queue_kickMany arginfo_class_Dueq_Queue_cancelMany

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Queue_reschedule, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, id, IS_STRING, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, delay, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, at, DateTimeInterface, MAY_BE_DOUBLE|MAY_BE_LONG|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Queue_pause, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Queue_resume arginfo_class_Dueq_Queue_pause

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Queue_purge, 0, 1, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, state, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, progress, IS_CALLABLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dueq_Queue_stats, 0, 0, Dueq\\Stats, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Dueq_Message___construct, 0, 0, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Message_ack arginfo_class_Dueq_Queue_pause

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Message_retry, 0, 0, _IS_BOOL, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, delay, DateInterval, MAY_BE_DOUBLE, "0.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, error, IS_STRING, 0, "\"\"")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Message_extend, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, lease, DateInterval, MAY_BE_DOUBLE, NULL)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Message_bury, 0, 0, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, reason, IS_STRING, 0, "\"\"")
ZEND_END_ARG_INFO()

#define arginfo_class_Dueq_Stats___construct arginfo_class_Dueq_Message___construct

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dueq_Exception_DueqException_isRetriable, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()


ZEND_METHOD(Dueq_Queue, __construct);
ZEND_METHOD(Dueq_Queue, url);
ZEND_METHOD(Dueq_Queue, newId);
ZEND_METHOD(Dueq_Queue, push);
ZEND_METHOD(Dueq_Queue, pushMany);
ZEND_METHOD(Dueq_Queue, reserve);
ZEND_METHOD(Dueq_Queue, reserveMany);
ZEND_METHOD(Dueq_Queue, ackMany);
ZEND_METHOD(Dueq_Queue, cancel);
ZEND_METHOD(Dueq_Queue, cancelMany);
ZEND_METHOD(Dueq_Queue, find);
ZEND_METHOD(Dueq_Queue, kick);
ZEND_METHOD(Dueq_Queue, kickMany);
ZEND_METHOD(Dueq_Queue, reschedule);
ZEND_METHOD(Dueq_Queue, pause);
ZEND_METHOD(Dueq_Queue, resume);
ZEND_METHOD(Dueq_Queue, purge);
ZEND_METHOD(Dueq_Queue, stats);
ZEND_METHOD(Dueq_Message, __construct);
ZEND_METHOD(Dueq_Message, ack);
ZEND_METHOD(Dueq_Message, retry);
ZEND_METHOD(Dueq_Message, extend);
ZEND_METHOD(Dueq_Message, bury);
ZEND_METHOD(Dueq_Stats, __construct);
ZEND_METHOD(Dueq_Exception_DueqException, isRetriable);


static const zend_function_entry class_Dueq_Queue_methods[] = {
	ZEND_ME(Dueq_Queue, __construct, arginfo_class_Dueq_Queue___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, url, arginfo_class_Dueq_Queue_url, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, newId, arginfo_class_Dueq_Queue_newId, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, push, arginfo_class_Dueq_Queue_push, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, pushMany, arginfo_class_Dueq_Queue_pushMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, reserve, arginfo_class_Dueq_Queue_reserve, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, reserveMany, arginfo_class_Dueq_Queue_reserveMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, ackMany, arginfo_class_Dueq_Queue_ackMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, cancel, arginfo_class_Dueq_Queue_cancel, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, cancelMany, arginfo_class_Dueq_Queue_cancelMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, find, arginfo_class_Dueq_Queue_find, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, kick, arginfo_class_Dueq_Queue_kick, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, kickMany, arginfo_class_Dueq_Queue_kickMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, reschedule, arginfo_class_Dueq_Queue_reschedule, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, pause, arginfo_class_Dueq_Queue_pause, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, resume, arginfo_class_Dueq_Queue_resume, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, purge, arginfo_class_Dueq_Queue_purge, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Queue, stats, arginfo_class_Dueq_Queue_stats, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Message_methods[] = {
	ZEND_ME(Dueq_Message, __construct, arginfo_class_Dueq_Message___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Dueq_Message, ack, arginfo_class_Dueq_Message_ack, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Message, retry, arginfo_class_Dueq_Message_retry, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Message, extend, arginfo_class_Dueq_Message_extend, ZEND_ACC_PUBLIC)
	ZEND_ME(Dueq_Message, bury, arginfo_class_Dueq_Message_bury, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Stats_methods[] = {
	ZEND_ME(Dueq_Stats, __construct, arginfo_class_Dueq_Stats___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_DueqException_methods[] = {
	ZEND_ME(Dueq_Exception_DueqException, isRetriable, arginfo_class_Dueq_Exception_DueqException_isRetriable, ZEND_ACC_PUBLIC|ZEND_ACC_FINAL)
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_DuplicateException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_LeaseLostException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dueq_Exception_InvalidException_methods[] = {
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

static zend_class_entry *register_class_Dueq_Queue(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "Queue", class_Dueq_Queue_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

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

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Message(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq", "Message", class_Dueq_Message_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

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

	zval property_state_default_value;
	ZVAL_UNDEF(&property_state_default_value);
	zend_string *property_state_name = zend_string_init("state", sizeof("state") - 1, 1);
	zend_declare_typed_property(class_entry, property_state_name, &property_state_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_state_name);

	zval property_time_default_value;
	ZVAL_UNDEF(&property_time_default_value);
	zend_string *property_time_name = zend_string_init("time", sizeof("time") - 1, 1);
	zend_declare_typed_property(class_entry, property_time_name, &property_time_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_time_name);

	zval property_createdAt_default_value;
	ZVAL_UNDEF(&property_createdAt_default_value);
	zend_string *property_createdAt_name = zend_string_init("createdAt", sizeof("createdAt") - 1, 1);
	zend_declare_typed_property(class_entry, property_createdAt_name, &property_createdAt_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_createdAt_name);

	zval property_error_default_value;
	ZVAL_UNDEF(&property_error_default_value);
	zend_string *property_error_name = zend_string_init("error", sizeof("error") - 1, 1);
	zend_declare_typed_property(class_entry, property_error_name, &property_error_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_error_name);

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

	zval property_acked_default_value;
	ZVAL_UNDEF(&property_acked_default_value);
	zend_string *property_acked_name = zend_string_init("acked", sizeof("acked") - 1, 1);
	zend_declare_typed_property(class_entry, property_acked_name, &property_acked_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_acked_name);

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

	zval property_damaged_default_value;
	ZVAL_UNDEF(&property_damaged_default_value);
	zend_string *property_damaged_name = zend_string_init("damaged", sizeof("damaged") - 1, 1);
	zend_declare_typed_property(class_entry, property_damaged_name, &property_damaged_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_damaged_name);

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

	zval property_paused_default_value;
	ZVAL_UNDEF(&property_paused_default_value);
	zend_string *property_paused_name = zend_string_init("paused", sizeof("paused") - 1, 1);
	zend_declare_typed_property(class_entry, property_paused_name, &property_paused_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_BOOL));
	zend_string_release(property_paused_name);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_DueqException(zend_class_entry *class_entry_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "DueqException", class_Dueq_Exception_DueqException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_DuplicateException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "DuplicateException", class_Dueq_Exception_DuplicateException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_LeaseLostException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "LeaseLostException", class_Dueq_Exception_LeaseLostException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_InvalidException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "InvalidException", class_Dueq_Exception_InvalidException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_NameException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "NameException", class_Dueq_Exception_NameException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_UrlException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "UrlException", class_Dueq_Exception_UrlException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_TooLargeException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "TooLargeException", class_Dueq_Exception_TooLargeException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_NoMemoryException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "NoMemoryException", class_Dueq_Exception_NoMemoryException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_InUseException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "InUseException", class_Dueq_Exception_InUseException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_ConnectException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "ConnectException", class_Dueq_Exception_ConnectException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_ClosedException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "ClosedException", class_Dueq_Exception_ClosedException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_TimeoutException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "TimeoutException", class_Dueq_Exception_TimeoutException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_TlsException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "TlsException", class_Dueq_Exception_TlsException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_EmbeddedException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "EmbeddedException", class_Dueq_Exception_EmbeddedException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_AuthException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "AuthException", class_Dueq_Exception_AuthException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_DeniedException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "DeniedException", class_Dueq_Exception_DeniedException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_DatabaseException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "DatabaseException", class_Dueq_Exception_DatabaseException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_LoadingException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "LoadingException", class_Dueq_Exception_LoadingException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_ReadonlyException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "ReadonlyException", class_Dueq_Exception_ReadonlyException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_FullException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "FullException", class_Dueq_Exception_FullException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_BusyException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "BusyException", class_Dueq_Exception_BusyException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_WrongTypeException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "WrongTypeException", class_Dueq_Exception_WrongTypeException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_CorruptException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "CorruptException", class_Dueq_Exception_CorruptException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_UnsupportedException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "UnsupportedException", class_Dueq_Exception_UnsupportedException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_ServerException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "ServerException", class_Dueq_Exception_ServerException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}

static zend_class_entry *register_class_Dueq_Exception_ProtocolException(zend_class_entry *class_entry_Dueq_Exception_DueqException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dueq\\Exception", "ProtocolException", class_Dueq_Exception_ProtocolException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dueq_Exception_DueqException);

	return class_entry;
}
