#!/bin/sh
exec "$(dirname "$0")/../python.sh" "$1" arq==0.28.0 redis==5.3.1
