%fragment("reserve", "header") %{
/* Made from core/options.toml by core/verbs.py: the options of reserve. */
/*
 * row: (count, order, timeout_ms, lease_ms).
 */
static int reserve_options_fill(dueq_reserve_options *options, PyObject *row) {
    Py_ssize_t count;
    int order;
    long long timeout_ms, lease_ms;

    *options = (dueq_reserve_options)DUEQ_RESERVE;
    if (!PyArg_ParseTuple(row, "niLL:reserve_options", &count, &order, &timeout_ms, &lease_ms))
        return -1;
    options->count = (size_t)count;
    options->order = (dueq_order)order;
    options->timeout_ms = timeout_ms;
    options->lease_ms = lease_ms;
    return 0;
}
/* The end of what was made. */
%}

%typemap(in, fragment="reserve") const dueq_reserve_options *options (dueq_reserve_options made) {
    if (reserve_options_fill(&made, $input) < 0)
        SWIG_fail;
    $1 = &made;
}
