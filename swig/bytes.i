%fragment("borrow_text", "header") %{
/* Raises a TypeError: an argument has the wrong type. */
static int wrong_type(PyObject *object, const char *name, const char *wanted) {
    PyObject *type = PyType_GetName(Py_TYPE(object));

    if (type)
        PyErr_Format(PyExc_TypeError, "%s: %s is wanted, not %U", name, wanted, type);
    Py_XDECREF(type);
    return -1;
}

/* Borrows the bytes of a str as UTF-8. name: the argument's, for the error. */
static int borrow_text(PyObject *object, const char *name, dueq_bytes *bytes) {
    Py_ssize_t size;

    if (!PyUnicode_Check(object))
        return wrong_type(object, name, "a str");
    bytes->data = PyUnicode_AsUTF8AndSize(object, &size);
    bytes->size = (size_t)size;
    return bytes->data ? 0 : -1;
}
%}

%fragment("borrow", "header", fragment="borrow_text") %{
/*
 * Borrows the bytes of a str (as UTF-8) or of an object with a buffer. The buffer stays locked
 * until the view is released. An empty view may be released, too.
 */
static int borrow(PyObject *object, const char *name, Py_buffer *view, dueq_bytes *bytes) {
    if (PyUnicode_Check(object))
        return borrow_text(object, name, bytes);
    if (!PyObject_CheckBuffer(object))
        return wrong_type(object, name, "a str or bytes");
    if (PyObject_GetBuffer(object, view, PyBUF_SIMPLE) < 0)
        return -1;
    bytes->data = view->buf;
    bytes->size = (size_t)view->len;
    return 0;
}
%}

%typemap(in, fragment="borrow") dueq_bytes (Py_buffer view = {0}) {
    if (borrow($input, "$1_name", &view, &$1) < 0)
        SWIG_fail;
}
%typemap(freearg) dueq_bytes "PyBuffer_Release(&view$argnum);"

/* Arguments that are a str. */
%define TEXT(ARGUMENT, NAME)
%typemap(in, fragment="borrow_text") dueq_bytes ARGUMENT {
    if (borrow_text($input, NAME, &$1) < 0)
        SWIG_fail;
}
%typemap(freearg) dueq_bytes ARGUMENT ""
%enddef
TEXT(name, "name")
TEXT(id, "id")
TEXT(ticket, "ticket")
TEXT(token, "token")
TEXT(destination, "destination")
TEXT(prefix, "prefix")
TEXT(text, "cursor") /* of checkpoint */
TEXT(key, "key")
TEXT(queue, "queue")

/*
 * A tuple of str, or None for NULL. A tuple cannot change during the call, so its texts need no
 * copy.
 */
%define TEXTS(ARGUMENT, ONE)
%typemap(in, fragment="borrow_text") (const dueq_bytes *ARGUMENT, size_t count) {
    Py_ssize_t count = $input == Py_None ? 0 : PyTuple_Size($input);

    if (count < 0)
        SWIG_fail;
    $2 = (size_t)count;
    $1 = $input == Py_None ? NULL : calloc($2 + 1, sizeof *$1);
    if (!$1 && $input != Py_None) {
        PyErr_NoMemory();
        SWIG_fail;
    }
    for (size_t i = 0; i < $2; i++) {
        if (borrow_text(PyTuple_GetItem($input, (Py_ssize_t)i), ONE, (dueq_bytes *)&$1[i]) < 0)
            SWIG_fail;
    }
}
%typemap(freearg) (const dueq_bytes *ARGUMENT, size_t count) "free((void *)$1);"
%enddef
TEXTS(tickets, "ticket")
TEXTS(ids, "id")
TEXTS(dead_letter, "dead_letter")

/* A tuple of bytes, likewise without copies. */
%typemap(in) (const dueq_bytes *reserved, size_t count) {
    Py_ssize_t count = PyTuple_Size($input);

    if (count < 0)
        SWIG_fail;
    $2 = (size_t)count;
    $1 = calloc($2 + 1, sizeof *$1);
    if (!$1) {
        PyErr_NoMemory();
        SWIG_fail;
    }
    for (size_t i = 0; i < $2; i++) {
        dueq_bytes *bytes = (dueq_bytes *)&$1[i];
        char *data;
        Py_ssize_t size;

        if (PyBytes_AsStringAndSize(PyTuple_GetItem($input, (Py_ssize_t)i), &data, &size) < 0)
            SWIG_fail;
        bytes->data = data;
        bytes->size = (size_t)size;
    }
}
%typemap(freearg) (const dueq_bytes *reserved, size_t count) "free((void *)$1);"

/* (error, since_ms, until_ms). */
%typemap(in, fragment="borrow") const dueq_filter *filter
        (dueq_filter filter = DUEQ_FILTER, Py_buffer view = {0}) {
    PyObject *error;
    long long since_ms, until_ms;

    if (!PyArg_ParseTuple($input, "OLL:filter", &error, &since_ms, &until_ms))
        SWIG_fail;
    if (borrow(error, "error", &view, &filter.error) < 0)
        SWIG_fail;
    filter.since_ms = since_ms;
    filter.until_ms = until_ms;
    $1 = &filter;
}
%typemap(freearg) const dueq_filter *filter "PyBuffer_Release(&view$argnum);"

/* A str without NUL, or None for NULL. */
%typemap(in, fragment="raise_status", fragment="borrow_text") const char *url {
    dueq_bytes url = {0};

    $1 = NULL;
    if ($input != Py_None) {
        if (borrow_text($input, "url", &url) < 0)
            SWIG_fail;
        $1 = (char *)url.data;
        if (strlen($1) != url.size) {
            raise_status(NULL, DUEQ_URL);
            SWIG_fail;
        }
    }
}
%typemap(freearg) const char *url ""

%typemap(in, numinputs=0) char *buffer (char id[23]) "$1 = id;"
%typemap(argout) char *buffer {
    Py_XDECREF($result);
    $result = PyUnicode_FromString($1);
}

%{
/* text: bytes without NUL. */
static PyObject *escape(PyObject *text) {
    const char *bytes = PyBytes_AsString(text);
    size_t room = bytes ? 4 * (size_t)PyBytes_Size(text) + 1 : 0;
    char *out = bytes ? malloc(room) : NULL;
    PyObject *escaped = NULL;

    if (out) {
        dueq_escape(out, room, bytes);
        escaped = PyUnicode_FromString(out);
    } else if (bytes) {
        PyErr_NoMemory();
    }
    free(out);
    return escaped;
}
%}

PyObject *escape(PyObject *text);
