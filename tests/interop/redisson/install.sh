#!/bin/sh
# install.sh VERSION DIR: Redisson of that version by Maven, and the peer for it, in DIR.
set -eu
version=$1
dir=$(mkdir -p "$2" && cd "$2" && pwd)
shift 2
cd "$(dirname "$0")"
command -v mvn >/dev/null && command -v javac >/dev/null || {
    echo "Redisson needs mvn and a JDK, 17 or newer" >&2
    exit 1
}
if ! cmp -s pom.xml "$dir/pom.xml"; then
    rm -rf "$dir/lib"
    # Redisson 3 brings Jackson, 4 leaves it to its user.
    case $version in
    3.*) ;;
    *) set -- -Djackson=2.21.3 -Djackson3=3.1.3 ;;
    esac
    mvn -q -B dependency:copy-dependencies \
        -Dredisson="$version" -DoutputDirectory="$dir/lib" "$@" >&2
    cp pom.xml "$dir/pom.xml"
fi
if [ ! -e "$dir/classes" ] || ! cmp -s Peer.java "$dir/Peer.java"; then
    rm -rf "$dir/classes" "$dir/Peer.java"
    javac -Xlint:all,-deprecation,-processing,-classfile -proc:none \
        -cp "$dir/lib/*" -d "$dir/classes" Peer.java >&2
    cp Peer.java "$dir/Peer.java"
fi
