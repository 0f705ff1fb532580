# Sourced in a bare Debian: installs a compiler for musl, and makes configure scripts take it.
apt-get -q -o Dpkg::Use-Pty=0 --no-install-recommends install musl-tools
# musl has no headers of Linux. Those of Debian lie beside glibc's.
mkdir -p /opt/linux
ln -s /usr/include/linux /usr/include/asm-generic "/usr/include/$(gcc -print-multiarch)/asm" \
    /opt/linux/
export CC=musl-gcc CPPFLAGS='-idirafter /opt/linux'
