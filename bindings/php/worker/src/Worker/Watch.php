<?php

declare(strict_types=1);

namespace Dueq\Worker;

/**
 * Detects changes of code: in the files that this process has loaded, and in the folders with
 * tasks.
 *
 * @internal
 */
final class Watch
{
    /** Seconds between two looks. */
    private const PAUSE = 1.0;

    /** @var array<string, string> */
    private array $seen;

    private float $next = 0.0;

    /** @param list<string> $folders */
    public function __construct(private readonly array $folders)
    {
        $this->seen = $this->look();
    }

    /** The first file that was changed, added or removed since it was last seen; null: none. */
    public function changed(): ?string
    {
        if (hrtime(true) / 1e9 < $this->next) {
            return null;
        }
        $this->next = hrtime(true) / 1e9 + self::PAUSE;
        $now = $this->look();
        // A file outside of the folders that was loaded since the last look is new, but not
        // changed.
        $changed = array_diff_assoc(
            $this->seen,
            $now,
        ) + array_diff_key($this->found($now), $this->seen);
        $this->seen += $now;

        return array_key_first($changed);
    }

    /** @return array<string, string> the time of the last change and the size of each file */
    private function look(): array
    {
        clearstatcache();
        $files = get_included_files();
        foreach ($this->folders as $folder) {
            array_push($files, ...ClassFinder::files($folder));
        }
        $times = [];
        foreach (array_unique($files) as $file) {
            $times[$file] = @filemtime($file) . ' ' . @filesize($file);
        }

        return $times;
    }

    /**
     * @param array<string, string> $times
     * @return array<string, string> the files in the folders, which count also before they are
     *     loaded
     */
    private function found(array $times): array
    {
        $folders = array_map(fn (string $folder) => realpath($folder) . '/', $this->folders);

        return array_filter($times, function (string $file) use ($folders): bool {
            return array_filter(
                $folders,
                fn (string $folder) => str_starts_with($file, $folder),
            ) !== [];
        }, ARRAY_FILTER_USE_KEY);
    }
}
