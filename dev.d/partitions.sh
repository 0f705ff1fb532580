# ./dev partitions: consumers of a queue of partitions come and go. Sourced by ../dev.

partitions() {
    setup
    use_build
    python tests/partitions/partitions.py "$@"
}
