#!/bin/sh
# ./dev has built it.
PHP_INI_SCAN_DIR=":$PWD/build/php.d" php -r 'exit(class_exists("Dueq\Queue") ? 0 : 1);'
