# A wheel in a bare Debian with Python and a server, but no compiler: pip installs it in seconds,
# and README's first example runs. The folder /wheels has the wheel.
. /dueq/tests/first_hour/functions.sh
mkdir -p /root/wheel
cd /root/wheel
# A mirror of a suite that is not released may be old. Its signature is checked all the same.
apt-get -o Acquire::Check-Valid-Until=false update >/dev/null
apt-get install --no-install-recommends python3 python3-venv >install.log 2>&1
for compiler in cc gcc clang make pkg-config; do
    if command -v "$compiler"; then exit 1; fi
done

python3 -m venv venv
begin=$EPOCHREALTIME
venv/bin/pip install --quiet --no-index --find-links /wheels dueq
took=$(((${EPOCHREALTIME/[.,]/} - ${begin/[.,]/}) / 1000))
echo "pip install: $took ms"
[ "$took" -le 5000 ] || { echo "pip may take 5000 ms" >&2 && exit 1; }
PATH=$PWD/venv/bin:$PATH

# No URL is named: on the private server of this user, as soon as there is a program for it.
block python 1 >first.py
refused 1 'install one: apt install redis-server; or name a server' python first.py
# Debian 12 has no Valkey.
apt-get install --no-install-recommends valkey-server >>install.log 2>&1 ||
    apt-get install --no-install-recommends redis-server >>install.log 2>&1
python first.py >out
said out 'pack order 7'
said out 'order 7 is not paid'

# The command is whole.
dueq --version
dueq push orders 'order 10 is not paid' --delay 0.1s
dueq reserve orders --wait 10s --ack >out
said out 'order 10 is not paid'
dueq top --once >out
said out orders
dueq web --listen 127.0.0.1:3837 2>web.out &
web=$!
await grep -q 'http://' web.out
python -c 'from urllib.request import urlopen
print(urlopen("http://127.0.0.1:3837/api/queues").read())' >out
said out orders
kill -TERM $web

# Before the system's bundle is written anew: the network may need what is in this one.
pip install --quiet 'psycopg[binary]' certifi tzdata

# The contract.
pip install --quiet pytest pytest-timeout
python -m pytest -q -o cache_dir=/tmp/pytest /dueq/tests/contract/test_contract.py >out ||
    { cat out && exit 1; }
tail -n 1 out

# TLS, with a certificate of the system's CAs.
new='openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost'
$new -x509 -days 2 -keyout ca.key -out ca.pem 2>/dev/null
$new -keyout key.pem -out request 2>/dev/null
echo 'subjectAltName=DNS:localhost' >names
openssl x509 -req -days 2 -in request -CA ca.pem -CAkey ca.key -CAcreateserial -extfile names \
    -out cert.pem 2>/dev/null
server=$(command -v valkey-server redis-server | head -n 1)
"$server" --port 0 --tls-port 6390 --tls-cert-file cert.pem --tls-key-file key.pem \
    --tls-ca-cert-file ca.pem --tls-auth-clients no --save '' --daemonize yes >/dev/null
cat >tls.py <<'END'
import dueq

dueq.Queue("orders", "rediss://localhost:6390").push("over TLS")
END
await bash -c 'exec 3<>/dev/tcp/127.0.0.1/6390'
if python tls.py 2>out; then exit 1; fi
said out 'certificate'
cp ca.pem /usr/local/share/ca-certificates/dueq.crt
update-ca-certificates >/dev/null 2>&1
python tls.py

# A machine without CA certificates and time zones has those of Python's packages.
cat ca.pem >>"$(python -c 'import certifi; print(certifi.where())')"
mv /etc/ssl/certs /etc/ssl/gone
mv /usr/share/zoneinfo /usr/share/gone
python tls.py
python -c 'import dueq; print(dueq.next_time("0 12 * * *", "Europe/Berlin"))'
mv /etc/ssl/gone /etc/ssl/certs
mv /usr/share/gone /usr/share/zoneinfo

# Three OpenSSL's in a process: Python's, psycopg's and that of the wheel.
for order in 'ssl, psycopg, dueq' 'ssl, dueq, psycopg' 'psycopg, ssl, dueq' 'psycopg, dueq, ssl' \
    'dueq, ssl, psycopg' 'dueq, psycopg, ssl'; do
    python -c "import $order
ssl.create_default_context()
dueq.Queue('orders', 'rediss://localhost:6390').push('over TLS')
try:
    psycopg.connect('host=127.0.0.1 port=6390 sslmode=require', connect_timeout=5)
except psycopg.OperationalError:
    pass
ssl.create_default_context()"
done
echo "wheel: ok"
