# What one installs without a compiler: ./dev wheels, ./dev static. Sourced by ../dev.
#
# packaging/ has the programs, in Python: targets.py names the platforms, sources.toml the libraries
# that are linked into what is made, with their checksums. build/packaging keeps sources and built
# libraries; $DUEQ_PACKAGING_CACHE names another folder. $DUEQ_JOBS is the number of compilers.

# Releases of Debian in which the wheels of this machine are tried.
WHEEL_SUITES=(bookworm trixie forky)

# wheels [--no-try] [PLATFORM...]
wheels() {
    local try=1 made
    if [ "${1-}" = --no-try ]; then
        try=0
        shift
    fi
    setup_packaging
    rm -rf build/wheels
    packaging wheels.py "$@"
    find build/wheels -name '*.whl' -print0 | sort -z |
        xargs -0 build/packaging-venv/bin/python packaging/check_wheels.py
    made=(build/wheels/*-cp311-abi3-manylinux_*_"$(uname -m)".whl)
    if [ "$try" -eq 0 ] || [ ! -e "${made[0]}" ]; then
        return
    fi
    if [ "$(id -u)" -ne 0 ]; then
        echo "./dev wheels: tries no wheel, because bare systems need root" >&2
        return
    fi
    need_packages debootstrap git
    for suite in "${WHEEL_SUITES[@]}"; do
        (try_wheel "$suite" "${made[0]}")
    done
}

# try_wheel SUITE WHEEL: in a bare Debian without a compiler.
try_wheel() {
    echo "-- a wheel in a bare Debian ($1)"
    bare_system "$1"
    # shellcheck disable=SC2064 # as it is now
    trap "leave_bare_system '$BARE'" EXIT
    mkdir "$BARE/wheels"
    cp "$2" "$BARE/wheels/"
    in_bare_system bash -euo pipefail /dueq/tests/packaging/wheel.sh
}

# static [PLATFORM...]
static() {
    local made
    setup_packaging
    rm -rf build/static
    packaging static.py "$@"
    made=build/static/dueq-*-linux-$(uname -m)
    # shellcheck disable=SC2086 # a pattern
    if [ "$(id -u)" -eq 0 ] && compgen -G "$made" >/dev/null; then
        need_packages redis-server openssl
        packaging check_static.py $made
    fi
}

packaging() { build/packaging-venv/bin/python "packaging/$1" "${@:2}"; }
