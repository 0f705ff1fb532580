# The extension in /pie, with the PHP with threads in /opt/php: README's example, and several
# threads at once. ./dev pie runs this in a bare system.
apt-get -q update >/dev/null
apt-get -q -o Dpkg::Use-Pty=0 --no-install-recommends install redis-server tzdata gcc libc6-dev \
    >/install.log 2>&1 || { tail -n 40 /install.log && exit 1; }
mkdir -p /opt/php/conf.d
echo extension=/pie/dueq.so >/opt/php/conf.d/80-dueq.ini
export PATH=/opt/php/bin:$PATH LD_LIBRARY_PATH=/opt/php/lib
php -r 'echo "PHP ", PHP_VERSION, PHP_ZTS ? " with threads" : "", ", dueq ",
    phpversion("dueq"), "\n";'

HOUR=zts
. /dueq/tests/first_hour/common.sh
block php 1 >first.php
php first.php >out
said out 'order 9 is not paid'
# shellcheck disable=SC2046 # a list of words
gcc -D_GNU_SOURCE -DZEND_ENABLE_STATIC_TSRMLS_CACHE=1 /dueq/tests/packaging/threads.c \
    $(php-config --includes) -L/opt/php/lib -lphp -pthread -o threads
./threads 8 /dueq/tests/packaging/threads.php
