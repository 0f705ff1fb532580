<?php

declare(strict_types=1);

namespace Dueq\Worker;

use Composer\Autoload\ClassLoader;
use FilesystemIterator;
use InvalidArgumentException;
use RecursiveDirectoryIterator;
use RecursiveIteratorIterator;

/**
 * Finds the classes in a folder by Composer's autoload.
 *
 * @internal
 */
final class ClassFinder
{
    /**
     * @return list<class-string> in the order of their files
     * @throws InvalidArgumentException
     */
    public static function in(string $folder): array
    {
        $names = self::mapped();
        $classes = [];
        foreach (self::files($folder) as $file) {
            $code = (string) file_get_contents($file);
            if (str_contains($code, 'Task')) {
                array_push(
                    $classes,
                    ...array_filter($names[$file] ?? self::named($file, $code), class_exists(...)),
                );
            }
        }

        return array_values(array_unique($classes));
    }

    /**
     * @return list<string> the PHP files of a folder, sorted
     * @throws InvalidArgumentException
     */
    public static function files(string $folder): array
    {
        $path = realpath($folder);
        if ($path === false || !is_dir($path)) {
            throw new InvalidArgumentException("there is no folder $folder");
        }
        $files = [];
        foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator(
            $path,
            FilesystemIterator::SKIP_DOTS,
        )) as $file) {
            if ($file->isFile() && $file->getExtension() === 'php') {
                $files[] = $file->getPathname();
            }
        }
        sort($files);

        return $files;
    }

    /** @return array<string, list<string>> class names by file, from Composer's class maps */
    private static function mapped(): array
    {
        $names = [];
        foreach (ClassLoader::getRegisteredLoaders() as $loader) {
            foreach ($loader->getClassMap() as $class => $file) {
                $names[(string) realpath($file)][] = $class;
            }
        }

        return $names;
    }

    /**
     * @return list<string> the names that psr-4 gives to the class in $file, whose text is $code
     */
    private static function named(string $file, string $code): array
    {
        // Loading a file runs it. So only a file that declares a class of the file's name is
        // loaded.
        if (!preg_match('/\bclass\s+' . preg_quote(basename($file, '.php'), '/') . '\b/', $code)) {
            return [];
        }
        $names = [];
        foreach (ClassLoader::getRegisteredLoaders() as $loader) {
            foreach ($loader->getPrefixesPsr4() as $prefix => $folders) {
                foreach ($folders as $folder) {
                    $root = realpath($folder) . '/';
                    if (str_starts_with($file, $root)) {
                        $names[] = $prefix . strtr(
                            substr($file, strlen($root), -strlen('.php')),
                            '/',
                            '\\',
                        );
                    }
                }
            }
        }

        return $names;
    }
}
