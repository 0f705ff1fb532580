#!/bin/sh
exec "$(dirname "$0")/../python.sh" "$1" saq==0.26.4 redis==7.4.0 typing_extensions==4.15.0
