#!/bin/sh
exec "$(dirname "$0")/../python.sh" "$1" taskiq==0.13.0 taskiq-redis==1.2.4 redis==8.1.0
