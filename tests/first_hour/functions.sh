# Functions of the scripts that run in a bare system.

# said FILE TEXT: the file must have TEXT.
said() {
    grep -q -- "$2" "$1" || { echo "not said: $2" >&2 && cat "$1" >&2 && exit 1; }
}

# refused CODE TEXT COMMAND...: the command must end with CODE and print TEXT.
refused() {
    local code=0
    "${@:3}" >out 2>&1 || code=$?
    [ "$code" = "$1" ] || { echo "$code, not $1: ${*:3}" >&2 && cat out >&2 && exit 1; }
    said out "$2"
}

# await COMMAND...: waits until the command succeeds, for a minute at most.
await() {
    for ((try = 0; try < 600; try++)); do
        ! "$@" >/dev/null 2>&1 || return 0
        sleep 0.1
    done
    echo "it did not come: $*" >&2
    exit 1
}

# block LANGUAGE NUMBER [FILE]: prints a block of code from README, or from another document. The
# first block in a language has number 1.
block() {
    awk -v language="\`\`\`$1" -v wanted="$2" '
        $0 == language { inside = ++count == wanted; next }
        /^```/ { inside = 0 }
        inside' "/dueq/${3-README.md}"
}

# require_packages FILE: runs Composer's commands that the document FILE shows. All else comes from
# the distribution.
require_packages() {
    block sh 1 "$1" | sed 's|/path/to|/|' >require.sh
    grep -c '^composer ' require.sh
    export COMPOSER_ALLOW_SUPERUSER=1 COMPOSER_NO_AUDIT=1
    bash -exo pipefail require.sh >require.log 2>&1 || { cat require.log && exit 1; }
}
