"""dueq's shell and PHP with the real peers: the plain course. Python has the other tests."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator

import pytest
from peers import Peer
from test_laravel_facts import QUEUE as JOBS
from test_laravel_facts import keyed, uncoded, work
from wire import Wire, until

QUEUE = {"queue": "orders", "codec": "kryo5"}
CHANNEL = "redisson_delay_queue_channel:{orders}"
HELLO = {"type": "string", "value": "hello"}
Run = Callable[..., str]


@pytest.fixture
def environment(wire: Wire) -> dict[str, str]:
    return {**os.environ, "DUEQ_URL": wire.url}


def output(environment: dict[str, str], *command: str) -> str:
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def shell(environment: dict[str, str]) -> Run:
    """Runs dueq with these words and gives what it prints."""
    return lambda *words: output(environment, "dueq", *words)


@pytest.fixture
def php(environment: dict[str, str]) -> Run:
    """Runs lines of PHP with dueq's extension and gives what they print."""
    return lambda code: output(environment, "php", "-r", code)


@pytest.fixture
def transfer(environment: dict[str, str], wire: Wire) -> Iterator[None]:
    """A `dueq redisson transfer` that runs."""
    process = subprocess.Popen(["dueq", "redisson", "transfer", "orders"], env=environment)
    wire.wait_for_subscribers(CHANNEL, 1)
    yield
    process.terminate()
    assert process.wait(20) == 0


def test_shell_offers_and_transfers_for_redisson(
    redisson: Peer, shell: Run, transfer: None, wire: Wire
) -> None:
    shell("redisson", "offer", "orders", "hello", "--delay", "300ms")
    assert redisson.ask("take", **QUEUE) == HELLO
    redisson.ask("offer", **QUEUE, value=HELLO, delay=300)
    assert shell("redisson", "take", "orders", "--wait", "20s") == "hello\n"
    assert wire.theirs() == set()


def test_php_offers_and_takes_from_redisson(
    redisson: Peer, php: Run, transfer: None, wire: Wire
) -> None:
    php("$queue = new Dueq\\Redisson\\DelayedQueue('orders'); $queue->offer('hello', delay: 0.3);")
    assert redisson.ask("take", **QUEUE) == HELLO
    redisson.ask("offer", **QUEUE, value={"type": "long", "value": 2**40}, delay=300)
    assert (
        php("var_dump((new Dueq\\Redisson\\DelayedQueue('orders'))->take(20.0));")
        == f"int({2**40})\n"
    )
    assert wire.theirs() == set()


def test_php_transfers(redisson: Peer, php: Run, wire: Wire) -> None:
    redisson.ask("offer", **QUEUE, value=HELLO, delay=3_600_000)
    php(
        "$queue = new Dueq\\Redisson\\DelayedQueue('orders');"
        "$queue->offer('soon', delay: 0.2);"
        "$queue->runTransfer(fn () => $queue->size()->ready > 0);"
    )
    assert redisson.ask("all", **QUEUE) == [{"type": "string", "value": "soon"}]


def test_shell_pushes_to_a_worker_and_pops(laravel: Peer, shell: Run, wire: Wire) -> None:
    laravel.ask("push", job="Handler", data={"from": "laravel"})
    [payload] = wire.items(JOBS)
    reserved = shell("laravel", "pop", "default", "--wait", "10s").rstrip("\n")
    assert json.loads(reserved) == {**json.loads(payload), "attempts": 1}
    shell("laravel", "delete", "default", reserved)
    assert wire.theirs() == set()
    shell("laravel", "push", "default", "Handler", "--data", '{"order":17}')
    assert keyed(work(laravel), "data") == [{"order": 17}]
    until(lambda: wire.theirs() == set(), "no key is left")


def test_php_pushes_to_a_worker_and_pops(laravel: Peer, php: Run, wire: Wire) -> None:
    laravel.ask("push", job="Handler", data={"from": "laravel"})
    said = php(
        "$queue = new Dueq\\Laravel\\Queue('default');"
        "$job = $queue->pop(10.0); echo json_encode([$job->name, $job->data, $job->attempts]);"
        "$job->release();"
    )
    assert json.loads(said) == ["Handler", {"from": "laravel"}, 1]
    again = laravel.ask("pop")
    assert json.loads(uncoded(again["payload"]))["attempts"] == 1
    laravel.ask("delete", handle=again["handle"])
    php("(new Dueq\\Laravel\\Queue('default'))->push('Handler', ['order' => 17]);")
    assert keyed(work(laravel), "data") == [{"order": 17}]
    until(lambda: wire.theirs() == set(), "no key is left")
