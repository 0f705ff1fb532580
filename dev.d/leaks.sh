# Memory that stays: ./dev leaks [--cycles N]. Sourced by ../dev.
#
# A PHP with memory checks (configure --enable-debug) is used where `php` is one, or where
# DUEQ_PHP_DEBUG is the path of one that has its phpize and php-config beside it.
# The last line is for machines: leaks: python_cycles=N python_growth_kib=N ... asan=clean php_debug=absent

leaks() {
    local php asan=clean words=()
    setup
    setup_tools
    setup_asan
    use_build
    # In a process of its own, because it ends by itself.
    (asan) || asan=findings
    php=$(debug_php)
    if [ -n "$php" ]; then
        PHP=$php steps php_debug_extension
        words=(--php-debug "$php" --php-debug-extension "$ROOT/build/php-debug/modules/dueq.so")
    fi
    python tests/leaks/leaks.py --asan "$asan" "${words[@]}" "$@"
}

# The path of a PHP with memory checks; nothing where there is none.
debug_php() {
    local php
    for php in "${DUEQ_PHP_DEBUG-}" php; do
        if [ -n "$php" ] && [ "$("$php" -n -r 'echo PHP_DEBUG;')" = 1 ]; then
            command -v "$php"
            return
        fi
    done
}
