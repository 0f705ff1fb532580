#!/bin/sh
# python.sh CACHE REQUIREMENT...: a virtual environment in CACHE with exactly these packages.
set -eu
cache=$1
shift
if [ "$(cat "$cache/installed" 2>/dev/null)" = "$*" ]; then
    exit
fi
rm -rf "$cache/venv" "$cache/installed"
python=python3
[ ! -x /usr/bin/python3 ] || python=/usr/bin/python3
"$python" -m venv "$cache/venv"
"$cache/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
echo "$*" >"$cache/installed"
