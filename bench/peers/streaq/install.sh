#!/bin/sh
exec "$(dirname "$0")/../python.sh" "$1" streaq==7.2.0 coredis==6.9.0
