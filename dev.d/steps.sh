# What each step of the set-up does. Run by setup.sh: bash dev.d/steps.sh STEP
set -euo pipefail
. dev.d/setup.sh

packages() {
    local as_root='' policy=/usr/sbin/policy-rc.d ours='# Of ./dev, while it installs packages.'
    [ "$(id -u)" -eq 0 ] || as_root=sudo
    # One that is there by now is of a ./dev that was killed.
    if [ ! -e "$policy" ] || grep -qxF "$ours" "$policy"; then
        # The server's package would start a server of its own.
        # shellcheck disable=SC2064 # both are known now
        trap "$as_root rm -f $policy" EXIT
        printf '#!/bin/sh\n%s\nexit 101\n' "$ours" | $as_root tee "$policy"
        $as_root chmod 755 "$policy"
    fi
    $as_root apt-get -q update
    # shellcheck disable=SC2086 # a list of words
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -q -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=600 --no-install-recommends install $MISSING
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
    # With it Composer takes the interfaces that PHP's worker needs from the distribution's packages.
    cp dev.d/composer.json build/shop/composer/config.json
    # The path in it leads to the same place from here.
    cp examples/shop/composer.json build/shop/
    COMPOSER_HOME=$ROOT/build/shop/composer COMPOSER_ALLOW_SUPERUSER=1 COMPOSER_NO_AUDIT=1 \
        PHP_INI_SCAN_DIR=${PHP_INI_SCAN_DIR-}:$ROOT/build/php.d composer install --no-interaction --working-dir build/shop
}

# What the peers have in build/peers is bound to its place and to this Python too.
bench_tools() {
    rm -rf build/bench-venv build/peers
    system_python -m venv build/bench-venv
    build/bench-venv/bin/python -m pip install --quiet -r dev.d/bench-requirements.txt
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
    cmake_build build/asan all -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_C_FLAGS='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer'
}

# cmake_build FOLDER TARGET [OPTION...]
cmake_build() {
    # CMake refuses a folder that was made in another place.
    grep -qsxF "CMAKE_CACHEFILE_DIR:INTERNAL=$ROOT/$1" "$1/CMakeCache.txt" || rm -rf "$1"
    cmake -S . -B "$1" -G Ninja -DDUEQ_WERROR=ON "${@:3}"
    cmake --build "$1" --target "$2"
}

# The C library with the shell command, and the Python package, from this checkout's history.
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
    # setuptools would install what an earlier state of the sources left in there.
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
    # phpize works in its source directory only, and in none with a space in its path.
    local copy
    copy=$(mktemp -d -t dueq-php-XXXXXX)
    # shellcheck disable=SC2064 # it is known now
    trap "rm -rf $copy" EXIT
    sources config.m4 core interop bindings/php | xargs -0 cp -a --parents -t "$copy"
    (
        cd "$copy"
        "$2"
        ./configure --with-php-config="$3" --enable-dueq
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
        # It has the command inside; cli/web/web.c is a part of the target.
        # shellcheck disable=SC2207 # a list of words
        [ "$name" != http ] || more=(-Dmain=dueq_main -I. $(find cli -name '*.c' ! -path cli/web/web.c)
            $(pkg-config --cflags --libs json-c libmicrohttpd))
        # shellcheck disable=SC2046 # lists of words
        clang -std=c11 -D_GNU_SOURCE -O1 -g -fno-omit-frame-pointer -Wall -Wextra -Werror \
            -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Icore -Iinterop \
            "tests/fuzz/$name.c" "${more[@]}" $(cat core/sources.list interop/sources.list) \
            $(pkg-config --cflags --libs hiredis openssl) -o "build/fuzz/$name"
    done
}

# What stays in the background keeps neither the lock nor the terminal.
"$1" 9>&- 3>&-
