#!/bin/sh
exec "$(dirname "$0")/../python.sh" "$1" celery==5.7.0 kombu==5.7.0 redis==8.1.0 packaging==25.0
