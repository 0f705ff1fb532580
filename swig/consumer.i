%fragment("consumer", "header", fragment="link", fragment="borrow", fragment="answer") %{
/* A consumer, and the handles that it needs. */
struct consumer {
    dueq_consumer *consumer; /* NULL: closed */
    dueq_client *client;
    PyObject *queues; /* a tuple of capsules */
    size_t queue;     /* the index of the last delivered message's queue */
};

static const char consumer_name[] = "dueq._core.consumer";

/* Without the GIL, as the end of the heartbeat may take a moment. */
static void consumer_end(struct consumer *consumer) {
    dueq_consumer *ending = consumer->consumer;

    consumer->consumer = NULL;
    Py_BEGIN_ALLOW_THREADS
    dueq_consumer_close(ending);
    Py_END_ALLOW_THREADS
}

static void consumer_capsule_free(PyObject *capsule) {
    struct consumer *consumer = PyCapsule_GetPointer(capsule, consumer_name);

    consumer_end(consumer);
    Py_DECREF(consumer->queues);
    free(consumer);
}

static struct consumer *consumer_of(PyObject *capsule) {
    struct consumer *consumer = PyCapsule_GetPointer(capsule, consumer_name);

    if (consumer && !consumer->consumer) {
        PyErr_SetString(PyExc_ValueError, "the consumer is closed");
        return NULL;
    }
    return consumer;
}

static PyObject *consumer_status(const struct consumer *consumer, dueq_status status) {
    if (status >= 0)
        return PyLong_FromLong(status);
    raise_status(consumer->client, status);
    return NULL;
}

/* A byte written here wakes the thread that logs; -1: there is no such thread. */
static int wake_descriptor = -1;

/* Runs in the heartbeat's thread, which must not call Python. */
static void wake_logger(void *context) {
    (void)context;
    if (wake_descriptor >= 0 && write(wake_descriptor, "", 1) < 0)
        return; /* the pipe is full, so its reader will wake */
}

static PyObject *wake_by(int descriptor) {
    wake_descriptor = descriptor;
    return Py_NewRef(Py_None);
}

/* Made from core/options.toml by core/verbs.py: the options of consume. */
/*
 * row: (prefetch, lease_ms, max_run_ms, slack_ms, order, concurrency, tasks).
 */
static int consumer_options_fill(dueq_consumer_options *options, PyObject *row) {
    Py_ssize_t prefetch, concurrency, tasks_size;
    long long lease_ms, max_run_ms, slack_ms;
    int order;

    *options = (dueq_consumer_options)DUEQ_CONSUMER;
    if (!PyArg_ParseTuple(row, "nLLLins#:consumer_options", &prefetch, &lease_ms, &max_run_ms,
                          &slack_ms, &order, &concurrency, &options->tasks.data, &tasks_size))
        return -1;
    options->prefetch = (size_t)prefetch;
    options->lease_ms = lease_ms;
    options->max_run_ms = max_run_ms;
    options->slack_ms = slack_ms;
    options->order = (dueq_order)order;
    options->concurrency = (size_t)concurrency;
    options->tasks.size = (size_t)tasks_size;
    return 0;
}
/* The end of what was made. */

static PyObject *consumer_open(PyObject *queues, PyObject *row) {
    const char *version = Py_GetVersion(); /* "3.12.4 (main, ...)" */
    char program[32];
    dueq_consumer_options options;
    dueq_queue *handles[DUEQ_MAX_QUEUES];
    struct link *link;
    size_t count = links_of_queues(queues, handles, &link);
    struct consumer *consumer;
    PyObject *capsule = NULL;
    dueq_status status;

    if (!count || consumer_options_fill(&options, row) < 0)
        return NULL;
    consumer = calloc(1, sizeof *consumer);
    if (!consumer)
        return PyErr_NoMemory();
    consumer->client = link->client;
    snprintf(program, sizeof program, "python %.*s", (int)strcspn(version, " "), version);
    options.program = program;
    status = dueq_consumer_open(handles, count, &options, &consumer->consumer);
    if (status < 0)
        raise_status(link->client, status);
    else
        capsule = PyCapsule_New(consumer, consumer_name, consumer_capsule_free);
    if (!capsule) {
        dueq_consumer_close(consumer->consumer);
        free(consumer);
        return NULL;
    }
    consumer->queues = Py_NewRef(queues);
    dueq_consumer_on_warning(consumer->consumer, wake_logger, NULL);
    return capsule;
}

/* The delivered message, or a status. */
static PyObject *consumer_take(PyObject *capsule) {
    struct consumer *consumer = consumer_of(capsule);
    const dueq_message *message;
    dueq_status status;

    if (!consumer)
        return NULL;
    status = dueq_consumer_take(consumer->consumer, &message, &consumer->queue);
    return status == DUEQ_OK ? message_object(message) : consumer_status(consumer, status);
}

/*
 * The next message, if one is prefetched. Else the call sends a request, and waits at most
 * `patience_ms` for its answer, without the GIL. None: the answer has come, and consumer_take() has
 * it. PENDING: the answer has not come. Wait, then call consumer_take().
 */
static PyObject *consumer_next(PyObject *capsule, int64_t timeout_ms, int64_t patience_ms) {
    struct consumer *consumer = consumer_of(capsule);
    dueq_client *client;
    dueq_status status;

    if (!consumer)
        return NULL;
    client = consumer->client;
    status = dueq_consumer_submit(consumer->consumer, timeout_ms);
    if (status == DUEQ_OK)
        return consumer_take(capsule);
    if (status != DUEQ_PENDING || !patience_ms)
        return consumer_status(consumer, status);
    Py_BEGIN_ALLOW_THREADS
    status = dueq_wait(client, patience_ms);
    Py_END_ALLOW_THREADS
    if (log_warning(client) < 0)
        return NULL;
    if (status == DUEQ_PENDING || status == DUEQ_INTERRUPTED)
        return PyLong_FromLong(DUEQ_PENDING);
    return Py_NewRef(Py_None);
}

/* The index of the queue of the last delivered message. */
static PyObject *consumer_queue(PyObject *capsule) {
    struct consumer *consumer = consumer_of(capsule);

    return consumer ? PyLong_FromSize_t(consumer->queue) : NULL;
}

static PyObject *consumer_ack(PyObject *capsule, dueq_bytes ticket) {
    struct consumer *consumer = consumer_of(capsule);

    return consumer ? consumer_status(consumer, dueq_consumer_ack(consumer->consumer, ticket))
                    : NULL;
}

static PyObject *consumer_retry(PyObject *capsule, dueq_bytes ticket, int64_t delay_ms,
                                dueq_bytes error) {
    struct consumer *consumer = consumer_of(capsule);

    if (!consumer)
        return NULL;
    return consumer_status(consumer,
                           dueq_consumer_retry(consumer->consumer, ticket, delay_ms, error));
}

static PyObject *consumer_forget(PyObject *capsule, dueq_bytes ticket) {
    struct consumer *consumer = PyCapsule_GetPointer(capsule, consumer_name);

    if (!consumer)
        return NULL;
    if (consumer->consumer)
        dueq_consumer_forget(consumer->consumer, ticket);
    return Py_NewRef(Py_None);
}

/*
 * Begins to stop, even while a request is in progress. OK, or PENDING: wait, then call
 * consumer_stop_take().
 */
static PyObject *consumer_stop(PyObject *capsule) {
    struct consumer *consumer = consumer_of(capsule);

    return consumer ? consumer_status(consumer, dueq_consumer_stop_submit(consumer->consumer))
                    : NULL;
}

static PyObject *consumer_stop_take(PyObject *capsule) {
    struct consumer *consumer = consumer_of(capsule);

    return consumer ? consumer_status(consumer, dueq_consumer_stop_take(consumer->consumer)) : NULL;
}

static PyObject *consumer_warning(PyObject *capsule) {
    struct consumer *consumer = PyCapsule_GetPointer(capsule, consumer_name);
    char text[DUEQ_MAX_WARNING];

    if (!consumer)
        return NULL;
    if (!consumer->consumer || !dueq_consumer_warning(consumer->consumer, text))
        return Py_NewRef(Py_None);
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *consumer_has_lost(PyObject *capsule, dueq_bytes ticket) {
    struct consumer *consumer = PyCapsule_GetPointer(capsule, consumer_name);

    if (!consumer)
        return NULL;
    return PyBool_FromLong(consumer->consumer &&
                           dueq_consumer_has_lost(consumer->consumer, ticket));
}

static PyObject *consumer_keep_ack(PyObject *capsule, dueq_bytes ticket, int failure) {
    struct consumer *consumer = PyCapsule_GetPointer(capsule, consumer_name);

    if (!consumer)
        return NULL;
    return PyBool_FromLong(consumer->consumer && dueq_consumer_keep_ack(consumer->consumer, ticket,
                                                                        (dueq_status)failure));
}

static PyObject *consumer_disown(PyObject *capsule) {
    struct consumer *consumer = consumer_of(capsule);

    if (!consumer)
        return NULL;
    dueq_consumer_disown(consumer->consumer);
    return Py_NewRef(Py_None);
}

/* Any thread may call this. True: the heartbeat has ended. */
static PyObject *consumer_leave(PyObject *capsule) {
    struct consumer *consumer = PyCapsule_GetPointer(capsule, consumer_name);

    if (!consumer)
        return NULL;
    return PyBool_FromLong(!consumer->consumer || dueq_consumer_leave(consumer->consumer));
}

static PyObject *consumer_wind_down(PyObject *capsule) {
    struct consumer *consumer = PyCapsule_GetPointer(capsule, consumer_name);

    if (!consumer)
        return NULL;
    if (consumer->consumer)
        dueq_consumer_wind_down(consumer->consumer);
    return Py_NewRef(Py_None);
}

static PyObject *consumer_lost(PyObject *capsule) {
    struct consumer *consumer = consumer_of(capsule);

    return consumer ? PyLong_FromSize_t(dueq_consumer_lost(consumer->consumer)) : NULL;
}

static PyObject *consumer_close(PyObject *capsule) {
    struct consumer *consumer = PyCapsule_GetPointer(capsule, consumer_name);

    if (!consumer)
        return NULL;
    consumer_end(consumer);
    return Py_NewRef(Py_None);
}
%}

%fragment("consumer");

PyObject *consumer_open(PyObject *queues, PyObject *row);
PyObject *consumer_next(PyObject *capsule, int64_t timeout_ms, int64_t patience_ms);
PyObject *consumer_take(PyObject *capsule);
PyObject *consumer_queue(PyObject *capsule);
PyObject *consumer_ack(PyObject *capsule, dueq_bytes ticket);
PyObject *consumer_retry(PyObject *capsule, dueq_bytes ticket, int64_t delay_ms, dueq_bytes error);
PyObject *consumer_forget(PyObject *capsule, dueq_bytes ticket);
PyObject *consumer_stop(PyObject *capsule);
PyObject *consumer_stop_take(PyObject *capsule);
PyObject *wake_by(int descriptor);
PyObject *consumer_warning(PyObject *capsule);
PyObject *consumer_has_lost(PyObject *capsule, dueq_bytes ticket);
PyObject *consumer_keep_ack(PyObject *capsule, dueq_bytes ticket, int failure);
PyObject *consumer_disown(PyObject *capsule);
PyObject *consumer_leave(PyObject *capsule);
PyObject *consumer_wind_down(PyObject *capsule);
PyObject *consumer_lost(PyObject *capsule);
PyObject *consumer_close(PyObject *capsule);
