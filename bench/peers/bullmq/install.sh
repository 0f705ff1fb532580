#!/bin/sh
exec "$(dirname "$0")/../npm.sh" "$(dirname "$0")" "$1"
