# The tests: ./dev test [all] [PART...], ./dev asan, ./dev poll, ./dev musl, ./dev analyser. Sourced
# by ../dev.
#
# Without `all`, tests that are marked slow are left out, and the contract runs on Redis alone, not
# on Redis and Valkey. $DUEQ_TEST_SERVER names another server for all tests.

# The parts of a line run one after the other, the lines at the same time, because most tests wait.
LANES=(
    "python web laravel phpworker"
    "lint c contract cli symfony"
    "topology php model"
)
# The further packages of a part.
declare -A PART_PACKAGES=(
    [python]="${PHPWORKER[*]}"
    [laravel]="${LARAVEL[*]}"
    [symfony]="${SYMFONY[*]}"
    [phpworker]="${PHPWORKER[*]}"
    [cli]="zsh fish mandoc"
    [web]="chromium curl jq"
)

test_parts() {
    local lane part parts packages=() chosen=() begin=$EPOCHREALTIME
    ALL=0
    if [ "${1-}" = all ]; then
        ALL=1
        shift
    fi
    for part in "$@"; do
        [[ " ${LANES[*]} " == *" $part "* ]] || { echo "the parts are: ${LANES[*]}" >&2; exit 2; }
    done
    for lane in "${LANES[@]}"; do
        parts=
        for part in $lane; do
            if [ $# -eq 0 ] || [[ " $* " == *" $part "* ]]; then
                parts+="$part "
                # shellcheck disable=SC2206 # lists of words
                packages+=(${PART_PACKAGES[$part]-})
            fi
        done
        [ -z "$parts" ] || chosen+=("$parts")
    done
    need_packages "${PACKAGES[@]}" "${TESTS[@]}" "${packages[@]}"
    setup_programs
    setup_tools
    [[ " ${chosen[*]} " != *" python "* ]] || setup_shop
    use_build
    SUMMARY=$(mktemp -d -t dueq-test-XXXXXX)
    # shellcheck disable=SC2064 # it is known now
    trap "rm -rf $SUMMARY" EXIT
    printf '%-28s %6.1f s\n' "set-up" "$(seconds_since "$begin")" >"$SUMMARY/first"
    TOGETHER=${#chosen[@]}
    lanes "${chosen[@]}"
    printf '%-28s %6.1f s\n' "together" "$(seconds_since "$begin")" >"$SUMMARY/last"
    printf '\n'
    cat "$SUMMARY"/first "$SUMMARY"/lane-* "$SUMMARY"/last
    [ ! -e "$SUMMARY/failed" ]
    exit
}

# In a pipe and not in the background, where the tests would survive Ctrl-C.
lanes() {
    if [ $# -eq 1 ]; then
        lane "$1"
    else
        lane "$1" >&3 | lanes "${@:2}"
    fi
} 3>&1

# lane PARTS: runs the parts. Their closing lines go to a file of this lane.
lane() {
    local part
    LINES_OF=$SUMMARY/lane-${1%% *}
    for part in $1; do
        "part_$part"
    done
}

part_lint() {
    runner clang-format 'no such line' eval 'c_sources | xargs -0 clang-format --dry-run -Werror'
    runner ruff '^(All|Found)' ruff check .
    runner 'ruff format' format ruff format --check .
    local folder
    export MYPYPATH=tests/python:tests/topology:tests/contract:examples:examples/shop:packaging
    # One run for each folder of tests: each has a conftest.py, a module of the same name.
    for folder in bindings/python/dueq examples bench packaging tests/*/; do
        [ -z "$(find "$folder" -name '*.py' -print -quit 2>/dev/null)" ] ||
            runner "mypy ${folder%/}" '^(Success|Found)' mypy --strict "$folder"
    done
    runner "mypy tests" '^(Success|Found)' mypy --strict tests/*.py
    # The generators.
    runner "mypy core" '^(Success|Found)' \
        mypy --strict core/*.py core/{faces,options} core/scripts/embed.py
}

part_c() {
    # Most of these tests wait, so four at a time keep the machine no busier than one.
    in_c ctest --parallel 4 --exclude-regex '^contract$'
}

# These tests compute all the time: one for each processor.
part_model() {
    in_python 'pytest model' -n 2 --dist worksteal tests/model
}

part_python() {
    # The longest tests come first, so that none of them runs alone at the end.
    in_python pytest --no-loadscope-reorder tests/bench tests/chaos tests/limits tests/upgrade \
        tests/examples tests/leaks tests/partitions tests/fuzz tests/python tests/test_*.py
}

# Clusters and sentinels.
part_topology() {
    in_python 'pytest topology' tests/topology
}

part_cli() {
    in_python 'pytest cli' tests/cli
}

part_web() {
    in_python 'pytest web' tests/web
}

part_php() {
    in_php phpunit -c tests/php/phpunit.xml.dist
}

part_laravel() {
    in_php 'phpunit laravel' -c tests/laravel/phpunit.xml.dist
}

part_symfony() {
    in_php 'phpunit symfony' -c tests/symfony/phpunit.xml.dist
}

part_phpworker() {
    in_php 'phpunit worker' -c tests/worker-php/phpunit.xml.dist
}

part_contract() {
    local server
    for server in ${DUEQ_TEST_SERVER:-redis-server valkey-server}; do
        command -v "$server" >/dev/null || continue
        export DUEQ_TEST_SERVER=$server
        in_c "contract c $server" --tests-regex '^contract$'
        in_python "contract python $server" tests/contract
        in_php "contract php $server" --no-configuration tests/contract
        unset DUEQ_TEST_SERVER
        [ "$ALL" -eq 1 ] || return 0
    done
}

# PHP's static analyser, for tests/test_php_types.py, which compares the texts of this version.
MAGO=1.29.0

# Installs it where cargo puts programs, for all checkouts. Built with few optimizations, which is
# faster, because it reads only a few files.
analyser() {
    if ! command -v cargo >/dev/null; then
        echo "./dev analyser: needs cargo, of Rust 1.95 or later" >&2
        exit 1
    fi
    CARGO_PROFILE_RELEASE_LTO=false CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
        CARGO_PROFILE_RELEASE_OPT_LEVEL=1 cargo install --locked "mago@$MAGO"
}

asan() {
    setup_asan
    export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1
    c_tests_of asan "$@"
}

poll() {
    setup_poll
    c_tests_of poll "$@"
}

musl() {
    need_packages "${PACKAGES[@]}" musl-tools
    setup_packaging
    packaging musl_tests.py
    c_tests_of musl "$@"
}

# c_tests_of BUILD [WORD...]: the C tests of build/BUILD.
c_tests_of() {
    SUMMARY=$(mktemp -d -t dueq-test-XXXXXX) LINES_OF=$SUMMARY/lane TOGETHER=1
    # shellcheck disable=SC2064 # it is known now
    trap "rm -rf $SUMMARY" EXIT
    runner "ctest $1" 'tests passed' ctest --test-dir "build/$1" --output-on-failure "${@:2}"
    printf '\n'
    cat "$LINES_OF"
    [ ! -e "$SUMMARY/failed" ]
    exit
}

# in_python NAME WORD...: runs three files at a time. Each has servers of its own, and mostly waits.
in_python() {
    local name=$1 chosen=()
    shift
    [ "$ALL" -eq 1 ] || chosen=(-m 'not slow')
    runner "$name" '(passed|failed|error)' pytest -q -n 3 --dist loadfile "${chosen[@]}" "$@"
}

in_c() {
    runner "$1" 'tests passed' \
        ctest --test-dir build/cmake --output-on-failure --no-tests=error "${@:2}"
}

in_php() {
    runner "$1" '^(OK|Tests:|ERRORS)' timeout --foreground --kill-after=10 1500 phpunit "${@:2}"
}

# runner NAME PATTERN COMMAND...: runs the command, shows its output, and keeps its closing line:
# the last line that matches the pattern.
runner() {
    # The log has a name of its own until it is complete: another ./dev test may run.
    local name=$1 pattern=$2 log=build/log/test-${1//[^a-z]/-}.log.$$ closing status=0
    local begin=$EPOCHREALTIME before
    computed
    before=$COMPUTED
    shift 2
    mkdir -p build/log
    if [ "$TOGETHER" -eq 1 ]; then
        printf '\n== %s\n' "$name"
        "$@" </dev/null 2>&1 | tee "$log" || status=$?
    else
        printf '\n-- %s begins\n' "$name"
        "$@" </dev/null >"$log" 2>&1 || status=$?
        # In one piece.
        { flock 8; printf '\n== %s\n' "$name"; cat "$log"; } 8>"$SUMMARY/lock"
    fi
    closing=$(grep -aE "$pattern" "$log" | tail -n 1 | sed -E 's/^=+ *| *=+$//g') || true
    mv "$log" "${log%.$$}"
    if [ "$status" -ne 0 ]; then
        touch "$SUMMARY/failed"
        closing="FAILED  ${closing:-exit status $status}"
    fi
    computed
    printf '%-28s %6.1f s (%d s of CPU)  %s\n' "$name" "$(seconds_since "$begin")" \
        "$(((COMPUTED - before + 500) / 1000))" "${closing:-ok}" >>"$LINES_OF"
}

# Sets COMPUTED: the milliseconds of CPU time of all processes that have ended so far.
computed() {
    local user system file=$SUMMARY/times.$BASHPID
    times >"$file"
    { read -r user && read -r user system; } <"$file"
    [[ "$user $system" =~ ^([0-9]+)m([0-9]+)[.,]([0-9]+)s\ ([0-9]+)m([0-9]+)[.,]([0-9]+)s$ ]]
    set -- "${BASH_REMATCH[@]:1}"
    COMPUTED=$(((10#$1 + 10#$4) * 60000 + (10#$2 + 10#$5) * 1000 + 10#$3 + 10#$6))
}

# The C files that clang-format formats, without those that a tool writes. NUL between the names.
c_sources() {
    find core interop servers cli bindings/php tests bench -name '*.[ch]' ! -name '*_arginfo.h' \
        ! -path core/dueq_verbs.h -print0 2>/dev/null
}
