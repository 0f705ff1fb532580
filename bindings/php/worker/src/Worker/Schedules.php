<?php

declare(strict_types=1);

namespace Dueq\Worker;

use Dueq\Exception\DueqException;
use Dueq\Message;
use Dueq\Queue;
use Dueq\Task;
use Dueq\Tasks;
use InvalidArgumentException;
use Psr\Log\LoggerInterface;

/**
 * The schedules of a worker's tasks, and their declaration.
 *
 * @internal
 */
final class Schedules
{
    /** A release that was replaced declares nothing for this long: the deploy is over by then. */
    private const DEPLOY_MS = 3_600_000;

    /** The most releases that a schedule's message names. */
    private const MOST = 8;

    /**
     * @param string|null $name of the app; null: no task has a schedule
     * @param string|null $release null: $DUEQ_RELEASE, else a digest of all schedules
     * @param list<Task> $scheduled the tasks that have a schedule
     */
    public function __construct(
        private readonly Tasks $tasks,
        private readonly ?string $name,
        private readonly ?string $release,
        private readonly array $scheduled,
    ) {
    }

    /**
     * Declares the schedules. Several releases of an app run during a deploy, and their workers
     * start in any order. So a release that another one replaced declares nothing for an hour.
     *
     * @throws DueqException
     * @throws InvalidArgumentException for a $DUEQ_RELEASE that is no label
     */
    public function declare(LoggerInterface $logger): void
    {
        if ($this->scheduled === []) {
            return;
        }
        $label = $this->label();
        $nowMs = (int) round(
            1000 * $this->queue($this->scheduled[0])->stats()->now,
        );
        $found = array_map(
            fn (Task $task) => $this->queue($task)->find("schedule:{$task->name}"),
            $this->scheduled,
        );
        foreach ($found as $message) {
            $newer = ($message?->headers['app'] ?? null) === $this->name && $message !== null
                ? self::replacedBy($message->headers['release'] ?? '', $label, $nowMs)
                : null;
            if ($newer !== null) {
                $logger->warning(
                    "the schedules of {$this->name} stay those of its release $newer, which "
                        . "replaced $label less than an hour ago; to go back on purpose, start the "
                        . "workers with another DUEQ_RELEASE, as DUEQ_RELEASE=$label-again",
                );

                return;
            }
        }
        foreach ($this->scheduled as $place => $task) {
            $this->declareOne($task, $found[$place], $label, $nowMs, $logger);
        }
    }

    /**
     * @throws InvalidArgumentException for what is no label
     */
    public static function checkLabel(string $what, string $label): string
    {
        if (!preg_match('/^[^\s@]{1,64}$/Du', $label)) {
            throw new InvalidArgumentException(
                "$what: " . json_encode($label) . ' is not 1 to 64 characters without blanks and @',
            );
        }

        return $label;
    }

    /**
     * @param string $text the releases that a schedule's message names, the latest first
     * @return string|null the release that holds instead of $label, which another one replaced in
     *     the last hour; null: $label may declare its schedules
     */
    public static function replacedBy(string $text, string $label, int $nowMs): ?string
    {
        $found = self::releases($text);
        foreach ($found as $place => $release) {
            if ($release['label'] === $label) {
                return $place > 0 && $nowMs - $found[$place - 1]['since'] < self::DEPLOY_MS
                    ? $found[0]['label']
                    : null;
            }
        }

        return null;
    }

    /** The releases after $label has declared the schedule. */
    public static function renewed(string $text, string $label, int $count, int $nowMs): string
    {
        $found = self::releases($text);
        $since = ($found[0]['label'] ?? null) === $label ? $found[0]['since'] : $nowMs;
        $others = array_filter($found, fn (array $release) => $release['label'] !== $label);

        return implode(' ', [
            "$label@$since/$count",
            ...array_column(array_slice($others, 0, self::MOST - 1), 'text'),
        ]);
    }

    /** @return list<array{label: string, since: int, text: string}> */
    private static function releases(string $text): array
    {
        preg_match_all('/(?<= |^)([^\s@]+)@(\d+)\/\d+(?= |$)/u', $text, $words, PREG_SET_ORDER);

        return array_map(
            fn (array $word) => [
                'label' => $word[1],
                'since' => (int) $word[2],
                'text' => $word[0],
            ],
            $words,
        );
    }

    /** @throws DueqException */
    private function declareOne(
        Task $task,
        ?Message $message,
        string $label,
        int $nowMs,
        LoggerInterface $logger,
    ): void {
        $owner = $message->headers['app'] ?? $this->name;
        $queue = $this->tasks->queueOf($task->name);
        if ($owner !== $this->name) {
            $logger->error(
                "the schedule {$task->name} of the queue $queue is that of the app $owner, "
                    . 'and stays so: give the task another name, or remove the schedule',
            );

            return;
        }
        $stored = $this->queue($task)->schedule(
            $task->name,
            (string) $task->expression,
            $this->job($task),
            $task->tz,
            $task->catchup,
            (string) $this->name,
            self::renewed(
                $message->headers['release'] ?? '',
                $label,
                count($this->scheduled),
                $nowMs,
            ),
        );
        if ($stored) {
            $logger->info(
                "declared the schedule {$task->name} of the queue $queue: "
                    . $task->expression,
            );
        }
    }

    private function queue(Task $task): Queue
    {
        return $this->tasks->queue($this->tasks->queueOf($task->name));
    }

    /** @return array{body: string, ...} */
    private function job(Task $task): array
    {
        return array_diff_key($this->tasks->draft($task->name), ['id' => null]);
    }

    private function label(): string
    {
        $given = $this->release ?? (getenv('DUEQ_RELEASE') ?: null);
        if ($given !== null) {
            return self::checkLabel('release', $given);
        }
        $rows = array_map(
            fn (Task $task) => serialize([
                $this->tasks->queueOf($task->name),
                $task->name,
                $task->expression,
                $task->tz,
                $task->catchup,
                $this->job($task),
            ]),
            $this->scheduled,
        );
        sort($rows);

        return substr(hash('sha256', serialize($rows)), 0, 12);
    }
}
