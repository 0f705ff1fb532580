# The benchmark: ./dev bench [--quick] [--only NAME] [--write]. Sourced by ../dev.

bench() {
    setup_programs
    need_packages "${PACKAGES[@]}" redis-tools valgrind php-fpm php-redis
    steps bench_tools
    use_build
    [[ " $* " =~ \ (-h|--help|--from)\  ]] || bench_packages "$@"
    build/bench-venv/bin/python bench/run.py "$@"
}

# Installs the distribution's packages that the chosen peers need. A peer without its packages is
# absent, and its install.sh says why.
bench_packages() {
    local lists list
    lists=$(build/bench-venv/bin/python bench/run.py --packages "$@")
    while read -r list; do
        # shellcheck disable=SC2086 # a list of names
        [ -z "$list" ] || (need_packages $list) || echo "  without: $list" >&2
    done <<<"$lists"
}
