<?php

/** The work of client.py's "PHP" and "phpredis": LANGUAGE SOCKET push|delay|own|work COUNT. */

declare(strict_types=1);

[, $language, $socket, $way, $count] = $argv;
$body = str_repeat('x', 200);

if ($language === 'phpredis') {
    // As many words as a push of dueq.
    $redis = new Redis();
    $redis->connect($socket);
    $sha = $redis->script('load', "return redis.call('RPUSH', KEYS[1], ARGV[1])");
    $words = ['list', 'a', 'b', 'c', 'd', 'e', $body, '1', '2', '3'];
    for ($i = 0; $i < (int) $count; $i++) {
        $redis->evalSha($sha, $words, 6);
    }
    exit();
}

$queue = new Dueq\Queue('client', "unix://$socket");
if ($way === 'push') {
    for ($i = 0; $i < (int) $count; $i++) {
        $queue->push($body);
    }
} elseif ($way === 'delay') {
    for ($i = 0; $i < (int) $count; $i++) {
        $queue->push($body, delay: 60);
    }
} elseif ($way === 'own') {
    for ($i = 0; $i < (int) $count; $i++) {
        $queue->push($body, delay: 60, id: "job-$i", maxAttempts: 5);
    }
} else {
    $left = (int) $count;
    $consumer = $queue->consume();
    $consumer->work(function () use (&$left, $consumer): void {
        if (--$left === 0) {
            $consumer->stop();
        }
    });
}
