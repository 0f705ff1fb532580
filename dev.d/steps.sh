# The steps of the set-up. setup.sh runs each of them: bash dev.d/steps.sh STEP
set -euo pipefail
. dev.d/setup.sh

packages() {
    local as_root='' policy=/usr/sbin/policy-rc.d ours='# Of ./dev, while it installs packages.'
    [ "$(id -u)" -eq 0 ] || as_root=sudo
    # A file with our mark is left over from a ./dev that was killed.
    if [ ! -e "$policy" ] || grep -qxF "$ours" "$policy"; then
        # Without this file the server's package would start a server.
        # shellcheck disable=SC2064 # both are known now
        trap "$as_root rm -f $policy" EXIT
        printf '#!/bin/sh\n%s\nexit 101\n' "$ours" | $as_root tee "$policy"
        $as_root chmod 755 "$policy"
    fi
    $as_root apt-get -q update
    # shellcheck disable=SC2086 # a list of words
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -q -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=600 --no-install-recommends \
        install $MISSING
}

venv() {
    rm -rf build/venv build/stamp/python_package build/stamp/tools build/stamp/shop_packages
    system_python -m venv build/venv
}

tools() {
    build/venv/bin/python -m pip install --quiet -r dev.d/requirements.txt
}

shop_packages() {
    build/venv/bin/python -m pip install --quiet -r examples/shop/requirements.txt
    rm -rf build/shop/vendor build/shop/composer build/shop/composer.lock
    mkdir -p build/shop/composer
    # This makes Composer take the interfaces of PHP's worker from the distribution's packages.
    cp dev.d/composer.json build/shop/composer/config.json
    # The relative path in this file is valid from here, too.
    cp examples/shop/composer.json build/shop/
    COMPOSER_HOME=$ROOT/build/shop/composer COMPOSER_ALLOW_SUPERUSER=1 COMPOSER_NO_AUDIT=1 \
        PHP_INI_SCAN_DIR=${PHP_INI_SCAN_DIR-}:$ROOT/build/php.d \
        composer install --no-interaction --working-dir build/shop
}

# The files in build/peers depend on their path and on this Python, too.
bench_tools() {
    rm -rf build/bench-venv build/peers
    system_python -m venv build/bench-venv
    build/bench-venv/bin/python -m pip install --quiet -r dev.d/bench-requirements.txt
}

packaging_tools() {
    rm -rf build/packaging-venv
    system_python -m venv build/packaging-venv
    build/packaging-venv/bin/python -m pip install --quiet -r dev.d/packaging-requirements.txt
}

library() {
    cmake_build build/cmake dueq-program-files
    link_command
}

programs() {
    cmake_build build/cmake all
    link_command
}

link_command() {
    mkdir -p build/bin
    ln -sf ../cmake/dueq build/bin/dueq
}

library_asan() {
    local flags='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer'
    cmake_build build/asan all -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS="$flags"
}

library_poll() {
    cmake_build build/poll all -DDUEQ_LOOP=poll
}

# cmake_build FOLDER TARGET [OPTION...]
cmake_build() {
    # CMake refuses a build folder that was moved.
    grep -qsxF "CMAKE_CACHEFILE_DIR:INTERNAL=$ROOT/$1" "$1/CMakeCache.txt" || rm -rf "$1"
    cmake -S . -B "$1" -G Ninja -DDUEQ_WERROR=ON "${@:3}"
    cmake --build "$1" --target "$2"
}

# Builds the version before: the C library, the command and the Python package, from git's history.
before() {
    local version
    version=$(version_before)
    rm -rf build/before
    mkdir -p build/before/source
    git archive "$version" | tar -x -C build/before/source
    cmake -S build/before/source -B build/before/cmake -G Ninja
    cmake --build build/before/cmake --target dueq-cli
    system_python -m venv build/before/venv
    build/before/venv/bin/python -m pip install --quiet --no-deps build/before/source
    echo "$version" >build/before/version
}

python_package() {
    # setuptools would also install files that an earlier build left in these folders.
    rm -rf build/lib build/lib.* build/temp.* build/bdist.*
    build/venv/bin/python -m pip install --quiet --force-reinstall --no-deps .
}

php_extension() {
    local phpize=phpize config=php-config version
    version=$(php -r 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION;')
    ! command -v "phpize$version" || phpize=phpize$version config=php-config$version
    extension build/php "$phpize" "$config"
    mkdir -p build/php.d
    echo "extension=\"$ROOT/build/php/modules/dueq.so\"" >build/php.d/90-dueq.ini
}

php_debug_extension() {
    local folder
    folder=$(dirname "$PHP")
    extension build/php-debug "$folder/phpize" "$folder/php-config"
}

# extension FOLDER PHPIZE CONFIG: makes FOLDER/modules/dueq.so.
extension() {
    # phpize works only in its source directory, whose path must not have a space.
    local copy
    copy=$(mktemp -d -t dueq-php-XXXXXX)
    # shellcheck disable=SC2064 # it is known now
    trap "rm -rf $copy" EXIT
    sources config.m4 core interop bindings/php | xargs -0 cp -a --parents -t "$copy"
    (
        cd "$copy"
        "$2"
        ./configure --with-php-config="$3" --enable-dueq --enable-dueq-symbols
        make -j2
    )
    rm -rf "$1"
    mkdir -p "$1"
    cp -a "$copy/modules" "$1/"
}

fuzz_targets() {
    local name more
    mkdir -p build/fuzz
    for name in tests/fuzz/corpus/*; do
        name=${name##*/}
        more=()
        # This target contains the command, and has cli/web/web.c in its own source.
        # shellcheck disable=SC2207 # a list of words
        [ "$name" != http ] ||
            more=(-Dmain=dueq_main -I. $(find cli servers -name '*.c' ! -path cli/web/web.c)
                $(pkg-config --cflags --libs json-c libmicrohttpd))
        # shellcheck disable=SC2046 # lists of words
        clang -std=c11 -D_GNU_SOURCE -O1 -g -fno-omit-frame-pointer -Wall -Wextra -Werror \
            -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Icore -Iinterop \
            "tests/fuzz/$name.c" "${more[@]}" $(cat core/sources.list interop/sources.list) \
            $(pkg-config --cflags --libs hiredis openssl) -o "build/fuzz/$name"
    done
}

# Processes that stay in the background must keep neither the lock (9) nor the terminal (3).
"$1" 9>&- 3>&-
