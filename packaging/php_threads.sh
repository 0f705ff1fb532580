# Builds a small PHP with threads, in a bare Debian, which has none: ./dev pie runs this there. The
# arguments: the version of PHP, and how many compilers run at the same time. PHP comes to /opt/php,
# with the libphp.so that a program with threads links. Ends with 75 if the mirror has no source.
cd /tmp
sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >/etc/apt/sources.list.d/sources.list
apt-get -q update
apt-get -q -o Dpkg::Use-Pty=0 --no-install-recommends install build-essential pkg-config
apt-get -q source --download-only "php$1" || exit 75
dpkg-source --skip-patches -x php"$1"_*.dsc php
cd php
./configure --prefix=/opt/php --disable-all --enable-cli --enable-embed --enable-zts \
    --with-config-file-scan-dir=/opt/php/conf.d
make -j"$2"
make install
