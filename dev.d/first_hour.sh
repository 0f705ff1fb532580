# ./dev first-hour: the steps of a newcomer, in a bare system. Sourced by ../dev.

HOURS=(python php laravel symfony on_call)

# first_hour [--suite SUITE] [NAME...]
first_hour() {
    local suite=bookworm names=() name begin=$SECONDS
    while [ $# -gt 0 ]; do
        case $1 in
        --suite) suite=${2:?--suite names a release of Debian, as bookworm} && shift ;;
        *)
            if [[ " ${HOURS[*]} " != *" $1 "* ]]; then
                echo "./dev first-hour: there is no hour $1; there are: ${HOURS[*]}" >&2
                return 2
            fi
            names+=("$1")
            ;;
        esac
        shift
    done
    need_root "./dev first-hour needs root: it makes a bare system and installs packages in it"
    need_packages debootstrap git
    bare_system "$suite"
    echo "-- README's Install, in a bare Debian ($suite)"
    in_bare_system bash -exo pipefail /dueq/tests/first_hour/install.sh
    for name in "${names[@]:-${HOURS[@]}}"; do
        echo "-- the first hour: $name"
        in_bare_system bash -euo pipefail "/dueq/tests/first_hour/$name.sh"
        echo "first hour: $name: ok"
    done
    echo "first hours: suite=$suite ok=$(wc -w <<<"${names[*]:-${HOURS[*]}}")" \
        "seconds=$((SECONDS - begin))"
}

# Makes a new system in the folder BARE, with the committed state of this checkout in /dueq. The end
# of the shell that called this removes the system.
bare_system() {
    local base=build/first-hour/$1.tar
    mkdir -p build/first-hour build/log
    BARE=$(mktemp -d "${TMPDIR:-/var/tmp}/dueq-bare.XXXXXX")
    if [ ! -e "$base" ]; then
        # A debootstrap that is older than a release does not know it: it is made as sid is.
        rm -rf build/debootstrap
        cp -a /usr/share/debootstrap build/debootstrap
        [ -e "build/debootstrap/scripts/$1" ] || ln -s sid "build/debootstrap/scripts/$1"
        DEBOOTSTRAP_DIR=$PWD/build/debootstrap \
            debootstrap --variant=minbase --include=ca-certificates "$1" "$BARE" \
            >build/log/debootstrap.log
        tar -C "$BARE" -cf "$base.new" . && mv "$base.new" "$base"
    else
        tar -C "$BARE" -xf "$base"
    fi
    # apt downloads as another user, who must be able to enter the root.
    chmod 755 "$BARE"
    mkdir "$BARE/dueq"
    git archive HEAD | tar -C "$BARE/dueq" -x
    # README's apt asks before it installs: answer yes. The mirror of an unreleased suite may be
    # old, but its signature is checked. And the bare system needs this network.
    printf '%s "%s";\n' APT::Get::Assume-Yes true Acquire::Check-Valid-Until false \
        >"$BARE/etc/apt/apt.conf.d/90dueq"
    cp /etc/resolv.conf /etc/hosts "$BARE/etc/"
    cp /etc/ssl/certs/ca-certificates.crt "$BARE/etc/ssl/certs/"
    [ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$BARE/etc/"
    mount -t proc proc "$BARE/proc"
    mount --bind /dev "$BARE/dev"
    # shellcheck disable=SC2064 # as it is now
    trap "leave_bare_system '$BARE'" EXIT
}

in_bare_system() {
    env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        PIP_CERT=/etc/ssl/certs/ca-certificates.crt PIP_DEFAULT_TIMEOUT=180 \
        chroot "$BARE" "$@"
}

# Kills what still runs in the bare system, such as the servers that dueq started, and removes it.
leave_bare_system() {
    local process second
    for process in /proc/[0-9]*; do
        [ "$(readlink "$process/root" 2>/dev/null)" != "$1" ] ||
            kill -9 "${process#/proc/}" 2>/dev/null || true
    done
    # A killed process holds its files until it has ended.
    for ((second = 0; second < 30; second++)); do
        umount "$1/proc" "$1/dev" 2>/dev/null || true
        if ! mountpoint -q "$1/proc" && ! mountpoint -q "$1/dev"; then
            rm -rf --one-file-system "$1"
            return
        fi
        sleep 1
    done
    umount "$1/proc" "$1/dev"
}
