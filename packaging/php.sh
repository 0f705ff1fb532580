# Builds a small PHP in a bare Debian, of a kind that Debian does not have: ./dev pie runs this
# there. The arguments: the version of PHP; how many compilers run at the same time; the C library
# (glibc or musl); zts for a PHP with threads, or nothing. PHP comes to /opt/php; one with threads
# has a libphp.so, too, which a program with threads links. Ends with 75 if the mirror has no
# source.
cd /tmp
sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >/etc/apt/sources.list.d/sources.list
apt-get -q update
apt-get -q -o Dpkg::Use-Pty=0 --no-install-recommends install build-essential pkg-config
apt-get -q source --download-only "php$1" || exit 75
dpkg-source --skip-patches -x php"$1"_*.dsc php
options=(--prefix=/opt/php --disable-all --enable-cli --with-config-file-scan-dir=/opt/php/conf.d)
[ -z "$4" ] || options+=(--enable-embed --enable-zts)
if [ "$3" = musl ]; then
    . /dueq/packaging/musl.sh
fi
cd php
./configure "${options[@]}"
make -j"$2"
make install
