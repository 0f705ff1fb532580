%fragment("raise_status", "header") %{
/* The exception of a status with a text; NULL: another was raised. */
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

/* Raises the exception of a failing status with what the client has to say about it. */
static void raise_status(const dueq_client *client, dueq_status status) {
    PyObject *error = error_object(status, client ? dueq_error_text(client) : dueq_status_text(status));

    if (error)
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
}
%}

/* link1: every function with a status has a link, or a tuple of them, as its first argument. */
%typemap(out, fragment="raise_status") dueq_status {
    if ($1 < 0) {
        raise_status(link1->client, $1);
        SWIG_fail;
    }
    $result = PyLong_FromLong($1);
}

/* They tell a failure, too: dueq_take() raises it. */
%typemap(out) dueq_status dueq_pump, dueq_status dueq_wait "$result = PyLong_FromLong($1);"

%typemap(out) int dueq_descriptor {
    if ($1 < 0) {
        PyErr_SetFromErrno(PyExc_OSError);
        SWIG_fail;
    }
    $result = PyLong_FromLong($1);
}
