# The wheel in /wheels with a Python that is not the release's own: README's first example, the
# command, and the contract by the pytest in /site. ./dev wheels runs this in a bare system. The
# arguments: the version of Python; its kind: debian, a package of Debian; or as packaging/python.sh
# has built it in /opt/python.
. /dueq/tests/first_hour/functions.sh
packages=(redis-server tzdata unzip)
case $2 in
debian) packages+=("python$1") ;;
musl) packages+=(musl) ;;
esac
# The mirror of an unreleased suite may be old. Its signature is checked all the same.
{ apt-get -q -o Acquire::Check-Valid-Until=false update &&
    apt-get -q -o Dpkg::Use-Pty=0 --no-install-recommends install "${packages[@]}"; } \
    >/install.log 2>&1 || { tail -n 40 /install.log && exit 1; }
# A Python that was built for this has no zlib, so it has no pip, either.
unzip -q /wheels/*.whl -d /site
chmod +x /site/*.data/scripts/dueq
PATH=/opt/python/bin:$PATH
export PYTHONPATH=/site
python=python$1
cd /root
block python 1 >first.py
"$python" first.py >out
said out 'pack order 7'
said out 'order 7 is not paid'
/site/*.data/scripts/dueq push orders 'order 10 is not paid'
/site/*.data/scripts/dueq reserve orders --ack >out
said out 'order 10 is not paid'
if [ "$2" = free ]; then
    # A module that does not say that it runs without the GIL brings the GIL back.
    "$python" -W error -c 'import dueq, sys; sys.exit(sys._is_gil_enabled())'
fi
"$python" -m pytest -q -o cache_dir=/tmp/pytest /dueq/tests/contract/test_contract.py >out ||
    { cat out && exit 1; }
tail -n 1 out
"$python" -c 'import sys; print("wheel: ok, Python", sys.version.split()[0], *sys.argv[1:])' "$2"
