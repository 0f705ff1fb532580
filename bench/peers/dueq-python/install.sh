#!/bin/sh
# ./dev has built it.
build/venv/bin/python -c 'import dueq'
