#!/bin/sh
set -eu
here=bench/peers
cc -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Wconversion -Wshadow -Werror -Icore -I"$here" \
    "$here/dueq-c/adapter.c" "$here/harness.c" \
    -Lbuild/cmake -ldueq -Wl,-rpath,"$PWD/build/cmake" -o "$1/adapter"
