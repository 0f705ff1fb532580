%fragment("raise_status", "header", fragment="objects") %{
/* Makes the exception of a status, with a text. NULL: making it failed, and raised another one. */
static PyObject *error_object(dueq_status status, const char *detail) {
    PyObject *errors = PyImport_ImportModule("dueq.errors");
    PyObject *text = PyUnicode_DecodeUTF8(detail, (Py_ssize_t)strlen(detail), "replace");
    PyObject *error = NULL;

    if (errors && text)
        error = PyObject_CallMethod(errors, "make", "iO", (int)status, text);
    Py_XDECREF(text);
    Py_XDECREF(errors);
    return error;
}

static int set(PyObject *object, const char *name, PyObject *value) {
    int failed = !value || PyObject_SetAttrString(object, name, value) < 0;

    Py_XDECREF(value);
    return failed;
}

/* The ids of the items `first` to `end` of a result. only_stored: None for one that is not OK. */
static PyObject *ids_object(const dueq_result *result, size_t first, size_t end, int only_stored) {
    PyObject *ids = PyTuple_New((Py_ssize_t)(end - first));

    for (size_t i = first; ids && i < end; i++) {
        PyObject *id = only_stored && dueq_result_status(result, i) != DUEQ_OK
                           ? Py_NewRef(Py_None)
                           : text_object(dueq_result_id(result, i));

        if (PyTuple_SetItem(ids, (Py_ssize_t)(i - first), id) < 0 || PyErr_Occurred())
            Py_CLEAR(ids);
    }
    return ids;
}

/*
 * Makes the exception of a call that stored the items `first` to `end` of the result. NULL: making
 * it failed, and raised another one.
 */
static PyObject *not_durable_object(const char *detail, const dueq_result *result, size_t first,
                                    size_t end) {
    PyObject *error = error_object(DUEQ_NOT_DURABLE, detail);

    if (!error || set(error, "ids", ids_object(result, first, end, 0)) ||
        set(error, "replicas", PyLong_FromLong(dueq_result_replicas(result))) ||
        set(error, "disk", PyBool_FromLong(dueq_result_disk(result))))
        Py_CLEAR(error);
    return error;
}

/* The same of a call that refused items of the result. */
static PyObject *backlog_object(const char *detail, const dueq_result *result) {
    PyObject *error = error_object(DUEQ_BACKLOG, detail);
    size_t first = dueq_result_first(result), end = dueq_result_count(result);

    if (!error || set(error, "ids", ids_object(result, first, end, 1)))
        Py_CLEAR(error);
    return error;
}

/*
 * Raises the exception of a failed call, with the client's error text and, for NOT_DURABLE and
 * BACKLOG, the stored items of the result.
 */
static void raise_result(const dueq_client *client, dueq_status status, const dueq_result *result) {
    const char *text = client ? dueq_error_text(client) : dueq_status_text(status);
    PyObject *error =
        status == DUEQ_NOT_DURABLE
            ? not_durable_object(text, result, dueq_result_first(result), dueq_result_count(result))
        : status == DUEQ_BACKLOG ? backlog_object(text, result)
                                 : error_object(status, text);

    if (error)
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
}

static void raise_status(const dueq_client *client, dueq_status status) {
    raise_result(client, status, NULL);
}

/* Logs a new warning of the client. Returns -1 if the program's logging raised an exception. */
static int log_warning(dueq_client *client) {
    const char *text = dueq_warning(client);
    PyObject *module = text ? PyImport_ImportModule("dueq._log") : NULL;
    PyObject *log = module ? PyObject_GetAttrString(module, "log") : NULL;
    PyObject *done = NULL;

    if (log)
        done = PyObject_CallMethod(
            log, "warning", "sN", "%s",
            PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape"));
    Py_XDECREF(done);
    Py_XDECREF(log);
    Py_XDECREF(module);
    return text && !done ? -1 : 0;
}
%}

/*
 * link1 belongs to the first argument: in each function with a status that is a link, or a tuple of
 * links.
 */
%typemap(out, fragment="raise_status") dueq_status {
    if ($1 < 0) {
        raise_status(link1->client, $1);
        SWIG_fail;
    }
    $result = PyLong_FromLong($1);
}

%typemap(out, fragment="raise_status") dueq_status dueq_take {
    if ($1 < 0) {
        raise_result(link1->client, $1, *arg2);
        SWIG_fail;
    }
    $result = PyLong_FromLong($1);
}

/*
 * These two return a failure as a status, too: dueq_take() raises it. They log what the client
 * warns of.
 */
%typemap(out, fragment="raise_status") dueq_status dueq_pump, dueq_status dueq_wait {
    if (log_warning(link1->client) < 0)
        SWIG_fail;
    $result = PyLong_FromLong($1);
}

%typemap(out) int dueq_descriptor {
    if ($1 < 0) {
        PyErr_SetFromErrno(PyExc_OSError);
        SWIG_fail;
    }
    $result = PyLong_FromLong($1);
}
