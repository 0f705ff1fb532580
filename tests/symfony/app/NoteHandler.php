<?php

declare(strict_types=1);

namespace App;

use Dueq\Queue;
use RuntimeException;

/** Writes to the queue "journal" of $DUEQ_URL. */
final class NoteHandler
{
    public function __invoke(Note $note): void
    {
        $journal = new Queue('journal');
        $journal->push($note->text);
        if ($note->does === 'fail' && $journal->find('well') === null) {
            throw new RuntimeException("{$note->text} fails");
        }
        if ($note->does === 'exit') {
            exit(0);
        }
        if ($note->does === 'quiet') {
            usleep(300000);
        }
        if ($note->does === 'sleep') {
            // A signal ends a sleep.
            for ($end = microtime(true) + 3; microtime(true) < $end; usleep(100000)) {
                // The handler works on.
            }
            $journal->push("{$note->text}: awake");
        }
    }
}
