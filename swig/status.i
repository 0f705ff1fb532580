%fragment("raise_status", "header") %{
/* Raises the exception of a failing status with what the client has to say about it. */
static void raise_status(const dueq_client *client, dueq_status status) {
    const char *detail = client ? dueq_error_text(client) : dueq_status_text(status);
    PyObject *errors = PyImport_ImportModule("dueq.errors");
    PyObject *error = NULL;
    PyObject *text = PyUnicode_DecodeUTF8(detail, (Py_ssize_t)strlen(detail), "replace");

    if (errors && text)
        error = PyObject_CallMethod(errors, "make", "iO", (int)status, text);
    if (error)
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    Py_XDECREF(text);
    Py_XDECREF(errors);
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

/* It tells a failure, too: dueq_take() raises it. */
%typemap(out) dueq_status dueq_pump "$result = PyLong_FromLong($1);"

%typemap(out) int dueq_descriptor {
    if ($1 < 0) {
        PyErr_SetFromErrno(PyExc_OSError);
        SWIG_fail;
    }
    $result = PyLong_FromLong($1);
}
