%fragment("pusher", "header", fragment="link", fragment="drafts", fragment="answer") %{
/* A pusher, and the Push objects of its pushes in flight, the oldest first. */
struct pusher {
    dueq_pusher *pusher;
    dueq_client *client;
    PyObject *capsule; /* the queue's */
    PyObject *pushes;  /* a list */
};

static const char pusher_name[] = "dueq._core.pusher";

static void pusher_free(struct pusher *pusher) {
    dueq_pusher_close(pusher->pusher);
    Py_XDECREF(pusher->capsule);
    Py_XDECREF(pusher->pushes);
    free(pusher);
}

static void pusher_capsule_free(PyObject *capsule) {
    pusher_free(PyCapsule_GetPointer(capsule, pusher_name));
}

static PyObject *pusher_open(PyObject *queue, size_t most) {
    struct link *link = link_of_queue(queue);
    struct pusher *pusher = link ? calloc(1, sizeof *pusher) : NULL;
    PyObject *capsule = NULL;
    dueq_status status;

    if (!pusher)
        return link ? PyErr_NoMemory() : NULL;
    pusher->client = link->client;
    pusher->capsule = Py_NewRef(queue);
    pusher->pushes = PyList_New(0);
    status = dueq_pusher_open(link->queue, most, &pusher->pusher);
    if (status < 0)
        raise_status(link->client, status);
    else if (pusher->pushes)
        capsule = PyCapsule_New(pusher, pusher_name, pusher_capsule_free);
    if (!capsule)
        pusher_free(pusher);
    return capsule;
}

/* Starts the push of one draft. push: the object that gets the outcome. */
static PyObject *pusher_push(PyObject *capsule, const dueq_draft *drafts, size_t count,
                             PyObject *push) {
    struct pusher *pusher = PyCapsule_GetPointer(capsule, pusher_name);
    Py_ssize_t place;
    dueq_status status;

    if (!pusher)
        return NULL;
    if (count != 1) {
        PyErr_SetString(PyExc_ValueError, "one draft at a time");
        return NULL;
    }
    place = PyList_Size(pusher->pushes);
    /* A child after fork() has no pushes in flight: it drops the parent's objects. */
    if (place && !dueq_pusher_left(pusher->pusher) &&
        PyList_SetSlice(pusher->pushes, 0, place, NULL) < 0)
        return NULL;
    if (PyList_Append(pusher->pushes, push) < 0)
        return NULL;
    status = dueq_pusher_push(pusher->pusher, drafts);
    if (status != DUEQ_OK) {
        place = PyList_Size(pusher->pushes);
        PyList_SetSlice(pusher->pushes, place - 1, place, NULL);
    }
    if (status < 0) {
        raise_status(pusher->client, status);
        return NULL;
    }
    return PyLong_FromLong(status);
}

/* Sets the attributes of a push that is done: id or error, and done. */
static int pusher_settle(const struct pusher *pusher, PyObject *push, dueq_status status,
                         const dueq_result *result, size_t index, PyObject *failed) {
    const char *text = dueq_error_text(pusher->client);
    PyObject *error;

    if (status == DUEQ_NOT_DURABLE && set(push, "id", text_object(dueq_result_id(result, index))))
        return -1;
    if (status >= 0) {
        status = dueq_result_status(result, index);
        text = dueq_status_text(status);
    }
    if (status == DUEQ_OK)
        return set(push, "id", text_object(dueq_result_id(result, index))) ||
               set(push, "done", PyBool_FromLong(1));
    error = status == DUEQ_NOT_DURABLE ? not_durable_object(text, result, index, index + 1)
                                       : error_object(status, text);
    return set(push, "error", error) || set(push, "done", PyBool_FromLong(1)) ||
           PyList_Append(failed, push) < 0;
}

/* Marks the oldest pushes that are done. Returns the failed ones of them. None: no push is done. */
static PyObject *pusher_done(PyObject *capsule) {
    struct pusher *pusher = PyCapsule_GetPointer(capsule, pusher_name);
    PyObject *failed = pusher ? PyList_New(0) : NULL, *done;
    dueq_result *result;
    dueq_status status;
    Py_ssize_t count;
    int broken;

    if (!failed)
        return NULL;
    count = (Py_ssize_t)dueq_pusher_done(pusher->pusher, &status, &result);
    /*
     * Takes the objects out of the list first: a signal handler may push, or call this function,
     * meanwhile.
     */
    done = PyList_GetSlice(pusher->pushes, 0, count);
    broken = !done || PyList_SetSlice(pusher->pushes, 0, count, NULL) < 0;
    for (Py_ssize_t i = 0; i < count && !broken; i++)
        broken = pusher_settle(pusher, PyList_GetItem(done, i), status, result, (size_t)i, failed);
    dueq_result_free(result);
    Py_XDECREF(done);
    if (broken || !count) {
        Py_DECREF(failed);
        return broken ? NULL : Py_NewRef(Py_None);
    }
    return failed;
}

/* How many pushes are not done. */
static PyObject *pusher_left(PyObject *capsule) {
    struct pusher *pusher = PyCapsule_GetPointer(capsule, pusher_name);

    return pusher ? PyLong_FromSize_t(dueq_pusher_left(pusher->pusher)) : NULL;
}
%}

%fragment("pusher");

PyObject *pusher_open(PyObject *queue, size_t most);
PyObject *pusher_push(PyObject *capsule, const dueq_draft *drafts, size_t count, PyObject *push);
PyObject *pusher_done(PyObject *capsule);
PyObject *pusher_left(PyObject *capsule);
