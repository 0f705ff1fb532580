# Sourced in a bare Debian: installs a compiler for musl, which configure scripts take then.
apt-get -q -o Dpkg::Use-Pty=0 --no-install-recommends install musl-tools
# musl has no headers of Linux. Those of Debian lie beside glibc's.
mkdir -p /opt/linux
ln -s /usr/include/linux /usr/include/asm-generic "/usr/include/$(gcc -print-multiarch)/asm" \
    /opt/linux/
# Python's configure compares what this answers with the compiler's own macros.
cat >/usr/local/bin/musl-cc <<END
#!/bin/sh
[ "\$*" != --print-multiarch ] || exec echo $(uname -m)-linux-musl
exec musl-gcc -idirafter /opt/linux "\$@"
END
chmod +x /usr/local/bin/musl-cc
export CC=musl-cc
