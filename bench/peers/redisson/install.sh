#!/bin/sh
# install.sh CACHE: Redisson by Maven and its adapter, built by javac into CACHE.
set -eu
cache=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")"
command -v mvn >/dev/null && command -v javac >/dev/null || {
    echo "Redisson needs mvn and a JDK, 17 or newer" >&2
    exit 1
}
if ! cmp -s pom.xml "$cache/pom.xml"; then
    rm -rf "$cache/lib"
    native=linux-$(uname -m | sed s/aarch64/aarch_64/)
    mvn -q -B dependency:copy-dependencies -DoutputDirectory="$cache/lib" -Dnative="$native" >&2
    cp pom.xml "$cache/pom.xml"
fi
javac -Xlint:all,-deprecation,-processing -proc:none \
    -cp "$cache/lib/*" -d "$cache/classes" Peer.java >&2
