# The tests: ./dev test [PART...], ./dev asan. Sourced by ../dev.

PARTS=(lint c python topology php laravel symfony phpworker contract cli web)

test_parts() {
    local part server
    for part in "$@"; do
        [[ " ${PARTS[*]} " == *" $part "* ]] || { echo "the parts are: ${PARTS[*]}" >&2; exit 2; }
    done
    [ $# -gt 0 ] || set -- "${PARTS[@]}"
    setup_programs
    setup_tools
    need_packages valgrind php-redis
    use_build
    SUMMARY=() FAILED=0
    for part in "$@"; do
        if [ "$part" = contract ]; then
            for server in redis-server valkey-server; do
                command -v "$server" >/dev/null || continue
                export DUEQ_TEST_SERVER=$server
                part_contract "$server"
            done
            unset DUEQ_TEST_SERVER
        else
            "part_$part"
        fi
    done
    printf '\n'
    printf '%s\n' "${SUMMARY[@]}"
    exit "$FAILED"
}

part_lint() {
    runner clang-format 'no such line' eval 'c_sources | xargs -0 clang-format --dry-run -Werror'
    runner ruff '^(All|Found)' ruff check .
    runner 'ruff format' format ruff format --check .
    local folder
    export MYPYPATH=tests/python:tests/topology:tests/contract:examples:examples/shop
    # One run for each folder of tests: their conftest.py are different modules of one name.
    for folder in bindings/python/dueq examples bench tests/*; do
        [ -z "$(find "$folder" -name '*.py' -print -quit 2>/dev/null)" ] ||
            runner "mypy $folder" '^(Success|Found)' mypy --strict "$folder"
    done
}

part_c() {
    # Most of them wait: four at a time are no busier than one.
    runner ctest 'tests passed' ctest --test-dir build/cmake --output-on-failure --parallel 4 \
        --no-tests=error --exclude-regex '^contract$'
}

part_python() {
    setup_shop
    # These compute all the time: as many at a time as there are processors.
    runner 'pytest model' '(passed|failed|error)' pytest -q -n 2 --dist worksteal tests/model
    # Those that take longest come first, so that none of them is the last that runs.
    at_once pytest --no-loadscope-reorder tests/bench tests/chaos tests/limits tests/upgrade \
        tests/examples tests/leaks tests/partitions tests/fuzz tests/python tests/test_*.py
}

# Clusters and sentinels.
part_topology() {
    at_once 'pytest topology' tests/topology
}

part_cli() {
    need_packages zsh fish mandoc
    at_once 'pytest cli' tests/cli
}

part_web() {
    need_packages chromium curl jq
    at_once 'pytest web' tests/web
}

part_php() {
    runner phpunit '^(OK|Tests:|ERRORS)' phpunit -c tests/php/phpunit.xml.dist
}

part_laravel() {
    setup_laravel
    runner 'phpunit laravel' '^(OK|Tests:|ERRORS)' phpunit -c tests/laravel/phpunit.xml.dist
}

part_symfony() {
    setup_symfony
    runner 'phpunit symfony' '^(OK|Tests:|ERRORS)' phpunit -c tests/symfony/phpunit.xml.dist
}

part_phpworker() {
    setup_phpworker
    runner 'phpunit worker' '^(OK|Tests:|ERRORS)' phpunit -c tests/worker-php/phpunit.xml.dist
}

part_contract() {
    runner "contract c $1" 'tests passed' ctest --test-dir build/cmake --output-on-failure \
        --no-tests=error --tests-regex '^contract$'
    at_once "contract python $1" tests/contract
    runner "contract php $1" '^(OK|Tests:|ERRORS)' phpunit --no-configuration tests/contract
}

asan() {
    setup_asan
    SUMMARY=() FAILED=0
    export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1
    runner 'ctest asan' 'tests passed' ctest --test-dir build/asan --output-on-failure "$@"
    printf '\n%s\n' "${SUMMARY[@]}"
    exit "$FAILED"
}

# at_once NAME WORD...: pytest, three files at a time. Each has servers of its own, and mostly waits.
at_once() {
    local name=$1
    shift
    runner "$name" '(passed|failed|error)' pytest -q -n 3 --dist loadfile "$@"
}

# runner NAME PATTERN COMMAND...: shows the output and keeps the closing line, the last that matches.
runner() {
    # Its own until it is complete: another ./dev test may run.
    local name=$1 pattern=$2 log=build/log/test-${1//[^a-z]/-}.log.$$ closing status=0
    local begin=$EPOCHREALTIME before
    computed
    before=$COMPUTED
    shift 2
    mkdir -p build/log
    printf '\n== %s\n' "$name"
    "$@" </dev/null 2>&1 | tee "$log" || status=$?
    closing=$(grep -aE "$pattern" "$log" | tail -n 1 | sed -E 's/^=+ *| *=+$//g') || true
    mv "$log" "${log%.$$}"
    if [ "$status" -ne 0 ]; then
        FAILED=1
        closing="FAILED  ${closing:-exit status $status}"
    fi
    computed
    SUMMARY+=("$(printf '%-28s %6.1f s (%.0f s of CPU)  %s' "$name" "$(seconds_since "$begin")" \
        "$(((COMPUTED - before + 500) / 1000))" "${closing:-ok}")")
}

# Sets COMPUTED: what the processes that have ended by now computed, in milliseconds.
computed() {
    local own user system
    times >build/log/times.$$
    { read -r own && read -r user system; } <build/log/times.$$
    rm -f build/log/times.$$
    [[ "$user $system" =~ ^([0-9]+)m([0-9]+)[.,]([0-9]+)s\ ([0-9]+)m([0-9]+)[.,]([0-9]+)s$ ]]
    set -- "${BASH_REMATCH[@]:1}"
    COMPUTED=$(((10#$1 + 10#$4) * 60000 + (10#$2 + 10#$5) * 1000 + 10#$3 + 10#$6))
}

# The C files that clang-format keeps: not those that a tool writes. NUL between names.
c_sources() {
    find core interop cli bindings/php tests bench -name '*.[ch]' ! -name '*_arginfo.h' \
        ! -path core/dueq_verbs.h -print0 2>/dev/null
}
