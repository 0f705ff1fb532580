# The benchmark: ./dev bench [--quick] [--only NAME] [--write]. Sourced by ../dev.

bench() {
    setup
    need_packages "${PACKAGES[@]}" redis-tools
    step bench_plots "plots" "$(system_python --version) $(inputs dev.d/bench-requirements.txt)"
    bench_packages
    use_build
    build/bench-venv/bin/python bench/run.py "$@"
}

# What peers need of the distribution. Without it a peer is absent, and its install.sh says why.
bench_packages() {
    local list
    for list in bench/peers/*/packages; do
        [ -e "$list" ] || continue
        # shellcheck disable=SC2046 # a list of names
        (need_packages $(cat "$list")) || echo "  without the packages of $list" >&2
    done
}
