#!/bin/sh
exec "$(dirname "$0")/../python.sh" "$1" rq==3.0.0 redis==8.1.0
