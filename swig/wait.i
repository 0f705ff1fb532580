/*
 * Only dueq_wait() blocks on the network: the submits queue their requests. So only the functions
 * that call dueq_wait() release the GIL: wait(), answer() and consumer_next().
 */
%exception dueq_wait {
    Py_BEGIN_ALLOW_THREADS
    $action
    Py_END_ALLOW_THREADS
}

%fragment("finish", "header", fragment="link", fragment="answer") %{
/*
 * Waits at most `patience_ms` for the call in progress on a client, and returns its answer. None:
 * the call is still in progress.
 */
static PyObject *answer(PyObject *client, int64_t patience_ms) {
    struct link *link = PyCapsule_GetPointer(client, link_name);
    dueq_result *result = NULL;
    PyObject *object = NULL;
    dueq_status status;

    if (!link)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = dueq_wait(link->client, patience_ms);
    Py_END_ALLOW_THREADS
    if (log_warning(link->client) < 0)
        return NULL;
    if (status == DUEQ_PENDING || status == DUEQ_INTERRUPTED)
        return Py_NewRef(Py_None);
    /* An exception of a signal handler comes before the answer is taken: the caller abandons it. */
    if (PyErr_CheckSignals() < 0)
        return NULL;
    status = dueq_take(link->client, &result);
    if (status < 0)
        raise_result(link->client, status, result);
    else
        object = answer_object(status, result);
    dueq_result_free(result);
    return object;
}
%}

%fragment("finish");

PyObject *answer(PyObject *client, int64_t patience_ms);
