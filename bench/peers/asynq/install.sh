#!/bin/sh
# install.sh CACHE: asynq and its adapter, built by go into CACHE.
set -eu
cache=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")"
command -v go >/dev/null || { echo "asynq needs go, 1.24 or newer" >&2; exit 1; }
go build -o "$cache/peer" . >&2
