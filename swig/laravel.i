%fragment("laravel_drafts", "header") %{
/*
 * row: (payload, job, data, command_name, command, display_name, delay_ms, at_ms, max_tries,
 * max_exceptions, timeout_s, backoff, retry_until_s, fail_on_timeout). The texts are str or bytes,
 * borrowed from the row.
 */
static int laravel_draft_fill(dueq_laravel_draft *draft, PyObject *row) {
    Py_ssize_t payload, job, data, command_name, command, display_name, backoff;
    long long delay_ms, at_ms, retry_until_s;

    *draft = (dueq_laravel_draft)DUEQ_LARAVEL_DRAFT;
    if (!PyArg_ParseTuple(row, "s#s#s#s#s#s#LLIIIs#Lp:draft", &draft->payload.data, &payload,
                          &draft->job.data, &job, &draft->data.data, &data,
                          &draft->command_name.data, &command_name, &draft->command.data, &command,
                          &draft->display_name.data, &display_name, &delay_ms, &at_ms,
                          &draft->max_tries, &draft->max_exceptions, &draft->timeout_s,
                          &draft->backoff.data, &backoff, &retry_until_s, &draft->fail_on_timeout))
        return -1;
    draft->payload.size = (size_t)payload;
    draft->job.size = (size_t)job;
    draft->data.size = (size_t)data;
    draft->command_name.size = (size_t)command_name;
    draft->command.size = (size_t)command;
    draft->display_name.size = (size_t)display_name;
    draft->backoff.size = (size_t)backoff;
    draft->delay_ms = delay_ms;
    draft->at_ms = at_ms;
    draft->retry_until_s = retry_until_s;
    return 0;
}

/* NULL: an exception was raised. */
static dueq_laravel_draft *laravel_drafts_of(PyObject *rows, size_t *count) {
    Py_ssize_t size = PyTuple_Size(rows);
    dueq_laravel_draft *drafts = size < 0 ? NULL : calloc((size_t)size + 1, sizeof *drafts);

    if (!drafts) {
        if (size >= 0)
            PyErr_NoMemory();
        return NULL;
    }
    *count = (size_t)size;
    for (Py_ssize_t i = 0; i < size; i++)
        if (laravel_draft_fill(&drafts[i], PyTuple_GetItem(rows, i)) < 0) {
            free(drafts);
            return NULL;
        }
    return drafts;
}
%}

%typemap(in, fragment="laravel_drafts") (const dueq_laravel_draft *drafts, size_t count) {
    $1 = laravel_drafts_of($input, &$2);
    if (!$1)
        SWIG_fail;
}
%typemap(freearg) (const dueq_laravel_draft *drafts, size_t count) "free((void *)$1);"

%fragment("job_object", "header", fragment="objects") %{
static PyObject *job_object(const dueq_job *job) {
    PyObject *items[] = {
        bytes_object(job->payload),
        bytes_object(job->reserved),
        text_object(job->id),
        text_object(job->uuid),
        text_object(job->job),
        bytes_object(job->data),
        text_object(job->display_name),
        PyLong_FromUnsignedLong(job->attempts),
        PyLong_FromUnsignedLong(job->max_tries),
        PyLong_FromUnsignedLong(job->timeout_s),
        text_object(job->backoff),
        PyLong_FromLongLong(job->retry_until_s),
        PyLong_FromLongLong(job->until_ms),
    };

    return tuple_object(items, sizeof items / sizeof *items);
}
%}
