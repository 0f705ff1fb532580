%fragment("answer", "header") %{
/* Text of other producers: what is not UTF-8 in it must not cost the message. */
static PyObject *text_object(dueq_bytes bytes) {
    return PyUnicode_DecodeUTF8(bytes.size ? bytes.data : "", (Py_ssize_t)bytes.size, "replace");
}

static PyObject *bytes_object(dueq_bytes bytes) {
    return PyBytes_FromStringAndSize(bytes.data, (Py_ssize_t)bytes.size);
}

static PyObject *headers_object(const dueq_message *message) {
    PyObject *headers = PyDict_New();

    for (size_t i = 0; headers && i < message->header_count; i++) {
        PyObject *name = text_object(message->headers[i].name);
        PyObject *value = text_object(message->headers[i].value);

        if (!name || !value || PyDict_SetItem(headers, name, value) < 0)
            Py_CLEAR(headers);
        Py_XDECREF(name);
        Py_XDECREF(value);
    }
    return headers;
}

static PyObject *message_object(const dueq_message *message) {
    return Py_BuildValue("(NNNNIIiLLN)", text_object(message->id), text_object(message->ticket),
                         bytes_object(message->body), headers_object(message), message->attempt,
                         message->max_attempts, (int)message->state, (long long)message->time_ms,
                         (long long)message->created_ms, text_object(message->error));
}

static PyObject *counts_object(const dueq_counts *counts) {
    if (!counts)
        return Py_BuildValue("");
    return Py_BuildValue("(LLLLLLLLLLL)", (long long)counts->ready, (long long)counts->delayed,
                         (long long)counts->leased, (long long)counts->dead, (long long)counts->acked,
                         (long long)counts->cancelled, (long long)counts->purged,
                         (long long)counts->damaged, (long long)counts->next_ms,
                         (long long)counts->now_ms, (long long)counts->paused);
}

static int append(PyObject *list, PyObject *item) {
    int failed = !item || PyList_Append(list, item) < 0;

    Py_XDECREF(item);
    return failed;
}

/*
 * (status, [(status, id), ...] of items without a message, [message, ...], counts or None, damaged,
 * purged)
 */
static PyObject *answer_object(dueq_status status, const dueq_result *result) {
    PyObject *outcomes = PyList_New(0);
    PyObject *messages = PyList_New(0);
    int failed = !outcomes || !messages;

    for (size_t i = 0; !failed && i < dueq_result_count(result); i++) {
        const dueq_message *message = dueq_result_message(result, i);

        if (message)
            failed = append(messages, message_object(message));
        else
            failed = append(outcomes, Py_BuildValue("(iN)", (int)dueq_result_status(result, i),
                                                    text_object(dueq_result_id(result, i))));
    }
    if (failed) {
        Py_XDECREF(outcomes);
        Py_XDECREF(messages);
        return NULL;
    }
    return Py_BuildValue("(iNNNnn)", (int)status, outcomes, messages,
                         counts_object(dueq_result_counts(result)),
                         (Py_ssize_t)dueq_result_damaged(result),
                         (Py_ssize_t)dueq_result_purged(result));
}
%}

%typemap(in, numinputs=0) dueq_result **result (dueq_result *taken = NULL) "$1 = &taken;"
%typemap(argout, fragment="answer") dueq_result **result {
    Py_XDECREF($result);
    $result = answer_object(result, *$1);
    if (!$result)
        SWIG_fail;
}
%typemap(freearg) dueq_result **result "dueq_result_free(taken$argnum);"
