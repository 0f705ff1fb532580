#!/bin/sh
# install.sh CACHE: the server and the adapter, built by go into CACHE.
set -eu
cache=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")"
command -v go >/dev/null || { echo "NATS needs go, 1.26 or newer" >&2; exit 1; }
go build -o "$cache/peer" . >&2
go build -o "$cache/nats-server" github.com/nats-io/nats-server/v2 >&2
