# From README's example to tasks, a schedule, retries, a stop, and a newcomer's first mistakes.
HOUR=python
. /dueq/tests/first_hour/common.sh
python=/dueq/venv/bin/python

block python 1 >first.py
$python first.py >out
said out 'pack order 7'
said out 'order 7 is not paid'

cat >shop.py <<'END'
import dueq

app = dueq.App()


@app.task(queue="mail", max_attempts=3, backoff=dueq.Backoff("fixed", base=0.1))
def receipt(order: int) -> None:
    job = dueq.current_job()
    if order == 13 and job.attempt == 1:
        job.retry(delay=0.2, error="the printer is out of paper")
    if order == 14:
        job.fail("there is no order 14")
    print("receipt of order", order, flush=True)
END
$python -c 'from shop import receipt
for order in (1, 13, 14): receipt.push(order)
receipt.options(delay=0.5).push(2)'
refused 1 'receipt' $python -c 'from shop import receipt; receipt.push(1, 2, 3)'
refused 1 'max_attempts' $python -c 'import dueq; app = dueq.App(); app.task(max_retries=4)(print)'

dueq schedule add mail hourly 'every 1h' '{"task":"receipt","args":[99]}'
dueq schedule list mail >out
said out hourly

/dueq/venv/bin/dueq-worker shop:app --lease 8s --grace 5s --concurrency 2 >worker.out 2>worker.log &
worker=$!
for order in 1 2 13; do
    await grep -q "receipt of order $order\$" worker.out
done
await sh -c 'dueq stats mail --json | grep -q "\"dead\":1"'
kill -TERM $worker
wait $worker
said worker.log 'the printer is out of paper'
said worker.log 'there is no order 14'
dueq peek mail dead >out
said out 'there is no order 14'
