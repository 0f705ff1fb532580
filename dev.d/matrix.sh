# ./dev matrix: the tests on each version of the server and of the libraries. Sourced by ../dev.

# The releases of Debian, with their names in the table.
MATRIX_SUITES=(bullseye bookworm trixie forky)

matrix_help() {
    cat <<END
usage: ./dev matrix [SUITE...]

Runs the C tests and the contract of the last commit in a bare Debian of each SUITE
(${MATRIX_SUITES[*]}; without one: all), each with the versions of
hiredis, OpenSSL, Python and PHP that the release has, on each server that it has, and on the
servers of tests/matrix/servers.txt. Prints a table, and writes it to build/matrix.md. A release
whose Python or PHP is too old for dueq runs what is in C.

It takes some fifteen minutes for each release. Needs root, and packages by apt and pip. A server
that cannot be installed is left out of the table, with a line that says why. Ends with 1 if a test
has failed.
END
}

matrix() {
    local suite suites=() failed=0
    while [ $# -gt 0 ]; do
        case $1 in
        -h | --help) matrix_help && return ;;
        *)
            if [[ " ${MATRIX_SUITES[*]} " != *" $1 "* ]]; then
                echo "./dev matrix: there is no suite $1; there are: ${MATRIX_SUITES[*]}" >&2
                return 2
            fi
            suites+=("$1")
            ;;
        esac
        shift
    done
    need_root "./dev matrix needs root: it makes bare systems and installs packages in them"
    need_packages debootstrap git
    need_commit "./dev matrix"
    [ ${#suites[@]} -gt 0 ] || suites=("${MATRIX_SUITES[@]}")
    mkdir -p build/log
    cp tests/matrix/head.md build/matrix.md
    for suite in "${suites[@]}"; do
        (try_matrix "$suite") || failed=1
    done
    cat build/matrix.md
    ! grep -q FAILED build/matrix.md || failed=1
    return "$failed"
}

# try_matrix SUITE: adds its rows to build/matrix.md.
try_matrix() {
    local log=build/log/matrix-$1.log
    echo "-- the tests in a bare Debian ($1): $log"
    bare_system "$1"
    in_bare_system bash -euo pipefail /dueq/tests/matrix/run.sh >"$log" 2>&1 ||
        { tail -n 25 "$log" && return 1; }
    cat "$BARE/table" >>build/matrix.md
    sed -n 's/^left out: //p' "$log"
}
