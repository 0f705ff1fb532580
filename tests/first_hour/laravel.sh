# An application on the distribution's Laravel moves to dueq as bindings/php/laravel/README.md says.
# Then the script does what a newcomer does first.
HOUR=laravel
. /dueq/tests/first_hour/common.sh
guide=bindings/php/laravel/README.md

apt-get install php-laravel-framework php-sqlite3 composer >/dev/null 2>&1

mkdir -p app/{Console,Exceptions,Jobs} bootstrap/cache config database
mkdir -p storage/framework/cache/data storage/logs
version=$(dpkg-query -W -f '${Version}' php-laravel-framework | sed 's/[+-].*//')
{
    echo '{"name": "shop/shop", "repositories": {"packagist": false},'
    echo '"autoload": {"files": ["/usr/share/php/Illuminate/autoload.php"],'
    echo '    "psr-4": {"App\\": "app/"}},'
    # The distribution's packages contain these.
    echo "\"replace\": {\"psr/container\": \"1.1.2\", \"psr/log\": \"1.1.4\""
    for part in container contracts queue support; do
        echo ", \"illuminate/$part\": \"$version\""
    done
    echo '}}'
} >composer.json
require_packages "$guide"

cat >bootstrap/app.php <<'END'
<?php
error_reporting(E_ALL & ~E_DEPRECATED); // this Laravel is older than PHP 8.2
$app = new Illuminate\Foundation\Application(dirname(__DIR__));
$app->singleton(Illuminate\Contracts\Console\Kernel::class, App\Console\Kernel::class);
$app->singleton(Illuminate\Contracts\Debug\ExceptionHandler::class, App\Exceptions\Handler::class);
return $app;
END
cat >artisan <<'END'
<?php
require __DIR__ . '/vendor/autoload.php';
$app = require __DIR__ . '/bootstrap/app.php';
$kernel = $app->make(Illuminate\Contracts\Console\Kernel::class);
$input = new Symfony\Component\Console\Input\ArgvInput();
exit($kernel->handle($input, new Symfony\Component\Console\Output\ConsoleOutput()));
END
cat >app/Console/Kernel.php <<'END'
<?php
namespace App\Console;

class Kernel extends \Illuminate\Foundation\Console\Kernel
{
}
END
cat >app/Exceptions/Handler.php <<'END'
<?php
namespace App\Exceptions;

class Handler extends \Illuminate\Foundation\Exceptions\Handler
{
}
END
cat >app/Jobs/PackOrder.php <<'END'
<?php
namespace App\Jobs;

use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Foundation\Bus\Dispatchable;
use Illuminate\Queue\InteractsWithQueue;

final class PackOrder implements ShouldQueue
{
    use Dispatchable, InteractsWithQueue, Queueable;

    public $tries = 2;

    public function __construct(private int $order)
    {
    }

    public function handle(): void
    {
        if ($this->order === 13 && !file_exists(base_path('paper'))) {
            throw new \RuntimeException('the printer is out of paper');
        }
        file_put_contents(base_path('packed'), "order {$this->order}\n", FILE_APPEND);
    }
}
END
cat >config/app.php <<'END'
<?php
return [
    'name' => 'shop',
    'env' => 'production',
    'debug' => true,
    'timezone' => 'UTC',
    'locale' => 'en',
    'cipher' => 'AES-256-CBC',
    'key' => 'base64:' . base64_encode(str_repeat('k', 32)),
    'providers' => [
        Illuminate\Bus\BusServiceProvider::class,
        Illuminate\Cache\CacheServiceProvider::class,
        Illuminate\Database\DatabaseServiceProvider::class,
        Illuminate\Encryption\EncryptionServiceProvider::class,
        Illuminate\Filesystem\FilesystemServiceProvider::class,
        Illuminate\Queue\QueueServiceProvider::class,
        Illuminate\Foundation\Providers\ConsoleSupportServiceProvider::class,
    ],
];
END
cat >config/cache.php <<'END'
<?php
return [
    'default' => 'file',
    'stores' => [
        'file' => ['driver' => 'file', 'path' => storage_path('framework/cache/data')],
    ],
];
END
cat >config/database.php <<'END'
<?php
return [
    'default' => 'sqlite',
    'connections' => [
        'sqlite' => ['driver' => 'sqlite', 'database' => database_path('shop.sqlite')],
    ],
    'migrations' => 'migrations',
];
END
cat >config/logging.php <<'END'
<?php
return [
    'default' => 'single',
    'channels' => ['single' => ['driver' => 'single', 'path' => storage_path('logs/laravel.log')]],
];
END
{
    echo "<?php return ['default' => env('QUEUE_CONNECTION'), 'connections' => ["
    block php 1 "$guide"
    echo "], 'failed' => ["
    echo "    'driver' => 'database-uuids', 'database' => 'sqlite', 'table' => 'failed_jobs',"
    echo "]];"
} >config/queue.php
block sh 2 "$guide" | sed "s|redis://127.0.0.1:6379/0|$DUEQ_URL|" >.env
unset DUEQ_URL
touch database/shop.sqlite
mkdir database/migrations
php artisan queue:failed-table >/dev/null
php artisan migrate --force >out
said out Migrated

# push.php ORDER SECONDS: pushes as a web request does.
cat >push.php <<'END'
<?php
require __DIR__ . '/vendor/autoload.php';
$app = require __DIR__ . '/bootstrap/app.php';
$app->make(Illuminate\Contracts\Console\Kernel::class)->bootstrap();
App\Jobs\PackOrder::dispatch((int) $argv[1])->delay(now()->addSeconds((int) $argv[2]));
END
php push.php 1 0
php push.php 2 2
php push.php 13 0

php artisan queue:work dueq --sleep=0.1 --backoff=0 >worker.log 2>&1 &
worker=$!
for order in 1 2; do
    await grep -q "order $order\$" packed
done
await sh -c 'php artisan queue:failed | grep -q PackOrder'
touch paper
php artisan queue:retry all >out
await grep -q 'order 13$' packed
kill -TERM $worker
wait $worker
said worker.log Processed

# The error names the server that cannot be reached. Laravel prints the exception, and the script
# ends with 0.
refused 0 'cannot reach the server at redis://127.0.0.1:1' \
    env DUEQ_URL=redis://127.0.0.1:1 php push.php 3 0
DUEQ_URL=$(sed -n 's/^DUEQ_URL=//p' .env) dueq queues >out
said out laravel:default
