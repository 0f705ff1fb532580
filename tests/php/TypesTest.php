<?php

declare(strict_types=1);

namespace Dueq\Tests;

use PhpParser\Node;
use PhpParser\NodeFinder;
use PhpParser\ParserFactory;
use PhpParser\PrettyPrinter\Standard;
use PHPUnit\Framework\TestCase;

/**
 * The documentation says what native types leave open: what an array, an iterable or a generator
 * holds, and what a callable takes and returns. This is true for the stub and the packages.
 * tests/test_php_types.py tests what an analyser makes of the types.
 */
final class TypesTest extends TestCase
{
    private const BINDINGS = __DIR__ . '/../../bindings/php';

    /** Native types that leave something open. */
    private const OPEN = '/\b(array|iterable|callable|Closure|Pending'
        . '|Traversable|Iterator|IteratorAggregate|Generator)\b/';

    /** The same types in the documentation, without a more precise type behind them. */
    private const BARE = '/\b(array|iterable|list)\b(?![<{])|\b(callable|Closure)\b(?!\()'
        . '|\b(Pending|Traversable|Iterator|IteratorAggregate|Generator)\b(?!<)/';

    /** Handlers of tasks get the arguments of the task, so that any callable will do. */
    private const ANY = [
        'Worker::on() $handler',
        'Worker::add() $handler',
    ];

    /** @return iterable<string, array{string}> */
    public static function files(): iterable
    {
        yield 'stub' => [self::BINDINGS . '/dueq.stub.php'];
        foreach (['worker', 'laravel', 'symfony'] as $package) {
            $sources = self::BINDINGS . "/$package/src";
            $folder = new \RecursiveDirectoryIterator($sources, \FilesystemIterator::SKIP_DOTS);
            foreach (new \RecursiveIteratorIterator($folder) as $file) {
                yield substr((string) $file, strlen(self::BINDINGS) + 1) => [(string) $file];
            }
        }
    }

    /** @dataProvider files */
    #[\PHPUnit\Framework\Attributes\DataProvider('files')]
    public function test_arrays_iterables_and_callables_have_precise_types(string $file): void
    {
        $open = [];
        $code = $this->parse((string) file_get_contents($file));
        foreach ((new NodeFinder())->findInstanceOf($code, Node\Stmt\ClassLike::class) as $class) {
            foreach ($class->getMethods() as $method) {
                $open += $this->ofMethod("{$class->name}::{$method->name}()", $method);
            }
            foreach ($class->getProperties() as $property) {
                $said = $this->said((string) $property->getDocComment(), 'var');
                $place = "{$class->name}::\${$property->props[0]->name}";
                $open[$place] = $this->isOpen($property->type, $said);
            }
            foreach ($this->rows((string) $class->getDocComment()) as $row) {
                $isOpen = str_starts_with($row, '@property') && preg_match(self::BARE, $row) === 1;
                $open["{$class->name}: $row"] = $isOpen;
            }
        }
        $this->assertSame([], array_values(array_diff(array_keys(array_filter($open)), self::ANY)));
    }

    /** The test above relies on isOpen(). */
    public function test_open_types_are_seen(): void
    {
        $parsed = fn (string $text) => $this->parse("<?php function f($text \$x) {}")[0];
        $type = fn (string $text) => $parsed($text)->params[0]->type;
        $natives = [
            'array', '?array', 'array|string', 'callable', '?callable',
            'iterable', '\Closure', '\Generator', 'Pending',
        ];
        foreach ($natives as $native) {
            $this->assertTrue($this->isOpen($type($native), null), $native);
            $this->assertTrue($this->isOpen($type($native), "$native|null"), $native);
        }
        $vague = [
            'list', 'array|list<int>', 'callable|null', 'list<array>', 'array<string, callable>',
        ];
        foreach ($vague as $said) {
            $this->assertTrue($this->isOpen($type('array'), $said), $said);
        }
        $precise = [
            'list<int>', 'string[]', 'array{0: int}|null',
            '(callable(int): array<int>)|null', 'Pending<list<int>>', 'T',
        ];
        foreach ($precise as $said) {
            $this->assertFalse($this->isOpen($type('array'), $said), $said);
        }
        $this->assertFalse($this->isOpen($type('string|int'), null));
    }

    public function test_types_are_read_from_the_documentation(): void
    {
        $doc = <<<'END'
            /**
             * Text.
             *
             * @param (callable(
             *     int
             * ): mixed)|null $one more
             * @param list<string> ...$two
             * @return callable(int): array<string, int> the list of text
             */
            END;
        $this->assertSame('(callable( int ): mixed)|null', $this->said($doc, 'param', '$one'));
        $this->assertSame('list<string>', $this->said($doc, 'param', '$two'));
        $this->assertNull($this->said($doc, 'param', '$three'));
        $this->assertSame('callable(int): array<string, int>', $this->said($doc, 'return'));
    }

    /** @return array<string, bool> whether each of its types is open */
    private function ofMethod(string $place, Node\Stmt\ClassMethod $method): array
    {
        $doc = (string) $method->getDocComment();
        $open = [];
        foreach ($method->params as $param) {
            $name = '$' . $param->var->name;
            $said = $this->said($doc, 'param', $name)
                ?? $this->said((string) $param->getDocComment(), 'var');
            $open["$place $name"] = $this->isOpen($param->type, $said);
        }

        return $open + [$place => $this->isOpen($method->returnType, $this->said($doc, 'return'))];
    }

    /** @param string|null $said what the documentation says of the type */
    private function isOpen(?Node $native, ?string $said): bool
    {
        $native = $native === null ? '' : (new Standard())->prettyPrint([$native]);

        return preg_match(self::OPEN, $native) === 1
            && ($said === null || preg_match(self::BARE, $said) === 1);
    }

    /** The type that $doc has for the parameter $name, or for a property or a result. */
    private function said(string $doc, string $tag, ?string $name = null): ?string
    {
        foreach ($this->rows($doc) as $row) {
            $end = $name === null ? '$' : ' (?:\.\.\.)?' . preg_quote($name, '/') . '\b';
            if (preg_match("/^@$tag (.*?)$end/", $row, $found) === 1) {
                return $name === null ? $this->type($found[1]) : $found[1];
            }
        }

        return null;
    }

    /** The type at the beginning of the text. */
    private function type(string $text): string
    {
        $depth = 0;
        for ($at = 0; $at < strlen($text) && ($depth > 0 || $text[$at] !== ' '); $at++) {
            $depth += (int) str_contains('<{(', $text[$at]) - (int) str_contains('>})', $text[$at]);
            // What a callable returns is a part of its type.
            $at += $depth === 0 && substr($text, $at, 3) === '): ' ? 2 : 0;
        }

        return substr($text, 0, $at);
    }

    /** @return list<string> the tags of a documentation, each in one line */
    private function rows(string $doc): array
    {
        $lines = array_map(fn (string $line) => trim($line, "/* \t"), explode("\n", $doc));
        $parts = preg_split('/(?=(?:^| )@[a-z])/', implode(' ', $lines));

        return array_map(trim(...), array_slice($parts, 1));
    }

    /** @return array<Node> */
    private function parse(string $code): array
    {
        $factory = new ParserFactory();
        // Version 5 of the parser has the one, version 4 the other.
        $parser = method_exists($factory, 'createForHostVersion')
            ? $factory->createForHostVersion()
            : $factory->create(ParserFactory::ONLY_PHP7);

        return $parser->parse($code);
    }
}
