# Builds a small Python in a bare Debian, of a kind that Debian does not have: ./dev wheels runs
# this there. The arguments: how many compilers run at the same time; the version of Python; its
# kind: musl, for that C library; or free, without the GIL. Python comes to /opt/python. Ends with
# 75 if the mirror has no source.
. /dueq/packaging/source.sh
source_of "python$2"
options=(--prefix=/opt/python --without-ensurepip --disable-test-modules)
case $3 in
musl) . /dueq/packaging/musl.sh ;;
free) options+=(--disable-gil) ;;
esac
./configure "${options[@]}"
make -j"$1"
make install COMPILEALL_OPTS=-j"$1"
