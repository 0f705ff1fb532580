# README's example in PHP and in the shell, on queues that both share, and the first mistakes of a
# newcomer.
HOUR=php
. /dueq/tests/first_hour/common.sh

block php 1 >first.php
php first.php >out
said out 'order 9 is not paid'

dueq push orders 'order 10 is not paid' --delay 1.5s --id unpaid-10 >out
said out unpaid-10
refused 1 'DUPLICATE: unpaid-10' dueq push orders 'order 10 is not paid' --delay 1.5s --id unpaid-10
dueq reserve orders --wait 10s --ack >out
said out 'order 10 is not paid'

cat >work.php <<'END'
<?php
$orders = new Dueq\Queue('orders');
$orders->push('from PHP', id: 'a');
$message = $orders->reserve();
$message->ack();
try {
    $message->ack();
} catch (Dueq\Exception\LeaseLostException $error) {
    echo $error->getMessage(), "\n";
}
END
php work.php >out
said out 'this program has settled the message already'

# PHP takes a message that the shell pushed.
dueq push orders 'for PHP' --id b >out
php -r '
    $message = (new Dueq\Queue("orders"))->reserve(timeout: 5.0);
    echo $message->body, "\n";
    $message->ack();
' >out
said out 'for PHP'
refused 2 'did you mean push' dueq pusch orders x
refused 0 'nothing was ever pushed to' dueq stats ordres
