# What each step of the set-up does. Run by setup.sh: bash dev.d/steps.sh STEP
set -euo pipefail

packages() {
    local as_root='' policy=/usr/sbin/policy-rc.d
    [ "$(id -u)" -eq 0 ] || as_root=sudo
    if [ ! -e "$policy" ]; then
        # The server's package would start a server of its own.
        # shellcheck disable=SC2064 # both are known now
        trap "$as_root rm -f $policy" EXIT
        printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy"
        $as_root chmod 755 "$policy"
    fi
    $as_root apt-get -q update
    # shellcheck disable=SC2086 # a list of words
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -q -y -o Dpkg::Use-Pty=0 --no-install-recommends install $MISSING
}

venv() {
    local python=python3
    [ ! -x /usr/bin/python3 ] || python=/usr/bin/python3
    rm -rf build/venv build/stamp/python_package build/stamp/tools
    "$python" -m venv build/venv
}

tools() {
    build/venv/bin/python -m pip install --quiet -r dev.d/requirements.txt
}

bench_plots() {
    local python=python3
    [ ! -x /usr/bin/python3 ] || python=/usr/bin/python3
    rm -rf build/bench-venv
    "$python" -m venv build/bench-venv
    build/bench-venv/bin/python -m pip install --quiet -r dev.d/bench-requirements.txt
}

library() {
    cmake -S . -B build/cmake -G Ninja -DDUEQ_WERROR=ON
    cmake --build build/cmake
    mkdir -p build/bin
    ln -sf ../cmake/dueq build/bin/dueq
}

library_asan() {
    cmake -S . -B build/asan -G Ninja -DDUEQ_WERROR=ON -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_C_FLAGS='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer'
    cmake --build build/asan
}

python_package() {
    # setuptools would install what an earlier state of the sources left in there.
    rm -rf build/lib build/lib.* build/temp.* build/bdist.*
    build/venv/bin/python -m pip install --quiet --force-reinstall --no-deps .
}

# phpize works in its source directory only, so that gets copied.
php_extension() {
    local phpize=phpize config=php-config version
    version=$(php -r 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION;')
    ! command -v "phpize$version" || phpize=phpize$version config=php-config$version
    rm -rf build/php
    mkdir -p build/php/bindings build/php.d
    cp -a config.m4 core build/php/
    cp -a bindings/php build/php/bindings/
    (
        cd build/php
        "$phpize"
        ./configure --with-php-config="$config" --enable-dueq
        make -j2
    )
    echo "extension=$ROOT/build/php/modules/dueq.so" >build/php.d/90-dueq.ini
}

fuzz_targets() {
    local name
    mkdir -p build/fuzz
    for name in tests/fuzz/corpus/*; do
        name=${name##*/}
        # shellcheck disable=SC2046 # lists of words
        clang -std=c11 -D_GNU_SOURCE -O1 -g -fno-omit-frame-pointer -Wall -Wextra -Werror \
            -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Icore \
            "tests/fuzz/$name.c" $(cat core/sources.list) \
            $(pkg-config --cflags --libs hiredis openssl) -o "build/fuzz/$name"
    done
}

"$1"
