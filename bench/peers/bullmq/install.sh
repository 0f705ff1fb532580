#!/bin/sh
# install.sh CACHE: BullMQ and its client by npm into CACHE.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command -v node >/dev/null && command -v npm >/dev/null || {
    echo "BullMQ needs node and npm" >&2
    exit 1
}
mkdir -p "$1"
cmp -s "$here/package.json" "$1/package.json" && [ -f "$1/installed" ] && exit 0
rm -f "$1/installed"
cp "$here/package.json" "$1/package.json"
npm install --prefix "$1" --no-package-lock --no-audit --no-fund --loglevel error >&2
touch "$1/installed"
