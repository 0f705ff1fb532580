# An application on the distribution's Symfony moves to dueq as bindings/php/symfony/README.md says.
# Then the script does what a newcomer does first.
HOUR=symfony
. /dueq/tests/first_hour/common.sh
guide=bindings/php/symfony/README.md

parts=(console dotenv framework-bundle messenger property-access serializer yaml)
apt-get install composer "${parts[@]/#/php-symfony-}" >/dev/null 2>&1

mkdir -p bin config/packages src/Message src/MessageHandler
version=$(dpkg-query -W -f '${Version}' php-symfony-messenger | sed 's/[+-].*//')
{
    echo '{"name": "shop/shop", "repositories": {"packagist": false},'
    echo '"autoload": {"psr-4": {"App\\": "src/"}, "files": ['
    components=(Console Dotenv Messenger PropertyAccess Serializer Yaml)
    for part in Bundle/FrameworkBundle "${components[@]/#/Component/}"; do
        echo "\"/usr/share/php/Symfony/$part/autoload.php\","
    done | sed '$s/,$//'
    # The distribution's packages contain these.
    echo ']}, "replace": {"psr/container": "1.1.2", "psr/log": "1.1.4",'
    echo "\"symfony/messenger\": \"$version\"}}"
} >composer.json
require_packages "$guide"

cat >src/Kernel.php <<'END'
<?php
namespace App;

use Symfony\Bundle\FrameworkBundle\Kernel\MicroKernelTrait;

final class Kernel extends \Symfony\Component\HttpKernel\Kernel
{
    use MicroKernelTrait;
}
END
cat >bin/console <<'END'
<?php
error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED); // this Symfony is older than PHP 8.2
require dirname(__DIR__) . '/vendor/autoload.php';
(new Symfony\Component\Dotenv\Dotenv())->usePutenv()->load(dirname(__DIR__) . '/.env');
$kernel = new App\Kernel('prod', false);
exit((new Symfony\Bundle\FrameworkBundle\Console\Application($kernel))->run());
END
{
    echo '<?php return [Symfony\Bundle\FrameworkBundle\FrameworkBundle::class => ["all" => true],'
    block php 1 "$guide"
    echo '];'
} >config/bundles.php
block yaml 2 "$guide" >config/packages/messenger.yaml
echo 'framework: { secret: of the test }' >config/packages/framework.yaml
cat >config/services.yaml <<'END'
services:
    _defaults: { autowire: true, autoconfigure: true }
    App\: { resource: '../src/', exclude: '../src/{Kernel.php,Message}' }
END
echo '{ }' >config/routes.yaml
block sh 2 "$guide" | sed "s|dueq://127.0.0.1:6379/0|dueq+$DUEQ_URL|" >.env
cat >src/Message/SendReceipt.php <<'END'
<?php
namespace App\Message;

final class SendReceipt
{
    public function __construct(public int $order)
    {
    }
}
END
cat >src/MessageHandler/SendReceiptHandler.php <<'END'
<?php
namespace App\MessageHandler;

use App\Message\SendReceipt;
use Symfony\Component\Messenger\Exception\UnrecoverableMessageHandlingException;
use Symfony\Component\Messenger\Handler\MessageHandlerInterface;

final class SendReceiptHandler implements MessageHandlerInterface
{
    public function __invoke(SendReceipt $message): void
    {
        if ($message->order === 13 && !file_exists('paper')) {
            throw new UnrecoverableMessageHandlingException('the printer is out of paper');
        }
        file_put_contents('sent', "receipt of order {$message->order}\n", FILE_APPEND);
    }
}
END
cat >src/PushCommand.php <<'END'
<?php
namespace App;

use App\Message\SendReceipt;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\{InputArgument, InputInterface};
use Symfony\Component\Console\Output\OutputInterface;
use Symfony\Component\Messenger\MessageBusInterface;
use Symfony\Component\Messenger\Stamp\DelayStamp;

/** push ORDER SECONDS: pushes as a web request does. */
final class PushCommand extends Command
{
    protected static $defaultName = 'push';

    public function __construct(private MessageBusInterface $bus)
    {
        parent::__construct();
    }

    protected function configure(): void
    {
        $this->addArgument('order', InputArgument::REQUIRED);
        $this->addArgument('seconds', InputArgument::REQUIRED);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $message = new SendReceipt((int) $input->getArgument('order'));
        $seconds = (int) $input->getArgument('seconds');
        $this->bus->dispatch($message, [new DelayStamp(1000 * $seconds)]);
        return 0;
    }
}
END
php bin/console push 1 0
php bin/console push 2 2
php bin/console push 13 0

php bin/console messenger:consume async >worker.log 2>&1 &
worker=$!
for order in 1 2; do
    await grep -q "receipt of order $order\$" sent
done
await sh -c 'php bin/console messenger:failed:show 2>&1 | grep -q SendReceipt'
php bin/console messenger:failed:show >out 2>&1
said out 'the printer is out of paper'
touch paper
php bin/console messenger:failed:retry --force >out 2>&1
await grep -q 'receipt of order 13$' sent
kill -TERM $worker
wait $worker

# The error says that a server cannot be reached.
refused 1 'CONNECT\|cannot be reached\|Connection refused' \
    env MESSENGER_TRANSPORT_DSN=dueq://127.0.0.1:1 php bin/console push 3 0
dueq queues >out
said out async
