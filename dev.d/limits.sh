# The limits of one server: ./dev limits [--quick]. Sourced by ../dev.
# The last line is for programs:
# limits: push_ratio=N ... longest_script_ms=N longest_pause_ms=N in_order=1

limits() {
    setup_programs
    use_build
    python bench/limits.py "$@"
}
