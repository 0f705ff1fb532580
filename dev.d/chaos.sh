# ./dev chaos, failover and cluster: workers while servers fail. Sourced by ../dev.

chaos() {
    setup_programs
    use_build
    python tests/chaos/chaos.py "$@"
}

failover() {
    setup_programs
    use_build
    python tests/chaos/failover.py "$@"
}

cluster() {
    setup_programs
    use_build
    python tests/chaos/clustered.py "$@"
}
