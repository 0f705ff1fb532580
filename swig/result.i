%fragment("answer", "header", fragment="objects", fragment="value_object", fragment="job_object") %{
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

/*
 * The items of rows, by the lists of fields in dueq_verbs.h: ROW_ITEM makes one from a member of
 * the struct `from`. Their kinds are those of core/results.py.
 */
#define ROW_ITEM(kind, member) ROW_##kind(from->member),
#define ROW_COUNT(number) PyLong_FromLongLong(number)
#define ROW_OPTIONAL(number) PyLong_FromLongLong(number)
#define ROW_INDEX(number) PyLong_FromLongLong(number)
#define ROW_FLAG(flag) PyBool_FromLong(flag)
#define ROW_TEXT(bytes) text_object(bytes)
#define ROW_NAME(bytes) text_object(bytes)
#define ROW_TICKET(bytes) text_object(bytes)
#define ROW_BYTES(bytes) bytes_object(bytes)
#define ROW_HEADERS(headers) headers_object(from)
#define ROW_STATE(state) PyLong_FromLong(state)
#define ROW_WORD(text) text_object((dueq_bytes){text, strlen(text)})
#define ROW_TIME(ms) PyLong_FromLongLong(ms)
#define ROW_MAYBE_TIME(ms) PyLong_FromLongLong(ms)
#define ROW_SPAN(ms) PyLong_FromLongLong(ms)
#define ROW_MEASURED(ms) PyLong_FromLongLong(ms)
#define ROW_SHARE(share) PyFloat_FromDouble(share)
#define ROW_FAILURE_KIND(kind) PyUnicode_FromString(dueq_failure_name(kind))
#define ROW_EXAMPLES(examples) examples_object(from)
#define ROW_LEASES(leases) leases_object(from)

/*
 * The function that makes a row of a dueq_NAME. It runs for every message. So it does without
 * Py_BuildValue(), which parses its format each time.
 */
#define ROW_OF(name, FIELDS)                                                                       \
    static PyObject *name##_object(const dueq_##name *from) {                                      \
        PyObject *items[] = {FIELDS(ROW_ITEM)};                                                    \
        return tuple_object(items, sizeof items / sizeof *items);                                  \
    }

ROW_OF(message, DUEQ_MESSAGE_FIELDS)
ROW_OF(counts, DUEQ_COUNTS_FIELDS)
ROW_OF(group_limits, DUEQ_GROUP_LIMITS_FIELDS)
ROW_OF(sizes, DUEQ_SIZES_FIELDS)
ROW_OF(moved, DUEQ_MOVED_FIELDS)
ROW_OF(rate, DUEQ_RATE_FIELDS)
ROW_OF(lease, DUEQ_LEASE_FIELDS)
ROW_OF(failure, DUEQ_FAILURE_FIELDS)
ROW_OF(group, DUEQ_GROUP_FIELDS)
ROW_OF(batch, DUEQ_BATCH_FIELDS)
ROW_OF(end, DUEQ_END_FIELDS)

static PyObject *examples_object(const dueq_finding *finding) {
    PyObject *examples = PyTuple_New((Py_ssize_t)finding->example_count);

    for (size_t i = 0; examples && i < finding->example_count; i++) {
        PyObject *example = text_object(finding->examples[i]);

        if (!example || PyTuple_SetItem(examples, (Py_ssize_t)i, example) < 0)
            Py_CLEAR(examples);
    }
    return examples;
}

ROW_OF(finding, DUEQ_FINDING_FIELDS)

static PyObject *leases_object(const dueq_worker *worker) {
    PyObject *leases = PyTuple_New((Py_ssize_t)worker->lease_count);

    for (size_t i = 0; leases && i < worker->lease_count; i++) {
        PyObject *row = lease_object(dueq_worker_lease(worker, i));

        if (!row || PyTuple_SetItem(leases, (Py_ssize_t)i, row) < 0)
            Py_CLEAR(leases);
    }
    return leases;
}

ROW_OF(worker, DUEQ_WORKER_FIELDS)

static PyObject *limits_object(const dueq_bounds *limits) {
    PyObject *groups = PyTuple_New((Py_ssize_t)limits->group_count);

    for (size_t i = 0; groups && i < limits->group_count; i++) {
        PyObject *row = group_limits_object(dueq_bounds_group(limits, i));

        if (!row || PyTuple_SetItem(groups, (Py_ssize_t)i, row) < 0)
            Py_CLEAR(groups);
    }
    return groups;
}

#define ROW_GROUP_LIMITS(groups) limits_object(from)
ROW_OF(bounds, DUEQ_BOUNDS_FIELDS)

static PyObject *outcome_object(const dueq_result *result, size_t index) {
    PyObject *items[] = {PyLong_FromLong(dueq_result_status(result, index)),
                         text_object(dueq_result_id(result, index))};

    return tuple_object(items, 2);
}

/* A byte for each item: its state. */
static PyObject *states_object(const dueq_result *result) {
    PyObject *states = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)dueq_result_count(result));

    for (size_t i = 0; states && i < dueq_result_count(result); i++)
        PyBytes_AsString(states)[i] = (char)dueq_result_state(result, i);
    return states;
}

static int append(PyObject *list, PyObject *item) {
    int failed = !item || PyList_Append(list, item) < 0;

    Py_XDECREF(item);
    return failed;
}

/* The lists of an answer, one for each kind of item. */
struct lists {
    PyObject *messages, *rates, *findings, *workers, *failures, *groups, *ends, *batches, *values,
        *jobs, *outcomes;
};

static int append_item(const struct lists *lists, const dueq_result *result, size_t index) {
    const dueq_message *message = dueq_result_message(result, index);
    const dueq_rate *rate = dueq_result_rate(result, index);
    const dueq_finding *finding = dueq_result_finding(result, index);
    const dueq_worker *worker = dueq_result_worker(result, index);
    const dueq_failure *failure = dueq_result_failure(result, index);
    const dueq_group *group = dueq_result_group(result, index);
    const dueq_end *end = dueq_result_end(result, index);
    const dueq_batch *batch = dueq_result_batch(result, index);
    const dueq_value *value = dueq_result_value(result, index);
    const dueq_job *job = dueq_result_job(result, index);

    if (message)
        return append(lists->messages, message_object(message));
    if (rate)
        return append(lists->rates, rate_object(rate));
    if (finding)
        return append(lists->findings, finding_object(finding));
    if (worker)
        return append(lists->workers, worker_object(worker));
    if (failure)
        return append(lists->failures, failure_object(failure));
    if (group)
        return append(lists->groups, group_object(group));
    if (end)
        return append(lists->ends, end_object(end));
    if (batch)
        return append(lists->batches, batch_object(batch));
    if (value)
        return append(lists->values, value_object(dueq_result_status(result, index), value));
    if (job)
        return append(lists->jobs, job_object(job));
    return append(lists->outcomes, outcome_object(result, index));
}

/*
 * (status, [message, ...], [rate, ...], [finding, ...], [worker, ...], [failure, ...], [group,
 * ...], [end, ...], [batch, ...], [value, ...], [job, ...], [(status, id), ...] of all other
 * items, states of all items, counts or None, limits or None, sizes or None, moved or None,
 * quarantined, purged, kicked, cursor, queue)
 */
static PyObject *answer_object(dueq_status status, const dueq_result *result) {
    struct lists lists = {PyList_New(0), PyList_New(0), PyList_New(0), PyList_New(0),
                          PyList_New(0), PyList_New(0), PyList_New(0), PyList_New(0),
                          PyList_New(0), PyList_New(0), PyList_New(0)};
    int failed = !lists.messages || !lists.rates || !lists.findings || !lists.workers ||
                 !lists.failures || !lists.groups || !lists.ends || !lists.batches ||
                 !lists.values || !lists.jobs || !lists.outcomes;

    for (size_t i = 0; !failed && i < dueq_result_count(result); i++)
        failed = append_item(&lists, result, i);
    if (failed) {
        Py_XDECREF(lists.messages);
        Py_XDECREF(lists.rates);
        Py_XDECREF(lists.findings);
        Py_XDECREF(lists.workers);
        Py_XDECREF(lists.failures);
        Py_XDECREF(lists.groups);
        Py_XDECREF(lists.ends);
        Py_XDECREF(lists.batches);
        Py_XDECREF(lists.values);
        Py_XDECREF(lists.jobs);
        Py_XDECREF(lists.outcomes);
        return NULL;
    }
    const dueq_counts *counts = dueq_result_counts(result);
    const dueq_bounds *limits = dueq_result_limits(result);
    const dueq_sizes *sizes = dueq_result_sizes(result);
    const dueq_moved *moved = dueq_result_moved(result);
    PyObject *items[] = {PyLong_FromLong(status),
                         lists.messages,
                         lists.rates,
                         lists.findings,
                         lists.workers,
                         lists.failures,
                         lists.groups,
                         lists.ends,
                         lists.batches,
                         lists.values,
                         lists.jobs,
                         lists.outcomes,
                         states_object(result),
                         counts ? counts_object(counts) : Py_NewRef(Py_None),
                         limits ? bounds_object(limits) : Py_NewRef(Py_None),
                         sizes ? sizes_object(sizes) : Py_NewRef(Py_None),
                         moved ? moved_object(moved) : Py_NewRef(Py_None),
                         PyLong_FromSize_t(dueq_result_quarantined(result)),
                         PyLong_FromSize_t(dueq_result_purged(result)),
                         PyLong_FromSize_t(dueq_result_kicked(result)),
                         bytes_object(dueq_result_cursor(result)),
                         PyLong_FromSize_t(dueq_result_queue(result))};
    return tuple_object(items, sizeof items / sizeof *items);
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
%apply dueq_result **result { dueq_result **decoded };
