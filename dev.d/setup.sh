# Brings the machine and build/ to where a command can run. Sourced by ../dev.
#
# A step is a function of steps.sh. It runs when its inputs differ from those of its last success
# (build/stamp/STEP holds their hash), in a process of its own, with its output in build/log/STEP.log.

export LC_ALL=C.UTF-8
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
export ROOT

PACKAGES=(
    gcc libc6-dev make cmake ninja-build pkg-config
    libhiredis-dev libssl-dev libjson-c-dev libcmocka-dev
    python3 python3-dev python3-venv
    php-cli php-dev php-xml php-mbstring phpunit
    redis-server
)
. /etc/os-release 2>/dev/null || true
if [ "${ID-}" = debian ] && [ "${VERSION_ID:-0}" -ge 13 ]; then
    PACKAGES+=(valkey-server)
fi

setup() {
    need_packages "${PACKAGES[@]}"
    step venv "Python environment" "$(system_python --version) $ROOT"
    step library "C library and command line" "$(c_inputs)"
    step python_package "Python package" "$(python_inputs)"
    step php_extension "PHP extension" "$(php_inputs)"
}

# For test and format: on top of setup, or alone.
setup_tools() {
    need_packages "${PACKAGES[@]}"
    step venv "Python environment" "$(system_python --version) $ROOT"
    step tools "tools for tests" "$(inputs dev.d/requirements.txt)"
}

# Laravel's own parts, of the distribution's version.
setup_laravel() {
    need_packages php-illuminate-{queue,bus,cache,config,console,database,events} php-sqlite3
}

setup_asan() {
    need_packages "${PACKAGES[@]}"
    step library_asan "C library with sanitizers" "$(c_inputs)"
}

c_inputs() {
    echo "$ROOT"
    inputs CMakeLists.txt core cli bench tests/CMakeLists.txt tests/core tests/contract tests/model tests/fuzz tests/chaos
}

python_inputs() {
    echo "$(system_python --version) $ROOT"
    inputs core swig bindings/python setup.py pyproject.toml MANIFEST.in README.md
}

php_inputs() {
    php -r 'echo PHP_BINARY, PHP_VERSION, PHP_ZTS, PHP_DEBUG, "\n";'
    inputs core bindings/php/*.[ch] bindings/php/*.php config.m4
}

# The python3 of the distribution: the one that python3-dev belongs to.
system_python() {
    if [ -x /usr/bin/python3 ]; then /usr/bin/python3 "$@"; else python3 "$@"; fi
}

# inputs PATH...: a hash of the contents and names of those files and directories that exist.
inputs() {
    find "$@" -type f ! -name '*.pyc' ! -name '*_wrap.c' -print0 2>/dev/null | sort -z | xargs -0r sha256sum | sha256sum
}

# step FUNCTION LABEL INPUTS
step() {
    local name=$1 label=$2 wanted=$3 begin=$EPOCHREALTIME
    local stamp=build/stamp/$name log=build/log/$name.log
    if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
        return
    fi
    mkdir -p build/stamp build/log
    rm -f "$stamp"
    if ! bash dev.d/steps.sh "$name" >"$log" 2>&1 </dev/null; then
        echo "  $label: failed. First errors and the end of $log:" >&2
        grep -m 5 -inE 'error:' "$log" >&2 || true
        tail -n 25 "$log" >&2
        exit 1
    fi
    echo "$wanted" >"$stamp"
    printf '  %-28s %5.1f s\n' "$label" "$(seconds_since "$begin")"
}

seconds_since() {
    local micros=$((${EPOCHREALTIME/[.,]/} - ${1/[.,]/}))
    echo "$((micros / 1000000)).$((micros / 100000 % 10))"
}

need_packages() {
    local missing
    if ! command -v dpkg-query >/dev/null; then
        return # not Debian: what is missing, the step that needs it will say
    fi
    missing=$(comm -23 <(printf '%s\n' "$@" | sort -u) <(installed_packages | sort -u) | tr '\n' ' ')
    missing=${missing% }
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" -ne 0 ] && ! { command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; }; then
        echo "./dev needs packages and may not install them. As root: apt-get install $missing" >&2
        exit 2
    fi
    rm -f build/stamp/packages
    MISSING=$missing step packages "packages" "$missing"
}

# Names of installed packages, also as they provide them; php8.2-dev counts as php-dev too.
installed_packages() {
    dpkg-query -W -f '${db:Status-Status} ${Package} ${Provides}\n' |
        sed -n 's/^installed //p' | tr -s ', ' '\n' | sed -E 'p; s/^php[0-9]+\.[0-9]+-/php-/'
}

# For the commands that follow: this build's dueq, python and php come first. Call it once.
use_build() {
    export PATH="$ROOT/build/bin:$ROOT/build/venv/bin:$PATH"
    export PHP_INI_SCAN_DIR="${PHP_INI_SCAN_DIR-}:$ROOT/build/php.d"
}
