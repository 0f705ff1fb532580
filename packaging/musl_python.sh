# Builds a small Python for musl in a bare Debian, which has none: ./dev wheels runs this there. The
# argument: how many compilers run at the same time. Python comes to /opt/python.
cd /tmp
sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >/etc/apt/sources.list.d/sources.list
apt-get -q update
apt-get -q -o Dpkg::Use-Pty=0 --no-install-recommends install build-essential pkg-config
apt-get -q source --download-only python3.11
dpkg-source --skip-patches -x python3.11_*.dsc python
. /dueq/packaging/musl.sh
cd python
./configure --prefix=/opt/python --without-ensurepip --disable-test-modules
make -j"$1"
make install COMPILEALL_OPTS=-j"$1"
