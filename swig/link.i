/*
 * A client carries one call at a time. So each call in progress needs a client of its own, and
 * handles that this client made for the queues of the call. Python holds the client and each handle
 * as capsules of one kind. The capsule of a queue refers to that of its client, as a queue must not
 * outlive its client.
 */
%fragment("link", "header", fragment="raise_status") %{
struct link {
    dueq_client *client;
    /* In a queue's capsule one of the next three is set; in the client's own none. */
    dueq_queue *queue;
    dueq_redisson *redisson;
    dueq_laravel *laravel;
    PyObject *capsule; /* in a queue's link the client's capsule; else NULL */
};

static const char link_name[] = "dueq._core.link";

static void link_free(struct link *link) {
    dueq_queue_close(link->queue);
    dueq_redisson_close(link->redisson);
    dueq_laravel_close(link->laravel);
    if (!link->capsule)
        dueq_close(link->client);
    Py_XDECREF(link->capsule);
    free(link);
}

static void link_capsule_free(PyObject *capsule) {
    link_free(PyCapsule_GetPointer(capsule, link_name));
}

/*
 * Makes the capsule of a link. status: of the call that filled the link. Frees the link on failure.
 */
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

    PyObject *capsule = link ? link_object(link, dueq_open(url, &link->client)) : PyErr_NoMemory();

    /* The client warns if no URL was set. */
    if (capsule && log_warning(link->client) < 0)
        Py_CLEAR(capsule);
    return capsule;
}

/* Tells the client that the program has reached the server by another client. */
static PyObject *client_reached(PyObject *client) {
    struct link *link = PyCapsule_GetPointer(client, link_name);

    if (!link)
        return NULL;
    dueq_reached(link->client);
    return Py_NewRef(Py_None);
}

/* A new link for a queue of this client; NULL: an exception was raised. */
static struct link *link_new(PyObject *client) {
    struct link *owner = PyCapsule_GetPointer(client, link_name);
    struct link *link = owner ? calloc(1, sizeof *link) : NULL;

    if (!link) {
        if (owner)
            PyErr_NoMemory();
        return NULL;
    }
    link->client = owner->client;
    link->capsule = Py_NewRef(client);
    return link;
}

static PyObject *queue_open(PyObject *client, dueq_bytes name) {
    struct link *link = link_new(client);

    if (!link)
        return NULL;
    return link_object(link, dueq_queue_open(link->client, name.data, name.size, &link->queue));
}

static PyObject *partitions_open(PyObject *client, dueq_bytes name, size_t count, dueq_bytes key) {
    struct link *link = link_new(client);

    if (!link)
        return NULL;
    return link_object(
        link, dueq_partitions_open(link->client, name.data, name.size, count, key, &link->queue));
}

static PyObject *partition_name(dueq_bytes queue, size_t partition) {
    char name[DUEQ_MAX_NAME + 1];

    return PyUnicode_FromStringAndSize(name,
                                       (Py_ssize_t)dueq_partition_name(queue, partition, name));
}

static PyObject *redisson_open(PyObject *client, dueq_bytes destination, dueq_codec codec,
                               dueq_layout layout) {
    struct link *link = link_new(client);

    if (!link)
        return NULL;
    return link_object(link, dueq_redisson_open(link->client, destination.data, destination.size,
                                                codec, layout, &link->redisson));
}

static PyObject *laravel_open(PyObject *client, dueq_bytes name, dueq_bytes prefix) {
    struct link *link = link_new(client);

    if (!link)
        return NULL;
    return link_object(
        link, dueq_laravel_open(link->client, name.data, name.size, prefix, &link->laravel));
}

/* Returns the link, if `wanted` is set. Else raises a TypeError. */
static struct link *link_with(struct link *link, const void *wanted) {
    if (!link || wanted)
        return link;
    PyErr_SetString(PyExc_TypeError, link->capsule
                                         ? "a queue of one system stands where another's is wanted"
                                         : "a client stands where a queue is wanted");
    return NULL;
}

static struct link *link_of_queue(PyObject *capsule) {
    struct link *link = PyCapsule_GetPointer(capsule, link_name);

    return link_with(link, link ? link->queue : NULL);
}

static struct link *link_of_redisson(PyObject *capsule) {
    struct link *link = PyCapsule_GetPointer(capsule, link_name);

    return link_with(link, link ? link->redisson : NULL);
}

static struct link *link_of_laravel(PyObject *capsule) {
    struct link *link = PyCapsule_GetPointer(capsule, link_name);

    return link_with(link, link ? link->laravel : NULL);
}

/*
 * Reads the handles of a tuple of queues, and the link of the last one. Returns the number; 0: an
 * exception was raised.
 */
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

%typemap(in, fragment="link") dueq_redisson *queue (struct link *link) {
    link = link_of_redisson($input);
    if (!link)
        SWIG_fail;
    $1 = link->redisson;
}

%typemap(in, fragment="link") dueq_laravel *queue (struct link *link) {
    link = link_of_laravel($input);
    if (!link)
        SWIG_fail;
    $1 = link->laravel;
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

/* A tuple of 1 to DUEQ_MAX_QUEUES queues. */
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

PyObject *client_reached(PyObject *client);
PyObject *client_open(const char *url);
PyObject *queue_open(PyObject *client, dueq_bytes name);
PyObject *partitions_open(PyObject *client, dueq_bytes name, size_t count, dueq_bytes key);
PyObject *partition_name(dueq_bytes queue, size_t partition);
PyObject *redisson_open(PyObject *client, dueq_bytes destination, dueq_codec codec,
                        dueq_layout layout);
PyObject *laravel_open(PyObject *client, dueq_bytes name, dueq_bytes prefix);
