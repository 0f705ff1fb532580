# Installs and builds what a command of ./dev needs. Sourced by ../dev and by steps.sh.
#
# A step is a function of steps.sh. A step runs if its inputs have changed since its last success
# (build/stamp/STEP has their hash), in a process of its own, with its output in build/log/STEP.log.
# Only one ./dev at a time runs steps in a checkout, and only one installs packages on a system.

export LC_ALL=C.UTF-8
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
export ROOT

# The packages that the Python package, the PHP extension and the demo need.
BINDINGS=(
    gcc libc6-dev make pkg-config libhiredis-dev libssl-dev
    python3 python3-dev python3-venv php-cli php-dev redis-server tzdata
)
# Those of the C library and the command, too.
PACKAGES=("${BINDINGS[@]}" cmake ninja-build libjson-c-dev libmicrohttpd-dev libncurses-dev)
# The further packages of the tests. Prometheus and its promtool test the metrics and the alerts.
# luac5.1 of lua5.1 lists the names that scripts read (core/scripts/embed.py).
TESTS=(
    libcmocka-dev lua5.1 tmux phpunit php-xml php-mbstring php-fpm libfcgi-bin php-redis valgrind
    git prometheus
)
. /etc/os-release 2>/dev/null || true
# A Debian that is not released yet has no VERSION_ID.
if [ "${ID-}" = debian ] && [ "${VERSION_ID:-99}" -ge 13 ]; then
    TESTS+=(valkey-server)
fi

# Composer installs the package of PHP's worker, which needs these interfaces.
PHPWORKER=(composer php-psr-log php-psr-container)
# Parts of Laravel and of Symfony, in the distribution's version.
LARAVEL=(php-illuminate-{queue,bus,cache,config,console,database,events} php-sqlite3)
SYMFONY=(composer php-symfony-{console,framework-bundle,messenger,property-access,serializer})

# The steps, and how ./dev calls them in its output. The inputs of STEP are the output of
# STEP_inputs, and the path of the checkout.
declare -A STEPS=(
    [venv]="Python environment"
    [tools]="tools for tests"
    [library]="C library and command line"
    [programs]="C library, tests, benchmark"
    [library_asan]="C library with sanitizers"
    [library_poll]="C library with poll alone"
    [python_package]="Python package"
    [php_extension]="PHP extension"
    [php_debug_extension]="PHP extension with checks"
    [fuzz_targets]="fuzz targets"
    [bench_tools]="tools for benchmarks"
    [packaging_tools]="tools for packaging"
    [shop_packages]="packages of the shop"
    [before]="the version before"
)

# The demo needs no C library.
setup_demo() {
    need_packages "${BINDINGS[@]}"
    steps venv
    steps python_package php_extension
}

setup() {
    need_packages "${PACKAGES[@]}"
    steps venv
    steps library python_package php_extension
}

# Also builds the C programs of tests and benchmarks.
setup_programs() {
    need_packages "${PACKAGES[@]}" libcmocka-dev
    steps venv
    steps programs python_package php_extension
}

# For test and format: on top of setup_programs, or alone.
setup_tools() {
    need_packages "${PACKAGES[@]}" "${TESTS[@]}"
    steps venv
    steps tools
}

# The further needs of examples/shop.
setup_shop() {
    need_packages "${PHPWORKER[@]}"
    steps venv
    steps shop_packages
}

setup_asan() {
    need_packages "${PACKAGES[@]}" libcmocka-dev
    steps library_asan
}

setup_poll() {
    need_packages "${PACKAGES[@]}" libcmocka-dev
    steps library_poll
}

# For wheels and the static command. apt knows where Debian's sources are.
setup_packaging() {
    need_packages git perl make cmake pkg-config binutils ncurses-bin
    steps packaging_tools
}

venv_inputs() { system_python --version; }

tools_inputs() { inputs dev.d/requirements.txt examples/shop/requirements.txt; }

library_inputs() {
    inputs CMakeLists.txt core interop servers cli web bench tests/CMakeLists.txt \
        tests/shifted_clock.c tests/core tests/contract tests/model tests/fuzz tests/chaos
}

programs_inputs() { library_inputs; }

library_asan_inputs() { library_inputs; }

library_poll_inputs() { library_inputs; }

python_package_inputs() {
    system_python --version
    # With these libraries the package contains the command, too.
    pkg-config --exists json-c libmicrohttpd && echo command
    pkg-config --exists ncursesw && echo screen
    inputs core interop servers cli web swig bindings/python setup.py pyproject.toml MANIFEST.in \
        README.md
}

php_extension_inputs() {
    php -r 'echo PHP_BINARY, PHP_VERSION, PHP_ZTS, PHP_DEBUG, "\n";'
    inputs core interop bindings/php/*.[ch] bindings/php/*.php bindings/php/interop config.m4
}

php_debug_extension_inputs() {
    "$PHP" -n -r 'echo PHP_BINARY, PHP_VERSION, PHP_ZTS, "\n";'
    php_extension_inputs
}

fuzz_targets_inputs() {
    clang --version | head -n 1
    inputs core interop servers cli web tests/fuzz/*.[ch]
}

bench_tools_inputs() {
    system_python --version
    inputs dev.d/bench-requirements.txt
}

packaging_tools_inputs() {
    system_python --version
    inputs dev.d/packaging-requirements.txt
}

shop_packages_inputs() {
    system_python --version
    inputs dev.d/composer.json examples/shop/requirements.txt examples/shop/composer.json \
        bindings/php/worker/composer.json
}

before_inputs() {
    system_python --version
    version_before
}

# The version that tests/upgrade runs next to this one: the newest release before the last commit,
# or the version in tests/upgrade/BEFORE.
version_before() {
    git describe --tags --abbrev=0 --match 'v*' HEAD^ 2>/dev/null || cat tests/upgrade/BEFORE
}

# The python3 of the distribution: the one that python3-dev belongs to.
system_python() {
    if [ -x /usr/bin/python3 ]; then /usr/bin/python3 "$@"; else python3 "$@"; fi
}

# inputs PATH...: a hash of the names and contents of the sources in these files and directories. A
# path that does not exist is left out.
inputs() {
    sources "$@" | sort -z | xargs -0r sha256sum | sha256sum
}

# sources PATH...: the files, with NUL between them, without the files that builds and tests make;
# .gitignore has the same list.
sources() {
    find "$@" \( -name '*.egg-info' -o -name __pycache__ -o -name .libs \) -prune -o -type f \
        ! -name '*_wrap.c' ! -name '*.dep' ! -name '*.l[ao]' ! -name '*.o' ! -name '*.so' \
        -print0 2>/dev/null || true
}

# steps STEP...: runs the steps that are not done, at the same time.
steps() {
    local step
    for step in "$@"; do
        if [ "$(cat "build/stamp/$step" 2>/dev/null)" != "$(stamp "$step")" ]; then
            mkdir -p build/stamp build/log
            alone "sets up this checkout" together "$@" 9<>build/lock
            return
        fi
    done
}

# In a pipe and not in the background, where a step would survive Ctrl-C.
together() {
    if [ $# -eq 1 ]; then
        undone_step "$1"
    else
        undone_step "$1" >&3 | together "${@:2}"
    fi
} 3>&1

undone_step() {
    local step=$1 wanted
    wanted=$(stamp "$step")
    [ "$(cat "build/stamp/$step" 2>/dev/null)" != "$wanted" ] || return 0
    rm -f "build/stamp/$step"
    perform "$step" "${STEPS[$step]}"
    echo "$wanted" >"build/stamp/$step"
}

stamp() {
    echo "$ROOT"
    "$1_inputs"
}

# perform STEP LABEL
perform() {
    local log=build/log/$1.log begin=$EPOCHREALTIME
    if ! bash dev.d/steps.sh "$1" >"$log" 2>&1 </dev/null; then
        echo "  $2: failed. First errors and the end of $log:" >&2
        grep -m 5 -inE 'error:' "$log" >&2 || true
        tail -n 25 "$log" >&2
        exit 1
    fi
    printf '  %-28s %5.1f s\n' "$2" "$(seconds_since "$begin")"
}

# alone WHAT COMMAND...: takes the lock of the file that is open as descriptor 9, and runs the
# command. WHAT: what another ./dev does that has the lock, for the message. The lock ends with this
# process and the step that it runs (see the end of steps.sh).
alone() {
    local what=$1
    shift
    if ! flock -n 9; then
        echo "./dev: waits for another ./dev, which $what" >&2
        flock 9 || exit 1
    fi
    "$@"
}

seconds_since() {
    local micros=$((${EPOCHREALTIME/[.,]/} - ${1/[.,]/}))
    echo "$((micros / 1000000)).$((micros / 100000 % 10))"
}

# need_root WHY: ends with 2, and says why, unless root runs this.
need_root() {
    [ "$(id -u)" -eq 0 ] || { echo "$1" >&2 && exit 2; }
}

need_packages() {
    # Without dpkg this is no Debian: a step that misses a package will say so.
    command -v dpkg-query >/dev/null || return 0
    # Every user can open this directory, so its lock holds for all checkouts of all users.
    [ -z "$(missing "$@")" ] || alone "installs packages" install_missing "$@" 9</var/lib/dpkg
}

missing() {
    local names
    names=$(comm -23 <(printf '%s\n' "$@" | sort -u) <(installed_packages | sort -u) | tr '\n' ' ')
    echo "${names% }"
}

install_missing() {
    local missing waited
    missing=$(missing "$@")
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" -ne 0 ] &&
        ! { command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; }; then
        echo "./dev needs packages and may not install them. As root: apt-get install $missing" >&2
        exit 2
    fi
    for ((waited = 0; waited < 600; waited++)); do
        apt_is_busy || break
        [ "$waited" -gt 0 ] || echo "./dev: waits for another program, which uses apt" >&2
        sleep 1
    done
    mkdir -p build/log
    MISSING=$missing perform packages packages
}

# Whether a program has a lock of apt's. apt itself waits only for the first of these locks.
apt_is_busy() {
    local locks=(/var/lib/dpkg/lock-frontend /var/lib/apt/lists/lock /var/cache/apt/archives/lock)
    grep -qFf <(find "${locks[@]}" -printf ':%i \n' 2>/dev/null) /proc/locks 2>/dev/null
}

# The names of the installed packages, and those that they provide. php8.2-dev counts as php-dev
# too.
installed_packages() {
    dpkg-query -W -f '${db:Status-Status} ${Package} ${Provides}\n' |
        sed -n 's/^installed //p' | tr -s ', ' '\n' | sed -E 'p; s/^php[0-9]+\.[0-9]+-/php-/'
}

# Lets the commands that follow use this build's dueq, python and php. Call this once.
use_build() {
    export PATH="$ROOT/build/bin:$ROOT/build/venv/bin:$PATH"
    export PHP_INI_SCAN_DIR="${PHP_INI_SCAN_DIR-}:$ROOT/build/php.d"
}
