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
    PyObject *tuple = NULL;
    Py_ssize_t made = 0;

    while (made < count && items[made])
        made++;
    if (made == count)
        tuple = PyTuple_New(count);
    for (Py_ssize_t i = 0; i < count; i++)
        if (tuple)
            PyTuple_SetItem(tuple, i, items[i]);
        else
            Py_XDECREF(items[i]);
    return tuple;
}
%}
