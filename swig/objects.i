%fragment("objects", "header") %{
/*
 * Other producers may store text that is not UTF-8. Such bytes are replaced, so that the message
 * can be delivered.
 */
static PyObject *text_object(dueq_bytes bytes) {
    return PyUnicode_DecodeUTF8(bytes.size ? bytes.data : "", (Py_ssize_t)bytes.size, "replace");
}

static PyObject *bytes_object(dueq_bytes bytes) {
    return PyBytes_FromStringAndSize(bytes.data, (Py_ssize_t)bytes.size);
}

/* A tuple of objects, whose references it steals; NULL if an object is NULL. */
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
