%fragment("drafts", "header", fragment="borrow") %{
/* The drafts of a push and the buffers of their bodies. */
struct drafts {
    dueq_draft *items;
    Py_buffer *views;
    size_t count;
};

static void drafts_free(struct drafts *drafts) {
    for (size_t i = 0; i < drafts->count; i++) {
        PyBuffer_Release(&drafts->views[i]);
        free((void *)drafts->items[i].headers);
        free((void *)drafts->items[i].backoff.list_ms);
    }
    free(drafts->items);
    free(drafts->views);
}

static int draft_headers(dueq_draft *draft, PyObject *pairs) {
    Py_ssize_t count = PyTuple_Size(pairs);
    dueq_header *headers;

    if (count <= 0)
        return (int)count;
    headers = calloc((size_t)count, sizeof *headers);
    if (!headers) {
        PyErr_NoMemory();
        return -1;
    }
    draft->headers = headers;
    draft->header_count = (size_t)count;
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t name_size, value_size;

        if (!PyArg_ParseTuple(PyTuple_GetItem(pairs, i), "s#s#:header", &headers[i].name.data,
                              &name_size, &headers[i].value.data, &value_size))
            return -1;
        headers[i].name.size = (size_t)name_size;
        headers[i].value.size = (size_t)value_size;
    }
    return 0;
}

/* row: (kind, jitter, base_ms, cap_ms, (delay_ms, ...)). */
static int draft_backoff(dueq_backoff *backoff, PyObject *row) {
    PyObject *list;
    Py_ssize_t count;
    int kind, jitter;
    long long base_ms, cap_ms;
    int64_t *list_ms;

    if (!PyArg_ParseTuple(row, "iiLLO:backoff", &kind, &jitter, &base_ms, &cap_ms, &list))
        return -1;
    backoff->kind = (dueq_backoff_kind)kind;
    backoff->jitter = (dueq_jitter)jitter;
    backoff->base_ms = base_ms;
    backoff->cap_ms = cap_ms;
    count = PyTuple_Size(list);
    if (count <= 0)
        return (int)count;
    list_ms = calloc((size_t)count, sizeof *list_ms);
    if (!list_ms) {
        PyErr_NoMemory();
        return -1;
    }
    backoff->list_ms = list_ms;
    backoff->list_count = (size_t)count;
    for (Py_ssize_t i = 0; i < count; i++) {
        list_ms[i] = PyLong_AsLongLong(PyTuple_GetItem(list, i));
        if (list_ms[i] == -1 && PyErr_Occurred())
            return -1;
    }
    return 0;
}

/* Made from core/options.toml by core/verbs.py: the row of a draft. */
/*
 * row: (body, delay_ms, at_ms, id, max_attempts, lease_ms, headers, priority, ttl_ms, backoff,
 * max_crashes, drop, dead_letter, unique_ms, replace, replicas, disk, timeout_ms, key, group,
 * keep_ms, batch).
 */
static int draft_fill(dueq_draft *draft, Py_buffer *view, PyObject *row) {
    PyObject *body, *headers, *backoff;
    long long delay_ms, at_ms, lease_ms, ttl_ms, unique_ms, durable_timeout_ms, keep_ms;
    Py_ssize_t id_size, dead_letter_size, key_size, group_size, batch_size;
    int priority, replace;

    *draft = (dueq_draft)DUEQ_DRAFT;
    if (!PyArg_ParseTuple(row, "OLLs#ILOiLOIps#LiipLs#s#Ls#:draft", &body, &delay_ms, &at_ms,
                          &draft->id.data, &id_size, &draft->max_attempts, &lease_ms, &headers,
                          &priority, &ttl_ms, &backoff, &draft->max_crashes, &draft->drop,
                          &draft->dead_letter.data, &dead_letter_size, &unique_ms, &replace,
                          &draft->durability.replicas, &draft->durability.disk, &durable_timeout_ms,
                          &draft->key.data, &key_size, &draft->group.data, &group_size, &keep_ms,
                          &draft->batch.data, &batch_size))
        return -1;
    draft->delay_ms = delay_ms;
    draft->at_ms = at_ms;
    draft->id.size = (size_t)id_size;
    draft->lease_ms = lease_ms;
    draft->priority = (dueq_priority)priority;
    draft->ttl_ms = ttl_ms;
    draft->dead_letter.size = (size_t)dead_letter_size;
    draft->unique_ms = unique_ms;
    draft->replace = (dueq_replace)replace;
    draft->durability.timeout_ms = durable_timeout_ms;
    draft->key.size = (size_t)key_size;
    draft->group.size = (size_t)group_size;
    draft->keep_ms = keep_ms;
    draft->batch.size = (size_t)batch_size;
    if (borrow(body, "body", view, &draft->body) < 0)
        return -1;
    if (draft_headers(draft, headers) < 0)
        return -1;
    if (draft_backoff(&draft->backoff, backoff) < 0)
        return -1;
    return 0;
}
/* The end of what was made. */

static int drafts_fill(struct drafts *drafts, PyObject *rows) {
    Py_ssize_t count = PyTuple_Size(rows);

    if (count < 0)
        return -1;
    drafts->items = calloc((size_t)count + 1, sizeof *drafts->items);
    drafts->views = calloc((size_t)count + 1, sizeof *drafts->views);
    if (!drafts->items || !drafts->views) {
        PyErr_NoMemory();
        return -1;
    }
    while (drafts->count < (size_t)count) {
        size_t i = drafts->count++;

        if (draft_fill(&drafts->items[i], &drafts->views[i],
                       PyTuple_GetItem(rows, (Py_ssize_t)i)) < 0)
            return -1;
    }
    return 0;
}
%}

%typemap(in, fragment="drafts") (const dueq_draft *drafts, size_t count)
        (struct drafts drafts = {0}) {
    if (drafts_fill(&drafts, $input) < 0)
        SWIG_fail;
    $1 = drafts.items;
    $2 = drafts.count;
}
%typemap(freearg) (const dueq_draft *drafts, size_t count) "drafts_free(&drafts$argnum);"

/* (replicas, disk, timeout_ms). */
%typemap(in) const dueq_durability *durability (dueq_durability durability) {
    long long timeout_ms;

    if (!PyArg_ParseTuple($input, "ipL:durability", &durability.replicas, &durability.disk,
                          &timeout_ms))
        SWIG_fail;
    durability.timeout_ms = timeout_ms;
    $1 = &durability;
}
