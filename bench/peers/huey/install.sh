#!/bin/sh
exec "$(dirname "$0")/../python.sh" "$1" huey==3.5.4 redis==8.1.0
