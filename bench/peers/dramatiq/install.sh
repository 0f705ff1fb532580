#!/bin/sh
exec "$(dirname "$0")/../python.sh" "$1" dramatiq==2.2.1 redis==8.1.0
