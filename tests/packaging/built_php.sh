# The extension in /pie, with the PHP in /opt/php, which packaging/php.sh has built: README's
# example and, with a PHP with threads, several threads at once. The argument: the C library, glibc
# or musl. ./dev pie runs this in a bare system.
apt-get -q update >/dev/null
packages=(redis-server tzdata)
compiler=gcc
[ "$1" = glibc ] || packages+=(musl)
if [ -e /opt/php/lib/libphp.so ]; then
    packages+=(gcc libc6-dev)
    [ "$1" = glibc ] || packages+=(musl-tools) compiler=musl-gcc
fi
apt-get -q -o Dpkg::Use-Pty=0 --no-install-recommends install "${packages[@]}" \
    >/install.log 2>&1 || { tail -n 40 /install.log && exit 1; }
mkdir -p /opt/php/conf.d
echo extension=/pie/dueq.so >/opt/php/conf.d/80-dueq.ini
export PATH=/opt/php/bin:$PATH
php -r 'echo "PHP ", PHP_VERSION, PHP_ZTS ? " with threads" : "", ", dueq ",
    phpversion("dueq"), "\n";'

HOUR=built_php
. /dueq/tests/first_hour/common.sh
block php 1 >first.php
php first.php >out
said out 'order 9 is not paid'
if [ -e /opt/php/lib/libphp.so ]; then
    # shellcheck disable=SC2046 # a list of words
    $compiler -D_GNU_SOURCE -DZEND_ENABLE_STATIC_TSRMLS_CACHE=1 /dueq/tests/packaging/threads.c \
        $(php-config --includes) -L/opt/php/lib -Wl,-rpath,/opt/php/lib -lphp -pthread -o threads
    ./threads 8 /dueq/tests/packaging/threads.php
fi
