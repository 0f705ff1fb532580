/*
 * A client carries one call at a time, so each call under way needs a client and handles of the queues
 * that it is about, made by that client. Python holds each as a capsule of the same shape. That of a
 * queue keeps its client's alive: a queue must not outlive its client.
 */
%fragment("link", "header", fragment="raise_status") %{
struct link {
    dueq_client *client;
    dueq_queue *queue;  /* NULL in the client's own */
    PyObject *capsule;  /* the client's own, in a queue's; else NULL */
};

static const char link_name[] = "dueq._core.link";

static void link_free(struct link *link) {
    dueq_queue_close(link->queue);
    if (!link->capsule)
        dueq_close(link->client);
    Py_XDECREF(link->capsule);
    free(link);
}

static void link_capsule_free(PyObject *capsule) {
    link_free(PyCapsule_GetPointer(capsule, link_name));
}

/* status: of the step that filled the link, which is freed unless it ends as a capsule. */
static PyObject *link_object(struct link *link, dueq_status status) {
    PyObject *capsule = NULL;

    if (status < 0)
        raise_status(link->client, status);
    else
        capsule = PyCapsule_New(link, link_name, link_capsule_free);
    if (!capsule)
        link_free(link);
    return capsule;
}

static PyObject *client_open(const char *url) {
    struct link *link = calloc(1, sizeof *link);

    return link ? link_object(link, dueq_open(url, &link->client)) : PyErr_NoMemory();
}

static PyObject *queue_open(PyObject *client, dueq_bytes name) {
    struct link *owner = PyCapsule_GetPointer(client, link_name);
    struct link *link = owner ? calloc(1, sizeof *link) : NULL;

    if (!link)
        return owner ? PyErr_NoMemory() : NULL;
    link->client = owner->client;
    link->capsule = Py_NewRef(client);
    return link_object(link, dueq_queue_open(link->client, name.data, name.size, &link->queue));
}

static struct link *link_of_queue(PyObject *capsule) {
    struct link *link = PyCapsule_GetPointer(capsule, link_name);

    if (link && !link->queue) {
        PyErr_SetString(PyExc_TypeError, "a client stands where a queue is wanted");
        return NULL;
    }
    return link;
}

/* The handles of a tuple of queues, and the link of the last; 0: an exception was raised. */
static size_t links_of_queues(PyObject *capsules, dueq_queue *handles[DUEQ_MAX_QUEUES],
                              struct link **link) {
    Py_ssize_t count = PyTuple_Size(capsules);

    if (count < 1 || count > DUEQ_MAX_QUEUES) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "too few or too many queues");
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        *link = link_of_queue(PyTuple_GetItem(capsules, i));
        if (!*link)
            return 0;
        handles[i] = (*link)->queue;
    }
    return (size_t)count;
}
%}

%typemap(in, fragment="link") dueq_queue *queue (struct link *link) {
    link = link_of_queue($input);
    if (!link)
        SWIG_fail;
    $1 = link->queue;
}

/* None for NULL. */
%typemap(in, fragment="link") dueq_queue *target {
    $1 = NULL;
    if ($input != Py_None) {
        struct link *target = link_of_queue($input);

        if (!target)
            SWIG_fail;
        $1 = target->queue;
    }
}

/* A tuple of at least one. */
%typemap(in, fragment="link") (dueq_queue *const *queues, size_t queue_count)
        (struct link *link, dueq_queue *handles[DUEQ_MAX_QUEUES]) {
    $2 = links_of_queues($input, handles, &link);
    if (!$2)
        SWIG_fail;
    $1 = handles;
}

%typemap(in, fragment="link") dueq_client *client (struct link *link),
                             const dueq_client *client (struct link *link) {
    link = PyCapsule_GetPointer($input, link_name);
    if (!link)
        SWIG_fail;
    $1 = link->client;
}

PyObject *client_open(const char *url);
PyObject *queue_open(PyObject *client, dueq_bytes name);
