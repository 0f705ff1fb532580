/* Nothing else touches the network: the submits only note what to send. */
%exception dueq_wait {
    Py_BEGIN_ALLOW_THREADS
    $action
    Py_END_ALLOW_THREADS
}
