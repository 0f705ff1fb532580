# ./dev partitions: consumers of a queue with partitions come and go. Sourced by ../dev.

partitions() {
    setup
    use_build
    python tests/partitions/partitions.py "$@"
}
