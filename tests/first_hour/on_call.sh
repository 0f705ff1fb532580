# A night on call: one message hangs, one died, one queue is paused. The commands show each of them,
# and say what to do.
HOUR=on_call
. /dueq/tests/first_hour/common.sh

for n in 1 2 3; do dueq push orders "order $n" --id "order-$n" >/dev/null; done
ticket=$(dueq reserve orders --json | sed 's/.*"ticket":"\([^"]*\)".*/\1/')
dueq bury orders "$ticket" --reason 'no such customer'
dueq peek orders dead >out
said out 'no such customer'
refused 1 'it is ready' dueq kick orders order-2
refused 2 'yes' dueq purge orders dead
dueq kick orders --all >out
said out 1

dueq pause orders
dueq top --once >out
said out 'paused'
dueq doctor >out || true
said out 'paused'
dueq resume orders
dueq metrics >out
said out 'dueq_messages{queue="orders",state="ready"} 3'
dueq reserve orders --count 3 --ack >out
said out 'order 1'
dueq check orders

# The server ends. The command says so, and what to do.
redis-cli -s redis.sock shutdown nosave || true
refused 3 'cannot reach the server' dueq stats orders --url "$DUEQ_URL?timeout=1s"
refused 2 'redis://localhost:6379/0' dueq stats orders --url redis://127.0.0.1:port
