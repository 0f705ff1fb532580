# Builds a small PHP in a bare Debian, of a kind that Debian does not have: ./dev pie runs this
# there. The arguments: how many compilers run at the same time; the version of PHP; its kind:
# glibc-zts, with threads; musl; or musl-zts. PHP comes to /opt/php; one with threads has a
# libphp.so, too, which a program with threads links. Ends with 75 if the mirror has no source.
. /dueq/packaging/source.sh
source_of "php$2"
options=(--prefix=/opt/php --disable-all --enable-cli --with-config-file-scan-dir=/opt/php/conf.d)
[[ $3 != *-zts ]] || options+=(--enable-embed --enable-zts)
[[ $3 != musl* ]] || . /dueq/packaging/musl.sh
./configure "${options[@]}"
make -j"$1"
make install
