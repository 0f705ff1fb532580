# ./dev chaos: workers of several languages under fire. Sourced by ../dev.

chaos() {
    setup
    use_build
    # What c_inputs does not know: the worker in C. Nothing is done when it is up to date.
    cmake --build build/cmake --target chaos-worker >build/log/chaos-worker.log ||
        { cat build/log/chaos-worker.log >&2; exit 1; }
    python tests/chaos/chaos.py "$@"
}
