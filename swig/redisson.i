%fragment("values", "header") %{
/* row: (kind, integer, number, bytes): the bytes are a str or bytes, borrowed from the row. */
static int value_fill(dueq_value *value, PyObject *row) {
    long long integer;
    Py_ssize_t size;
    int kind;

    if (!PyArg_ParseTuple(row, "iLds#:value", &kind, &integer, &value->number, &value->bytes.data,
                          &size))
        return -1;
    value->kind = (dueq_kind)kind;
    value->integer = integer;
    value->bytes.size = (size_t)size;
    return 0;
}

/* rows: a tuple of (value, delay_ms, at_ms). NULL: an exception was raised. */
static dueq_offer *offers_of(PyObject *rows, size_t *count) {
    Py_ssize_t size = PyTuple_Size(rows);
    dueq_offer *offers = size < 0 ? NULL : calloc((size_t)size + 1, sizeof *offers);

    if (!offers) {
        if (size >= 0)
            PyErr_NoMemory();
        return NULL;
    }
    *count = (size_t)size;
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *value;
        long long delay_ms, at_ms;

        offers[i] = (dueq_offer)DUEQ_OFFER;
        if (!PyArg_ParseTuple(PyTuple_GetItem(rows, i), "OLL:offer", &value, &delay_ms, &at_ms) ||
            value_fill(&offers[i].value, value) < 0) {
            free(offers);
            return NULL;
        }
        offers[i].delay_ms = delay_ms;
        offers[i].at_ms = at_ms;
    }
    return offers;
}
%}

%typemap(in, fragment="values") const dueq_value *value (dueq_value value) {
    if (value_fill(&value, $input) < 0)
        SWIG_fail;
    $1 = &value;
}

%typemap(in, fragment="values") (const dueq_offer *offers, size_t count) {
    $1 = offers_of($input, &$2);
    if (!$1)
        SWIG_fail;
}
%typemap(freearg) (const dueq_offer *offers, size_t count) "free((void *)$1);"

%fragment("value_object", "header", fragment="objects") %{
static PyObject *plain_object(const dueq_value *value) {
    switch (value->kind) {
    case DUEQ_BOOLEAN:
        return PyBool_FromLong(value->integer != 0);
    case DUEQ_INTEGER:
    case DUEQ_LONG:
        return PyLong_FromLongLong(value->integer);
    case DUEQ_DOUBLE:
        return PyFloat_FromDouble(value->number);
    case DUEQ_STRING:
    case DUEQ_JSON:
        return text_object(value->bytes);
    case DUEQ_BINARY:
        return bytes_object(value->bytes);
    case DUEQ_NULL:
        break;
    }
    return Py_NewRef(Py_None);
}

/* (status, kind, value) */
static PyObject *value_object(dueq_status status, const dueq_value *value) {
    PyObject *items[] = {PyLong_FromLong(status), PyLong_FromLong(value->kind),
                         plain_object(value)};

    return tuple_object(items, 3);
}
%}
