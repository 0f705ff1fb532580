# Builds the packages in a bare Debian: ./dev debs runs this there. The argument: how many compilers
# run at the same time. The packages come to /.
cd /dueq
apt-get -q update
apt-get -q -o Dpkg::Use-Pty=0 --no-install-recommends install build-essential lintian
apt-get -q -o Dpkg::Use-Pty=0 --no-install-recommends build-dep ./
DEB_BUILD_OPTIONS="parallel=$1 noautodbgsym" dpkg-buildpackage -us -uc -b
# New packages need a bug that asks for them only in Debian itself.
lintian --allow-root --fail-on error --suppress-tags initial-upload-closes-no-bugs /dueq_*.changes
