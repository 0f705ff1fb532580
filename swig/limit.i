/*
 * (concurrency, rate, burst, group, backlog, weight, order, each_group_concurrency,
 * each_group_rate, each_group_burst, each_group_backlog, clear). group: a str, or None.
 */
%typemap(in) const dueq_limit_options *options (dueq_limit_options made = DUEQ_LIMIT) {
    long long concurrency, burst, backlog, weight, each_concurrency, each_burst, each_backlog;
    Py_ssize_t rate_size, group_size, order_size, each_rate_size;
    int clear;

    if (!PyArg_ParseTuple($input, "Ls#Lz#LLs#Ls#LLi:limit_options", &concurrency, &made.rate.data,
                          &rate_size, &burst, &made.group.data, &group_size, &backlog, &weight,
                          &made.order.data, &order_size, &each_concurrency,
                          &made.each_group_rate.data, &each_rate_size, &each_burst, &each_backlog,
                          &clear))
        SWIG_fail;
    made.concurrency = concurrency;
    made.rate.size = (size_t)rate_size;
    made.burst = burst;
    made.group.size = (size_t)group_size;
    made.backlog = backlog;
    made.weight = weight;
    made.order.size = (size_t)order_size;
    made.each_group_concurrency = each_concurrency;
    made.each_group_rate.size = (size_t)each_rate_size;
    made.each_group_burst = each_burst;
    made.each_group_backlog = each_backlog;
    made.clear = clear;
    $1 = &made;
}
