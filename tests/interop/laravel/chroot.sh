#!/bin/sh
# chroot.sh SUITE DIR: installs the Debian SUITE into DIR, with its Laravel and with the packages to
# build and test the PHP extension. DIR/.ready exists once DIR is complete. Needs root and
# debootstrap.
set -eu
suite=$1 dir=$2
packages='
    php-cli php-mbstring php-xml php-redis php-predis php-sqlite3
    php-illuminate-queue php-illuminate-redis php-illuminate-events php-illuminate-bus
    php-illuminate-database php-illuminate-console php-laravel-framework
    php-dev libhiredis-dev libssl-dev pkg-config gcc make phpunit re2c autoconf'
[ ! -e "$dir/.ready" ] || exit 0

leave() {
    for place in dev proc; do
        ! mountpoint -q "$dir/$place" || umount -l "$dir/$place"
    done
}
trap leave EXIT
trap 'exit 1' HUP INT TERM

if [ ! -e "$dir/.base" ]; then
    leave
    rm -rf --one-file-system "$dir"
    mkdir -p "$dir"
    # A debootstrap that is older than the suite has no script for it. The script of trixie installs
    # later suites, too.
    script=/usr/share/debootstrap/scripts/$suite
    [ -e "$script" ] || script=/usr/share/debootstrap/scripts/trixie
    # The mirror is the one that this machine's packages come from.
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
        "Codename: $(. /etc/os-release && echo "$VERSION_CODENAME")" | head -n 1)
    debootstrap --variant=minbase "$suite" "$dir" "$mirror" "$script"
    touch "$dir/.base"
fi
cp /etc/resolv.conf "$dir/etc/resolv.conf"
mount -t proc proc "$dir/proc"
mount --rbind /dev "$dir/dev"
mount --make-rslave "$dir/dev"
printf '#!/bin/sh\nexit 101\n' >"$dir/usr/sbin/policy-rc.d"
chmod 755 "$dir/usr/sbin/policy-rc.d"
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
# A mirror may lag behind: the Release file of the suite may have expired there.
chroot "$dir" apt-get -q -o Acquire::Check-Valid-Until=false update
# shellcheck disable=SC2086 # a list of words
chroot "$dir" apt-get -q -y -o Dpkg::Use-Pty=0 --no-install-recommends install $packages
chroot "$dir" apt-get -q clean
touch "$dir/.ready"
