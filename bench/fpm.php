<?php

/** One push a request, for fpm.py: the way is WAY. It prints what the push returned. */

$body = str_repeat('abcdefghijklmnopqrst', 10);
$socket = $_SERVER['SOCKET'];

switch ($_SERVER['WAY']) {
    case 'nothing':
        echo 'nothing';
        break;
    case 'dueq':
    case 'dueq persistent':
        $persistent = $_SERVER['WAY'] !== 'dueq';
        echo (new Dueq\Queue('jobs', "unix://$socket", persistent: $persistent))->push($body);
        break;
    case 'phpredis connect':
    case 'phpredis pconnect':
    case 'phpredis unchecked':
        // By default pconnect() sends an ECHO, to see that the server is there.
        ini_set(
            'redis.pconnect.echo_check_liveness',
            $_SERVER['WAY'] === 'phpredis unchecked' ? '0' : '1',
        );
        $redis = new Redis();
        $_SERVER['WAY'] === 'phpredis connect'
            ? $redis->connect($socket)
            : $redis->pconnect($socket);
        echo $redis->rPush('jobs', $body);
        break;
    case 'laravel':
        // Laravel 8 is older than the deprecations of PHP 8.2.
        error_reporting(E_ALL & ~E_DEPRECATED);
        require 'Illuminate/Queue/autoload.php';
        require 'Illuminate/Redis/autoload.php';
        require 'Illuminate/Events/autoload.php';
        $app = new Illuminate\Container\Container();
        $server = ['host' => $socket, 'port' => 0, 'persistent' => true];
        $app->instance(
            'redis',
            new Illuminate\Redis\RedisManager($app, 'phpredis', ['default' => $server]),
        );
        $app->instance('events', new Illuminate\Events\Dispatcher($app));
        $queue = new Illuminate\Queue\Capsule\Manager($app);
        $queue->getQueueManager()->addConnector(
            'redis',
            fn () => new Illuminate\Queue\Connectors\RedisConnector($app['redis']),
        );
        $queue->addConnection([
            'driver' => 'redis',
            'connection' => 'default',
            'queue' => 'default',
        ]);
        echo $queue->getConnection()->push('Job', $body);
        break;
}
