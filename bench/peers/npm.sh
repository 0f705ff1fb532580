#!/bin/sh
# npm.sh FOLDER CACHE: the packages of FOLDER/package.json by npm into CACHE.
set -eu
wanted=$1/package.json
command -v node >/dev/null && command -v npm >/dev/null || {
    echo "it needs node and npm" >&2
    exit 1
}
mkdir -p "$2"
cmp -s "$wanted" "$2/package.json" && [ -f "$2/installed" ] && exit 0
rm -f "$2/installed"
cp "$wanted" "$2/package.json"
npm install --prefix "$2" --no-package-lock --no-audit --no-fund --loglevel error >&2
touch "$2/installed"
