#!/bin/sh
set -eu
command -v beanstalkd >/dev/null || {
    echo "there is no beanstalkd: apt-get install beanstalkd" >&2
    exit 1
}
here=bench/peers
cc -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Wconversion -Wshadow -Werror -I"$here" \
    "$here/beanstalkd/adapter.c" "$here/harness.c" -o "$1/adapter"
