# What one installs without a compiler: ./dev wheels, ./dev static. Sourced by ../dev.
#
# packaging/ has the programs, in Python: targets.py names the platforms, sources.toml the libraries
# that are linked into what is made, with their checksums.

# Releases of Debian in which the wheels of this machine are tried.
WHEEL_SUITES=(bookworm trixie forky)

# Other Pythons with which they are tried: a release of Debian, the version, and the kind: debian, a
# package of this release; musl or free, built out of Debian's source by packaging/python.sh.
WHEEL_PYTHONS=("forky 3.15 debian" "bookworm 3.11 musl" "forky 3.14 free" "forky 3.15 free")

wheels_help() {
    cat <<END
usage: ./dev wheels [--untried] [PLATFORM...]

Builds Python wheels into build/wheels, each with all libraries and the command dueq inside. Without
a PLATFORM it builds for all of them:

$(platforms targets.TARGETS)

Each PLATFORM gets a wheel for all Pythons from 3.11 on, and one for each Python without the GIL.
Each wheel is checked: its tag, its licences, what it needs, what it exports, how it is hardened.
Then the first wheel for this machine is tried in bare Debians (${WHEEL_SUITES[*]}) that have
Python and a server but no compiler. Those for musl, and for a Python without the GIL, run with a
Python that is built out of Debian's source, once, in some five minutes each. That for arm64 runs
by qemu-user-static, where it is installed, with the Python of Debian's package. Wheels for macOS
come to build/wheels/untried: nothing here can run them, so publish them only after a Mac has passed
the contract.

  --untried   only builds and checks

$(packaging_variables)
END
}

static_help() {
    cat <<END
usage: ./dev static [--untried] [PLATFORM...]

Builds the command dueq as one file that needs no other, into build/static. Without a PLATFORM it
builds for all of them:

$(platforms static.STATIC)

Then each file runs in an empty folder, as its root: TLS, push, reserve, web, top. That for another
processor runs by qemu-user-static, where it is installed.

  --untried   only builds

$(packaging_variables)
END
}

packaging_variables() {
    cat <<'END'
zig, a C compiler from PyPI, builds for all systems. $DUEQ_JOBS is the number of compilers (as many
as there are processors). $DUEQ_PACKAGING_CACHE is the folder of sources and built libraries, which
take most of the time (build/packaging). Only root can try what was built.
END
}

# platforms MODULE.TABLE: the names of a table of targets, one a line.
platforms() {
    PYTHONPATH=packaging system_python -c "import ${1%.*}; print(*${1}, sep='\n')" | sed 's/^/  /'
}

# packaging_words COMMAND WORD...: reads the words of a command into TRIED and WORDS.
packaging_words() {
    local command=$1 word
    TRIED=true WORDS=()
    shift
    for word; do
        case $word in
        -h | --help) "${command}_help" && exit ;;
        --untried) TRIED=false ;;
        -*)
            echo "./dev $command: there is no option $word: see ./dev $command --help" >&2
            exit 2
            ;;
        *) WORDS+=("$word") ;;
        esac
    done
    ! $TRIED ||
        need_root "./dev $command needs root to try what it builds in a bare system; or: --untried"
}

wheels() {
    local made suite begin=$SECONDS
    packaging_words wheels "$@"
    setup_packaging
    rm -rf build/wheels
    packaging wheels.py "${WORDS[@]}"
    find build/wheels -name '*.whl' -print0 | sort -z |
        xargs -0 build/packaging-venv/bin/python packaging/check_wheels.py
    if $TRIED; then
        need_packages debootstrap git redis-server openssl
        for made in build/wheels/*-cp311-abi3-manylinux_*_"$(uname -m)".whl; do
            [ -e "$made" ] || continue
            for suite in "${WHEEL_SUITES[@]}"; do
                (try_wheel "$suite" "$made")
            done
        done
        for made in "${WHEEL_PYTHONS[@]}"; do
            # shellcheck disable=SC2086 # three words
            try_python $made
        done
        try_emulated build/wheels/*-cp311-abi3-manylinux_*_aarch64.whl
    fi
    echo "wheels: files=$(find build/wheels -name '*.whl' | wc -l) tried=$TRIED" \
        "seconds=$((SECONDS - begin))"
}

# try_wheel SUITE WHEEL: in a bare Debian without a compiler.
try_wheel() {
    echo "-- a wheel in a bare Debian ($1)"
    bare_system "$1"
    mkdir "$BARE/wheels"
    cp "$2" "$BARE/wheels/"
    in_bare_system bash -euo pipefail /dueq/tests/packaging/wheel.sh
}

# try_python SUITE VERSION KIND: the wheel for this Python, if it was built.
try_python() {
    local tag=cp311-abi3-manylinux code=${2/./} made
    case $3 in
    musl) tag=cp311-abi3-musllinux ;;
    free) tag=cp$code-cp${code}t-manylinux ;;
    esac
    for made in build/wheels/*-"$tag"_*_"$(uname -m)".whl; do
        [ -e "$made" ] || continue
        [ "$3" = debian ] || (from_source "$1" "python-$2-$3" python.sh "$2" "$3")
        if [ "$3" != debian ] && [ ! -e "build/from-source/python-$2-$3.tar" ]; then
            echo "wheels: $made: not tried: this mirror of Debian has no source of Python $2"
            continue
        fi
        echo "-- a wheel with Python $2 ($3)"
        (try_built_python "$made" "$@")
    done
}

# try_built_python WHEEL SUITE VERSION KIND
try_built_python() {
    bare_system "$2"
    [ "$4" = debian ] || tar -C "$BARE" -xf "build/from-source/python-$3-$4.tar"
    mkdir "$BARE/wheels"
    cp "$1" "$BARE/wheels/"
    build/packaging-venv/bin/python -m pip install --quiet --target "$BARE/site" \
        pytest pytest-timeout
    in_bare_system bash -euo pipefail /dueq/tests/packaging/built_python.sh "$3" "$4"
}

# from_source SUITE NAME SCRIPT ARGUMENT...: makes build/from-source/NAME.tar, with what a script of
# packaging/ builds into /opt in a bare system, unless the mirror has no source of it.
from_source() {
    local made=build/from-source/$2.tar code=0 log=build/log/$2.log
    [ ! -e "$made" ] || return 0
    bare_system "$1"
    mkdir -p build/from-source
    in_bare_system bash -euo pipefail "/dueq/packaging/$3" "${DUEQ_JOBS:-$(nproc)}" "${@:4}" \
        >"$log" 2>&1 || code=$?
    case $code in
    0) tar -C "$BARE" -cf "$made.new" opt && mv "$made.new" "$made" ;;
    75) ;;
    *) tail -n 25 "$log" && exit 1 ;;
    esac
}

# try_emulated FILE...: wheels or archives of PIE for arm64, by an emulator, if this machine has it.
try_emulated() {
    local made
    [ "$(uname -m)" != aarch64 ] || return 0
    for made; do
        [ -e "$made" ] || continue
        if command -v qemu-aarch64-static >/dev/null; then
            packaging emulated.py "$made" qemu-aarch64-static
        else
            echo "  $made: not tried: this machine has no qemu-aarch64-static" \
                "(the package qemu-user-static)"
        fi
    done
}

static() {
    local made begin=$SECONDS
    packaging_words static "$@"
    setup_packaging
    rm -rf build/static
    packaging static.py "${WORDS[@]}"
    if $TRIED; then
        need_packages redis-server openssl
        for made in build/static/dueq-*; do
            try_static "$made"
        done
    fi
    echo "static: files=$(find build/static -name 'dueq-*' | wc -l) tried=$TRIED" \
        "seconds=$((SECONDS - begin))"
}

# try_static FILE: on another processor by an emulator, if this machine has it.
try_static() {
    local machine=${1##*-} emulator=()
    if [ "$machine" != "$(uname -m)" ]; then
        emulator=("$(command -v "qemu-$machine-static")") || {
            echo "  $1: not tried: this machine has no qemu-$machine-static" \
                "(the package qemu-user-static)"
            return
        }
    fi
    packaging check_static.py "$1" "${emulator[@]}"
}

packaging() { build/packaging-venv/bin/python "packaging/$1" "${@:2}"; }
