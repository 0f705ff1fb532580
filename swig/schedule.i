/* (name, expression, zone, catchup, (job,), app, release), the job as in a push. */
%typemap(in, fragment="drafts") const dueq_plan *schedule
        (dueq_plan plan = DUEQ_PLAN, struct drafts drafts = {0}) {
    Py_ssize_t name_size, expression_size, zone_size, app_size, release_size;
    PyObject *jobs;
    int catchup;

    if (!PyArg_ParseTuple($input, "s#s#s#iOs#s#:schedule", &plan.name.data, &name_size,
                          &plan.expression.data, &expression_size, &plan.zone.data, &zone_size,
                          &catchup, &jobs, &plan.app.data, &app_size, &plan.release.data,
                          &release_size))
        SWIG_fail;
    plan.name.size = (size_t)name_size;
    plan.expression.size = (size_t)expression_size;
    plan.zone.size = (size_t)zone_size;
    plan.app.size = (size_t)app_size;
    plan.release.size = (size_t)release_size;
    plan.catchup = (dueq_catchup)catchup;
    if (drafts_fill(&drafts, jobs) < 0)
        SWIG_fail;
    plan.job = drafts.items;
    $1 = &plan;
}
%typemap(freearg) const dueq_plan *schedule "drafts_free(&drafts$argnum);"

/* (id, ticket, ((header, value), ...), body) of a delivered message. */
%typemap(in, fragment="drafts") const dueq_message *message
        (dueq_message held = {0}, dueq_draft given = {0}, Py_buffer view = {0}) {
    Py_ssize_t id_size, ticket_size;
    PyObject *pairs, *body;

    if (!PyArg_ParseTuple($input, "s#s#OO:message", &held.id.data, &id_size, &held.ticket.data,
                          &ticket_size, &pairs, &body))
        SWIG_fail;
    held.id.size = (size_t)id_size;
    held.ticket.size = (size_t)ticket_size;
    if (draft_headers(&given, pairs) < 0 || borrow(body, "body", &view, &held.body) < 0)
        SWIG_fail;
    held.headers = given.headers;
    held.header_count = given.header_count;
    $1 = &held;
}
%typemap(freearg) const dueq_message *message
    "free((void *)given$argnum.headers); PyBuffer_Release(&view$argnum);"

%fragment("schedule_next", "header", fragment="raise_status") %{
static PyObject *schedule_next(dueq_bytes expression, dueq_bytes zone, long long after_ms) {
    char problem[512];
    int64_t next = 0;
    dueq_status status =
        dueq_schedule_next(expression, zone, after_ms, &next, problem, sizeof problem);

    if (status < 0) {
        PyObject *error = error_object(status, problem);

        if (error)
            PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_XDECREF(error);
        return NULL;
    }
    if (next >= DUEQ_MAX_TIME_MS)
        Py_RETURN_NONE;
    return PyLong_FromLongLong(next);
}
%}
%fragment("schedule_next");

PyObject *schedule_next(dueq_bytes expression, dueq_bytes zone, long long after_ms);
