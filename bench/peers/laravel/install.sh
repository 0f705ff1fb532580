#!/bin/sh
# install.sh CACHE: nothing goes to CACHE: Laravel's queue comes from Debian's packages.
set -eu
missing() {
    packages=$(tr '\n' ' ' <"$(dirname "$0")/packages")
    echo "Laravel's queue needs Debian's packages: $packages(in Debian 12)" >&2
    exit 1
}
command -v php >/dev/null || missing
php -r '
    foreach (["Queue", "Redis", "Events"] as $part) {
        $file = stream_resolve_include_path("Illuminate/$part/autoload.php") or exit(1);
        require_once $file;
    }
    exit(extension_loaded("redis") && extension_loaded("pcntl") ? 0 : 1);
' >/dev/null 2>&1 || missing
