/*
 * (id, (then,), (catch,), (finally,), then_queue, catch_queue, finally_queue, open_ms, keep_ms). A
 * callback is a draft as in a push, alone in a tuple, or () where there is none.
 */
%typemap(in, fragment="drafts") const dueq_batch_options *options
        (dueq_batch_options made = DUEQ_BATCH, struct drafts jobs[3] = {{0}}) {
    Py_ssize_t id_size, sizes[3];
    PyObject *rows[3];
    long long open_ms, keep_ms;

    if (!PyArg_ParseTuple($input, "s#OOOs#s#s#LL:batch_options", &made.id.data, &id_size, &rows[0],
                          &rows[1], &rows[2], &made.then_queue.data, &sizes[0],
                          &made.catch_queue.data, &sizes[1], &made.finally_queue.data, &sizes[2],
                          &open_ms, &keep_ms))
        SWIG_fail;
    made.id.size = (size_t)id_size;
    made.then_queue.size = (size_t)sizes[0];
    made.catch_queue.size = (size_t)sizes[1];
    made.finally_queue.size = (size_t)sizes[2];
    made.open_ms = open_ms;
    made.keep_ms = keep_ms;
    for (int i = 0; i < 3; i++)
        if (drafts_fill(&jobs[i], rows[i]) < 0)
            SWIG_fail;
    made.then_job = jobs[0].count ? jobs[0].items : NULL;
    made.catch_job = jobs[1].count ? jobs[1].items : NULL;
    made.finally_job = jobs[2].count ? jobs[2].items : NULL;
    $1 = &made;
}
%typemap(freearg) const dueq_batch_options *options {
    for (int i = 0; i < 3; i++)
        drafts_free(&jobs$argnum[i]);
}
