%fragment("objects", "header") %{
/* Text of other producers: what is not UTF-8 in it must not cost the message. */
static PyObject *text_object(dueq_bytes bytes) {
    return PyUnicode_DecodeUTF8(bytes.size ? bytes.data : "", (Py_ssize_t)bytes.size, "replace");
}

static PyObject *bytes_object(dueq_bytes bytes) {
    return PyBytes_FromStringAndSize(bytes.data, (Py_ssize_t)bytes.size);
}

/* A tuple of objects, which it takes over; NULL where one of them is. */
static PyObject *tuple_object(PyObject *const *items, Py_ssize_t count) {
    PyObject *tuple = PyTuple_New(count);
    int failed = !tuple;

    for (Py_ssize_t i = 0; i < count; i++) {
        failed = failed || !items[i];
        if (!tuple)
            Py_XDECREF(items[i]);
        else
            PyTuple_SetItem(tuple, i, items[i]);
    }
    if (failed)
        Py_CLEAR(tuple);
    return tuple;
}
%}
