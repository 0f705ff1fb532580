# Sourced in a bare Debian: source_of PACKAGE installs a compiler, and unpacks the source of a
# package of Debian without its patches, into the folder that it enters. Ends with 75 if the mirror
# has no such source.
source_of() {
    cd /tmp
    sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >/etc/apt/sources.list.d/sources.list
    apt-get -q update
    apt-get -q -o Dpkg::Use-Pty=0 --no-install-recommends install build-essential pkg-config
    apt-get -q source --download-only "$1" || exit 75
    dpkg-source --skip-patches -x "$1"_*.dsc source
    cd source
}
