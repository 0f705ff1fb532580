# Tests against the real Redisson and Laravel: ./dev interop. Sourced by ../dev.

INTEROP_PEERS=(redisson-3.20.1 redisson-3.52.0 redisson-4.7.0 laravel-8 laravel-10 laravel-13)
INTEROP_CI=(redisson-4.7.0 laravel-8)
INTEROP_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/dueq/interop
export DUEQ_CHROOTS=${DUEQ_CHROOTS:-${XDG_CACHE_HOME:-$HOME/.cache}/dueq/chroots}

# interop [--short] [--ci] [--only NAME,...] [ARGUMENT OF PYTEST...]
# --short: mixed pools of 1,000 jobs, not 10,000. --ci: short, with the peers of INTEROP_CI, and an
# absent peer is a failure.
interop() {
    local jobs=10000 wanted=("${INTEROP_PEERS[@]}") ci=0 name status=0
    local line=build/log/interop.line.$$
    while [ $# -gt 0 ]; do
        case $1 in
        --short) jobs=1000 ;;
        --ci) jobs=1000 ci=1 wanted=("${INTEROP_CI[@]}") ;;
        --only) [ $# -gt 1 ] && IFS=, read -ra wanted <<<"$2" && shift ||
            { echo "--only NAME,...: ${INTEROP_PEERS[*]}" >&2; exit 2; } ;;
        *) break ;;
        esac
        shift
    done
    for name in "${wanted[@]}"; do
        if [[ " ${INTEROP_PEERS[*]} " != *" $name "* ]]; then
            echo "the peers are: ${INTEROP_PEERS[*]}" >&2
            exit 2
        fi
    done
    setup
    setup_tools
    use_build
    mkdir -p "$INTEROP_CACHE"
    for name in "${wanted[@]}"; do
        alone "installs $name" interop_install "$name" 9<>"$INTEROP_CACHE/lock"
    done
    rm -f "$line"
    timeout --signal=INT --kill-after=30 1800 pytest -q tests/interop \
        --peers "$(IFS=,; echo "${wanted[*]}")" --jobs "$jobs" --closing "$line" "$@" \
        </dev/null || status=$?
    [ "$ci" -eq 0 ] || grep -q 'absent= ' "$line" || status=1
    cat "$line" || status=1
    rm -f "$line"
    exit "$status"
}

# Installs a peer, once. A peer that cannot be installed is absent: the closing line says so.
interop_install() {
    local name=$1 log=build/log/interop-$1.log begin=$EPOCHREALTIME
    mkdir -p build/log
    # The first time this takes minutes.
    printf '  %-28s ' "$name"
    # In a shell of its own, because what it calls may exit.
    (
        case $name in
        redisson-*)
            command -v mvn >/dev/null && command -v javac >/dev/null ||
                need_packages default-jdk-headless maven
            tests/interop/redisson/install.sh "${name#*-}" "$INTEROP_CACHE/$name"
            ;;
        laravel-8) [ "${VERSION_ID-}" != 12 ] || interop_laravel php-nrk-predis ;;
        laravel-10)
            if [ "${VERSION_ID-}" = 13 ]; then
                interop_laravel php-predis
            else
                interop_chroot trixie
            fi
            ;;
        laravel-13) interop_chroot forky ;;
        esac
    ) >"$log" 2>&1 </dev/null && printf '%5.1f s\n' "$(seconds_since "$begin")" ||
        echo "is absent: $(tail -n 1 "$log")"
}

# interop_laravel PREDIS: installs this Debian's Laravel. PREDIS: the package of the client Predis.
interop_laravel() {
    need_packages php-redis "$1" php-illuminate-{queue,redis,events,bus}
}

interop_chroot() {
    [ ! -e "$DUEQ_CHROOTS/$1/.ready" ] || return 0
    [ "$(id -u)" -eq 0 ] || { echo "a chroot needs root"; return 1; }
    need_packages debootstrap
    tests/interop/laravel/chroot.sh "$1" "$DUEQ_CHROOTS/$1"
}
