/*
 * A client carries one call at a time, so each call under way needs a client and the queue's handle of
 * it. Python holds the two as one capsule, which closes them when its last reference goes.
 */
%fragment("link", "header", fragment="raise_status") %{
struct link {
    dueq_client *client;
    dueq_queue *queue;
};

static const char link_name[] = "dueq._core.link";

static void link_free(struct link *link) {
    dueq_queue_close(link->queue);
    dueq_close(link->client);
    free(link);
}

static void link_capsule_free(PyObject *capsule) {
    link_free(PyCapsule_GetPointer(capsule, link_name));
}

static PyObject *link_open(const char *url, dueq_bytes name) {
    PyObject *capsule = NULL;
    struct link *link = calloc(1, sizeof *link);
    dueq_status status;

    if (!link)
        return PyErr_NoMemory();
    status = dueq_open(url, &link->client);
    if (status >= 0)
        status = dueq_queue_open(link->client, name.data, name.size, &link->queue);
    if (status < 0)
        raise_status(link->client, status);
    else
        capsule = PyCapsule_New(link, link_name, link_capsule_free);
    if (!capsule)
        link_free(link);
    return capsule;
}
%}

%typemap(in, fragment="link") dueq_queue *queue (struct link *link) {
    link = PyCapsule_GetPointer($input, link_name);
    if (!link)
        SWIG_fail;
    $1 = link->queue;
}

%typemap(in, fragment="link") dueq_client *client (struct link *link),
                             const dueq_client *client (struct link *link) {
    link = PyCapsule_GetPointer($input, link_name);
    if (!link)
        SWIG_fail;
    $1 = link->client;
}

PyObject *link_open(const char *url, dueq_bytes name);
