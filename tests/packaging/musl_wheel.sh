# The wheel in /wheels with the Python for musl in /opt/python, which packaging/musl_python.sh has
# built: README's first example, the command, and the contract by the pytest in /site. ./dev wheels
# runs this in a bare system.
. /dueq/tests/first_hour/functions.sh
apt-get -q update >/dev/null
apt-get -q -o Dpkg::Use-Pty=0 --no-install-recommends install musl redis-server tzdata unzip \
    >/install.log 2>&1 || { tail -n 40 /install.log && exit 1; }
# This Python has no zlib, so it has no pip, either.
unzip -q /wheels/*.whl -d /site
chmod +x /site/*.data/scripts/dueq
PATH=/opt/python/bin:$PATH
export PYTHONPATH=/site
cd /root
block python 1 >first.py
python3 first.py >out
said out 'pack order 7'
said out 'order 7 is not paid'
/site/*.data/scripts/dueq push orders 'order 10 is not paid'
/site/*.data/scripts/dueq reserve orders --ack >out
said out 'order 10 is not paid'
python3 -m pytest -q -o cache_dir=/tmp/pytest /dueq/tests/contract/test_contract.py >out ||
    { cat out && exit 1; }
tail -n 1 out
python3 -c 'import os; print("musl wheel: ok, Python", os.sys.version.split()[0])'
