/*
 * Only this call blocks on the network: the submits only queue their requests. So only this call
 * releases the GIL.
 */
%exception dueq_wait {
    Py_BEGIN_ALLOW_THREADS
    $action
    Py_END_ALLOW_THREADS
}
