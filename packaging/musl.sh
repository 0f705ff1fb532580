# Sourced in a bare Debian: installs a compiler for musl, which configure scripts take then.
apt-get -q -o Dpkg::Use-Pty=0 --no-install-recommends install musl-tools
# musl has no headers of Linux. Those of Debian lie beside glibc's.
mkdir -p /opt/linux
ln -s /usr/include/linux /usr/include/asm-generic "/usr/include/$(gcc -print-multiarch)/asm" \
    /opt/linux/
# Python asks its compiler for the system, and finds glibc's headers by the answer of gcc.
cat >/usr/local/bin/musl-cc <<END
#!/bin/sh
case \$* in -print-multiarch | --print-multiarch) exec echo $(uname -m)-linux-musl ;; esac
exec musl-gcc -idirafter /opt/linux "\$@"
END
chmod +x /usr/local/bin/musl-cc
export CC=musl-cc
