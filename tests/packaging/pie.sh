# The extension in /pie, in a bare system: installed as PIE does. ./dev pie runs this there.
apt-get -q update >/dev/null
apt-get -q -o Dpkg::Use-Pty=0 --no-install-recommends install php-cli redis-server tzdata \
    >/install.log 2>&1 || { tail -n 40 /install.log && exit 1; }
if command -v gcc || dpkg -s libhiredis0.14 2>/dev/null; then exit 1; fi
extensions=$(php -r 'echo ini_get("extension_dir");')
mkdir -p "$extensions"
cp /pie/dueq.so "$extensions/"
echo extension=dueq >"$(php --ini | sed -n 's/^Scan for.*: //p')/80-dueq.ini"
ls /pie/LICENSE /pie/licences/openssl.txt /pie/licences/hiredis.txt >/dev/null
php -r 'echo "PHP ", PHP_VERSION, ", dueq ", phpversion("dueq"), "\n";'

HOUR=pie
. /dueq/tests/first_hour/common.sh
block php 1 >first.php
php first.php >out
said out 'order 9 is not paid'
