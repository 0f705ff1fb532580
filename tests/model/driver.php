<?php

/** Runs the verbs for the model by the PHP extension: a request is a line of JSON, and so is its answer. */

declare(strict_types=1);

use Dueq\Exception\LeaseLostException;
use Dueq\Message;
use Dueq\Queue;

[, $url, $name] = $argv;
$queue = new Queue($name, $url);
/** @var array<string, Message> $taken by ticket */
$taken = [];

function milliseconds(?float $seconds): int
{
    return (int) round(($seconds ?? 0) * 1000);
}

function shown(?Message $message): ?array
{
    if (!$message) {
        return null;
    }
    $headers = [];
    foreach ($message->headers as $header => $value) {
        $headers[] = [(string) $header, $value];
    }
    return [
        'id' => $message->id,
        'ticket' => $message->ticket,
        'body' => base64_encode($message->body),
        'headers' => $headers,
        'attempt' => $message->attempt,
        'max_attempts' => $message->maxAttempts ?? 0,
        'state' => $message->state,
        'time_ms' => milliseconds($message->time),
        'created_ms' => milliseconds($message->createdAt),
        'error' => $message->error,
    ];
}

function words(array $done, string $otherwise): array
{
    return ['statuses' => array_map(fn (bool $each) => $each ? 'OK' : $otherwise, $done)];
}

/** By a message that was reserved here, or is found as another's; else "FOREIGN". */
function settle(Queue $queue, array $taken, array $request, callable $verb): array
{
    $message = $taken[$request['ticket']] ?? $queue->find($request['id']);
    if ($message?->ticket !== $request['ticket']) {
        return ['statuses' => ['FOREIGN']];
    }
    try {
        return ['statuses' => [$verb($message) === false ? 'BURIED' : 'OK']];
    } catch (LeaseLostException) {
        return ['statuses' => ['LEASE_LOST']];
    }
}

function push(Queue $queue, array $rows): array
{
    $drafts = [];
    foreach ($rows as $row) {
        $draft = ['body' => base64_decode($row['body'], true), 'maxAttempts' => $row['max_attempts']];
        if ($row['id'] !== '') {
            $draft['id'] = $row['id'];
        }
        foreach (['delay' => 'delay_ms', 'at' => 'at_ms', 'lease' => 'lease_ms'] as $option => $key) {
            if ($row[$key]) {
                $draft[$option] = $row[$key] / 1000;
            }
        }
        $draft['headers'] = array_column($row['headers'], 1, 0);
        $drafts[] = $draft;
    }
    $ids = $queue->pushMany($drafts);
    return [
        'statuses' => array_map(fn (?string $id) => $id === null ? 'DUPLICATE' : 'OK', $ids),
        'ids' => array_map(fn (?string $id, array $row) => $id ?? $row['id'], $ids, $rows),
    ];
}

while (($line = fgets(STDIN)) !== false) {
    $request = json_decode($line, true, 64, JSON_THROW_ON_ERROR);
    try {
        switch ($request['do']) {
            case 'forget':
                $taken = [];
                $answer = (object) [];
                break;
            case 'push':
                $answer = push($queue, $request['drafts']);
                break;
            case 'reserve':
                $lease = $request['lease_ms'] ? $request['lease_ms'] / 1000 : null;
                $messages = $queue->reserveMany($request['count'], 0.0, $lease);
                foreach ($messages as $message) {
                    $taken[$message->ticket] = $message;
                }
                $answer = ['messages' => array_map(shown(...), $messages)];
                break;
            case 'ack':
                $answer = words($queue->ackMany($request['tickets']), 'LEASE_LOST');
                break;
            case 'cancel':
                $answer = words($queue->cancelMany($request['ids']), 'NOT_FOUND');
                break;
            case 'retry':
                $answer = settle($queue, $taken, $request, fn (Message $message) =>
                    $message->retry($request['delay_ms'] / 1000, $request['error']));
                break;
            case 'extend':
                $answer = settle($queue, $taken, $request, fn (Message $message) =>
                    $message->extend($request['lease_ms'] / 1000));
                break;
            case 'bury':
                $answer = settle($queue, $taken, $request, fn (Message $message) =>
                    $message->bury($request['error']));
                break;
            case 'look':
                $found = array_map(fn (string $id) => shown($queue->find($id)), $request['ids']);
                $stats = $queue->stats();
                $answer = ['found' => $found, 'counts' => [
                    $stats->ready, $stats->delayed, $stats->leased, $stats->dead,
                    $stats->acked, $stats->damaged, milliseconds($stats->next),
                ]];
                break;
            default:
                $answer = ['failure' => "there is no '{$request['do']}'"];
        }
    } catch (Throwable $failure) {
        $answer = ['failure' => $failure::class . ': ' . $failure->getMessage()];
    }
    echo json_encode($answer, JSON_THROW_ON_ERROR), "\n";
}
