# The packages of Debian in /debs: installed in a bare system, and tried. ./dev debs runs this file.
apt-get -q update >/dev/null
apt-get -q -o Dpkg::Use-Pty=0 --no-install-recommends install /debs/*.deb redis-server \
    >/install.log 2>&1 || { tail -n 40 /install.log && exit 1; }
dpkg-query -W 'libdueq*' dueq '*-dueq'

# Without a compiler: README's examples in Python, PHP and the shell.
if command -v gcc; then exit 1; fi
HOUR=debs
. /dueq/tests/first_hour/common.sh
block python 1 >first.py
python3 first.py >out
said out 'order 7 is not paid'
block php 1 >first.php
php first.php >out
said out 'order 9 is not paid'
dueq push orders hello >/dev/null
dueq reserve orders --ack >out
said out hello
dueq --version
dpkg -L dueq >out
said out /usr/share/man/man1/dueq.1.gz

# The dashboard and the metrics, as their units start them.
unit() { find /lib/systemd/system /usr/lib/systemd/system -name "$1" | head -n 1; }
start() {
    LISTEN=$2 DUEQ_REQUIRE_URL=1 bash -c \
        "exec $(sed -n 's/^ExecStart=//p' "$(unit "$1.service")")" >"$1.log" 2>&1 &
}
get() { python3 -c 'import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read())' "$1"; }
start dueq-web 127.0.0.1:3837
web=$!
start dueq-metrics 127.0.0.1:9123
metrics=$!
await get http://127.0.0.1:3837/api/queues/orders
await get http://127.0.0.1:9123/metrics
get http://127.0.0.1:9123/metrics >out
said out 'dueq_up 1'
kill $web $metrics
wait || true

# A worker, as its unit starts it.
mkdir -p /opt/shop
cp /dueq/examples/deploy/receipts.py /opt/shop/
export WORKER='dueq-worker receipts:app --concurrency 2'
(cd /opt/shop && eval "exec $(sed -n 's/^ExecStart=//p' "$(unit 'dueq-worker@.service')")") \
    >worker.log 2>&1 &
worker=$!
dueq push mail '{"args":[7]}' --header task=send_receipt >/dev/null
await grep -q 'the receipt of order 7 is sent' worker.log
kill -TERM $worker
wait $worker

# systemd finds nothing wrong with the units, and a C program finds the library.
apt-get -q -o Dpkg::Use-Pty=0 --no-install-recommends install systemd gcc libc6-dev pkg-config \
    >/install.log 2>&1 || { tail -n 40 /install.log && exit 1; }
for name in dueq-web.service dueq-metrics.service dueq-worker@shop.service; do
    systemd-analyze verify --man=no "$name" 2>out || { cat out && exit 1; }
    if grep dueq out; then exit 1; fi
done
cat >version.c <<'END'
#include <dueq.h>
#include <stdio.h>

int main(void) { return puts(dueq_version()) < 0; }
END
# shellcheck disable=SC2046 # a list of words
gcc version.c $(pkg-config --cflags --libs dueq) -o version
./version

# PHP says nothing after the extension was purged.
apt-get -q -o Dpkg::Use-Pty=0 purge php-dueq >/install.log 2>&1
[ "$(php -r 'echo "quiet";' 2>&1)" = quiet ]
