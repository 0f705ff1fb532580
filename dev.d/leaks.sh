# Memory leaks: ./dev leaks [--cycles N]. Sourced by ../dev.
#
# The PHP part needs a PHP with memory checks (configure --enable-debug): `php` itself, or the path
# in DUEQ_PHP_DEBUG, with its phpize and php-config in the same folder. The last line:
# leaks: python_cycles=N python_growth_kib=N ... asan=clean php_debug=absent

leaks() {
    local php asan=clean words=()
    setup
    setup_tools
    setup_asan
    use_build
    # In a subshell, because asan() exits.
    (asan) || asan=findings
    php=$(debug_php)
    if [ -n "$php" ]; then
        PHP=$php steps php_debug_extension
        words=(--php-debug "$php" --php-debug-extension "$ROOT/build/php-debug/modules/dueq.so")
    fi
    python tests/leaks/leaks.py --asan "$asan" "${words[@]}" "$@"
}

# Prints the path of a PHP with memory checks, or nothing.
debug_php() {
    local php
    for php in "${DUEQ_PHP_DEBUG-}" php; do
        if [ -n "$php" ] && [ "$("$php" -n -r 'echo PHP_DEBUG;')" = 1 ]; then
            command -v "$php"
            return
        fi
    done
}
