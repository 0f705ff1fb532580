# What all first hours share: the server, which DUEQ_URL names as README says, a folder for each of
# them, and functions.
. /dueq/tests/first_hour/functions.sh

mkdir -p "/root/$HOUR"
cd "/root/$HOUR"
redis-server --port 0 --unixsocket "$PWD/redis.sock" --save '' --daemonize yes \
    --logfile "$PWD/redis.log" >/dev/null
until redis-cli -s redis.sock ping >/dev/null 2>&1; do sleep 0.1; done
export DUEQ_URL=unix://$PWD/redis.sock
