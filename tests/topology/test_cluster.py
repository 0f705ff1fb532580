"""dueq in a cluster: on several nodes, while slots move, and while nodes are down."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import Literal, TypeAlias

import pytest

import dueq
import dueq.aio
import dueq.laravel
import dueq.redisson
from cluster import Cluster
from node import HOST, Node, queue_slot, wait_until
from private_server import free_port
from proxy import Proxy

Order: TypeAlias = Literal["preference", "round robin"]


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor() as made:
        yield made


def names(cluster: Cluster) -> list[str]:
    """A queue on each node."""
    return [cluster.name_on(node) for node in cluster.nodes[:3]]


def bodies(messages: list[dueq.Message]) -> list[str]:
    return sorted(message.body.decode() for message in messages)


def waiting(node: Node) -> bool:
    return node.waiting() > 0


def await_waiter(node: Node) -> None:
    wait_until("nobody waits", lambda: waiting(node))


# ---- Several nodes ----


def test_queues_on_all_nodes(cluster: Cluster) -> None:
    on = names(cluster)
    for name in on:
        with dueq.Queue(name, cluster.url) as queue:
            queue.push("now")
            queue.push("later", delay=0.2)
            with queue.reserve(timeout=5) or pytest.fail("nothing") as message:
                assert message.body == b"now"
            with queue.reserve(timeout=5) or pytest.fail("nothing") as message:
                assert message.body == b"later"
            assert queue.stats().acked == 2
    assert sorted(dueq.queues(cluster.url)) == sorted(on)
    for node, name in zip(cluster.nodes, on, strict=True):
        assert node.command("EXISTS", f"dueq:{{{name}}}:meta") == 1


@pytest.mark.parametrize("order", ["preference", "round robin"])
def test_one_wait_on_several_nodes(
    cluster: Cluster, pool: ThreadPoolExecutor, order: Order
) -> None:
    on = names(cluster)
    with dueq.Queues(on, cluster.url, order) as queues:
        for name in on:
            waits = pool.submit(queues.reserve, 20)
            wait_until("nobody waits", lambda: all(map(waiting, cluster.nodes)))
            with dueq.Queue(name, cluster.url) as queue:
                queue.push(name)
            message = waits.result(10)
            assert message is not None
            assert message.queue == name
            message.ack()
        assert queues.reserve(0.05) is None


def test_consumer_of_several_nodes(cluster: Cluster) -> None:
    on = names(cluster)
    pushed = [f"{name} {number}" for name in on for number in range(20)]
    for name in on:
        with dueq.Queue(name, cluster.url) as queue, queue.pusher() as pusher:
            for number in range(20):
                pusher.push(f"{name} {number}", delay=number % 2 / 10)
    got = []
    with (
        dueq.Queues(on, cluster.url) as queues,
        queues.consume(5, lease=1, timeout=5) as consumer,
    ):
        for message in consumer:
            with message:
                got.append(message.body.decode())
            if len(got) == len(pushed):
                break
    assert sorted(got) == sorted(pushed)
    assert not consumer.lost


def test_asyncio(cluster: Cluster) -> None:
    on = names(cluster)

    async def main() -> None:
        async with dueq.aio.Queues(on, cluster.url) as queues:
            waits = asyncio.ensure_future(queues.reserve(20))
            async with dueq.aio.Queue(on[2], cluster.url) as queue:
                await asyncio.to_thread(
                    wait_until, "nobody waits", lambda: waiting(cluster.nodes[2])
                )
                await queue.push("x")
                message = await waits
                assert message is not None
                await message.ack()
                assert (await queue.stats()).acked == 1

    asyncio.run(main())


def test_successors_and_dead_letters_go_to_other_nodes(cluster: Cluster) -> None:
    one, two, three = names(cluster)
    with (
        dueq.Queue(one, cluster.url) as first,
        dueq.Queue(two, cluster.url) as second,
        dueq.Queue(three, cluster.url) as third,
    ):
        first.push("a", dead_letter=three, max_attempts=1)
        first.push("b")
        for message in first.reserve_many(2):
            if message.body == b"a":
                message.bury("no")
            else:
                message.ack(push=["c"], to=two)
        assert (second.reserve(5) or pytest.fail("nothing")).body == b"c"
        assert (third.reserve(5) or pytest.fail("nothing")).body == b"a"
        assert first.stats().outbox == 0


def test_partitions_on_all_nodes(cluster: Cluster, pool: ThreadPoolExecutor) -> None:
    name = names(cluster)[0]
    with (
        dueq.Queue(name, cluster.url, partitions=8) as queue,
        dueq.Queue(name, cluster.url, partitions=8) as other,
    ):
        on = {cluster.home(f"{name}#{n}") for n in range(8)}
        assert on == set(cluster.nodes[:3])
        waits = pool.submit(other.reserve, 20)
        wait_until("nobody waits", lambda: all(map(waiting, on)))
        queue.push("first", key="k")
        (waits.result(10) or pytest.fail("nothing")).ack()
        pushed = [(str(key), f"{key} {n}") for n in range(10) for key in range(20)]
        assert len(queue.push_many(dueq.Draft(body, key=key) for key, body in pushed)) == 200
        assert queue.stats().ready == 200
        got: list[str] = []

        def work(source: dueq.Queue) -> None:
            with source.consume(prefetch=5, timeout=3) as consumer:
                for message in consumer:
                    with message:
                        got.append(message.body.decode())

        list(pool.map(work, (queue, other)))
        assert queue.stats().acked == 201
        assert sorted(got) == sorted(body for _, body in pushed)
        for key in range(20):
            assert [body for body in got if body.split()[0] == str(key)] == [
                f"{key} {n}" for n in range(10)
            ]


def test_locks(cluster: Cluster, pool: ThreadPoolExecutor) -> None:
    for name in names(cluster):
        with dueq.Queue(name, cluster.url) as queue, dueq.Queue(name, cluster.url) as other:
            lock = queue.lock("l", 20)
            assert lock is not None
            waits = pool.submit(other.lock, "l", 20, 20)
            await_waiter(cluster.home(name))
            lock.release()
            assert waits.result(10) is not None


def test_shell(cluster: Cluster) -> None:
    def run(*words: str) -> str:
        done = subprocess.run(
            ["dueq", *words],
            env=os.environ | {"DUEQ_URL": cluster.url},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    on = names(cluster)
    for name in on:
        run("push", name, name)
    listed = [json.loads(line)["queue"] for line in run("queues", "--json").splitlines()]
    assert listed == sorted(on)
    for name in on:
        message = json.loads(run("reserve", name, "--json"))
        run("ack", name, message["ticket"])
        assert json.loads(run("stats", name, "--json"))["acked"] == 1


def test_php(cluster: Cluster) -> None:
    code = """
        [, $url, $names] = $argv;
        $left = 3;
        $names = explode(',', $names);
        foreach ($names as $name) {
            (new Dueq\\Queue($name, $url))->push($name, delay: 0.1);
        }
        $queues = new Dueq\\Queues($names, $url);
        while ($message = $queues->reserve(2)) {
            echo $message->body, "\\n";
            $message->ack();
            if (!--$left) { break; }
        }
    """
    done = subprocess.run(
        ["php", "-r", code, "--", cluster.url, ",".join(names(cluster))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert sorted(done.stdout.split()) == sorted(names(cluster))


# ---- Queues of other systems ----


def test_redisson(cluster: Cluster, pool: ThreadPoolExecutor) -> None:
    for name in names(cluster):
        with dueq.redisson.DelayedQueue(name, cluster.url) as queue:
            waits = pool.submit(queue.take, 20)
            await_waiter(cluster.home(name))
            queue.offer("x", delay=0.2)
            while not queue.transfer(5).moved:
                pass
            assert waits.result(10) == "x"


def test_laravel(cluster: Cluster, pool: ThreadPoolExecutor) -> None:
    """As Laravel itself it needs the hash tag in the name, and says so."""
    for node in cluster.nodes:
        name = f"{{{cluster.name_on(node, 'tag')}}}"
        with dueq.laravel.Queue(name, cluster.url) as queue:
            waits = pool.submit(queue.pop, 20)
            queue.push("App\\Jobs\\Mail", delay=1)
            job = waits.result(10)
            assert job is not None
            job.delete()
            assert queue.size().reserved == 0
    with pytest.raises(dueq.Error, match="hash tag"):
        dueq.laravel.Queue("default", cluster.url)


# ---- Slots that move ----

STAGES = ("before keys", "between keys", "after keys", "moved")


def verbs(queue: dueq.Queue) -> dict[str, Callable[[], object]]:
    """Calls that change a queue which holds messages 0 to 9 of these ids, 5 to 9 due in a while."""
    held = {message.id: message for message in queue.reserve_many(4, lease=60)}
    lock = queue.lock("l", 60)
    assert lock is not None
    return {
        "push": lambda: queue.push("x"),
        "push later": lambda: queue.push("x", delay=60),
        "ack": held["0"].ack,
        "retry": held["1"].retry,
        "extend": lambda: held["2"].extend(60),
        "bury": held["3"].bury,
        "reserve": lambda: (queue.reserve() or pytest.fail("nothing")).ack(),
        "cancel": lambda: queue.cancel("5"),
        "reschedule": lambda: queue.reschedule("6", delay=120),
        "find": lambda: queue.find("7"),
        "peek": lambda: list(queue.peek("delayed")),
        "stats": queue.stats,
        "rates": queue.rates,
        "failures": queue.failures,
        "check": queue.check,
        "pause": queue.pause,
        "relock": lambda: lock.extend(60),
        "unlock": lock.release,
    }


@pytest.mark.parametrize("stage", STAGES)
def test_verbs_while_a_slot_moves(cluster: Cluster, pool: ThreadPoolExecutor, stage: str) -> None:
    """A call that begins at this stage is done before long, once, and needs nobody's help."""
    source, target = cluster.nodes[:2]
    name = cluster.name_on(source)
    with dueq.Queue(name, cluster.url) as queue:
        queue.push_many(dueq.Draft("x", id=str(n), delay=60 if n > 4 else None) for n in range(10))
        calls = verbs(queue)
        for now in cluster.stages(queue_slot(name), target):
            if now == stage:
                # One client has one call at a time.
                done = pool.submit(lambda: [call() for call in calls.values()])
                with suppress(TimeoutError):
                    done.result(0.3)
        done.result(15)
        stats = queue.stats()
        assert (stats.pushed, stats.acked, stats.retried) == (12, 2, 1)
        assert (stats.dead, stats.cancelled, stats.paused) == (1, 1, True)
        assert stats.leased + stats.ready + stats.delayed == 8
        assert queue.check() == []
    assert cluster.owner(queue_slot(name)) is target


@pytest.mark.parametrize("stage", STAGES)
def test_wait_while_a_slot_moves(cluster: Cluster, pool: ThreadPoolExecutor, stage: str) -> None:
    """Who waits from this stage on gets what is pushed when the slot has moved."""
    source, target = cluster.nodes[:2]
    name, other = cluster.name_on(source), cluster.name_on(cluster.nodes[2])
    with dueq.Queues([name, other], cluster.url) as queues, dueq.Queue(name, cluster.url) as queue:
        queue.push("later", delay=60)
        waits: Future[dueq.Message | None] | None = None
        for now in cluster.stages(queue_slot(name), target):
            if now == stage:
                waits = pool.submit(queues.reserve, 30)
                with suppress(TimeoutError):
                    waits.result(0.3)
        assert waits
        queue.push("now")
        message = waits.result(15)
        assert message is not None
        assert message.body == b"now"


def test_slot_moves_to_and_fro_under_load(cluster: Cluster, pool: ThreadPoolExecutor) -> None:
    one, two = cluster.nodes[:2]
    name = cluster.name_on(one)
    over = threading.Event()

    def produce() -> list[str]:
        pushed: list[str] = []
        with dueq.Queue(name, cluster.url) as queue:
            while not over.is_set():
                pushed.append(f"{len(pushed)}")
                queue.push(pushed[-1], delay=0.1)
        return pushed

    def consume() -> list[str]:
        got = []
        # A push may wait for a slot that moves, for seconds: only a longer silence is the end.
        with (
            dueq.Queue(name, cluster.url) as queue,
            queue.consume(10, lease=2, timeout=12) as consumer,
        ):
            for message in consumer:
                with message:
                    got.append(message.body.decode())
        assert not consumer.lost
        return got

    pushed, got = pool.submit(produce), pool.submit(consume)
    at_once = cluster.can_move_at_once()
    for turn, target in enumerate((two, one) * 3):
        if at_once and turn % 3:
            cluster.move_at_once(queue_slot(name), target)
            continue
        for _ in cluster.stages(queue_slot(name), target):
            time.sleep(0.05)
    over.set()
    assert sorted(got.result(60)) == sorted(pushed.result(30))


def test_heartbeat_while_a_slot_moves(cluster: Cluster) -> None:
    source, target = cluster.nodes[:2]
    name = cluster.name_on(source)
    with dueq.Queue(name, cluster.url) as queue:
        queue.push("x")
        with queue.consume(1, lease=1, timeout=5) as consumer:
            with next(iter(consumer)) as message:
                for _ in cluster.stages(queue_slot(name), target):
                    time.sleep(0.15)
                time.sleep(1.2)
                assert message.body == b"x"
            assert not consumer.lost
        assert queue.stats().acked == 1


def test_moved_is_followed_without_many_questions(cluster: Cluster) -> None:
    """A client that meets a slot elsewhere asks for the map once at most."""
    source, target = cluster.nodes[:2]
    on = [name for name, _ in zip(cluster.names_on(source), range(20), strict=False)]
    with dueq.Queues(on, cluster.url) as queues:
        assert queues.reserve() is None
        for name in on:
            cluster.move(queue_slot(name), target)
        for node in cluster.nodes:
            node.command("CONFIG", "RESETSTAT")
        begin = time.monotonic()
        for name in on:
            with dueq.Queue(name, cluster.url) as queue:
                queue.push("x")
        opened = sum(node.calls("cluster|slots") for node in cluster.nodes)
        assert opened == len(on)  # a map for each client, which began with none
        assert len([queues.reserve() for _ in on]) == len(on)
        asked = sum(node.calls("cluster|slots") for node in cluster.nodes) - opened
        assert asked <= 1 + (time.monotonic() - begin)


# ---- Nodes that are down ----


def test_cluster_is_down_and_comes_back(cluster: Cluster) -> None:
    on = names(cluster)
    with dueq.Queue(on[1], f"{cluster.url}?timeout=500ms") as queue:
        queue.push("before")
        cluster.nodes[0].stop()
        cluster.await_down()
        for node in cluster.nodes[1:]:
            node.command("CONFIG", "RESETSTAT")
        begin = time.monotonic()
        for _ in range(4):
            with pytest.raises(dueq.Error, match="CLUSTERDOWN"):
                queue.push("not now")
        # It waits between its tries, and hardly asks where the slots are.
        asked = sum(node.calls("cluster|slots") for node in cluster.nodes[1:])
        assert asked <= 2 + (time.monotonic() - begin)
        assert sum(node.calls("evalsha") for node in cluster.nodes[1:]) < 100
    with dueq.Queue(on[1], f"{cluster.url}?timeout=30s") as queue:
        cluster.nodes[0].start()
        queue.push("after")
        assert bodies(queue.reserve_many(10)) == ["after", "before"]


@contextmanager
def replicated(proxied: bool = False) -> Iterator[Cluster]:
    with Cluster(3, 3, timeout_ms=1000, proxied=proxied) as made:
        yield made


def test_failover(pool: ThreadPoolExecutor) -> None:
    """Who pushes and who waits goes on when a primary is killed, by its replica."""
    with replicated() as cluster:
        primary = cluster.nodes[0]
        [replica] = cluster.replicas_of(primary)
        name, other = cluster.name_on(primary), cluster.name_on(cluster.nodes[1])
        url = f"{cluster.url}?timeout=30s"
        with dueq.Queues([name, other], url) as queues, dueq.Queue(name, url) as queue:
            queue.push("before")
            (queues.reserve() or pytest.fail("nothing")).ack()
            waits = pool.submit(queues.reserve, 60)
            await_waiter(primary)
            wait_until("no replication", lambda: primary.feeds(replica))
            primary.stop()
            queue.push("after")
            message = waits.result(30)
            assert message is not None
            assert message.body == b"after"
            message.ack()
            assert cluster.home(name) is replica
            # And back, while nobody is killed.
            primary.start()
            cluster.await_agreement()
            wait_until("it is fit", lambda: cluster.fit(primary))
            waits = pool.submit(queues.reserve, 60)
            await_waiter(replica)
            cluster.failover(replica)
            queue.push("again")
            assert (waits.result(30) or pytest.fail("nothing")).body == b"again"


def test_primary_that_hangs_is_left(pool: ThreadPoolExecutor) -> None:
    with replicated() as cluster:
        primary = cluster.nodes[0]
        [replica] = cluster.replicas_of(primary)
        name = cluster.name_on(primary)
        url = f"{cluster.url}?timeout=30s"
        with dueq.Queue(name, url) as queue, dueq.Queue(name, url) as waiter:
            waits = pool.submit(waiter.reserve, 60)
            await_waiter(primary)
            wait_until("no replication", lambda: primary.feeds(replica))
            primary.freeze()
            queue.push("x")
            assert (waits.result(40) or pytest.fail("nothing")).body == b"x"
            primary.thaw()


# ---- Nodes that are away, and not replaced ----


@pytest.fixture(scope="module")
def running_patient() -> Iterator[Cluster]:
    with Cluster(3, timeout_ms=60000, proxied=True) as made:
        yield made


@pytest.fixture
def patient(running_patient: Cluster) -> Cluster:
    """Its nodes take no other for failed as long as a test runs."""
    running_patient.clean()
    return running_patient


@contextmanager
def away(cluster: Cluster, how: str) -> Iterator[None]:
    node, proxy = cluster.nodes[0], cluster.proxy
    begin, end = {
        "hangs": (node.freeze, node.thaw),
        "refuses": (node.stop, node.start),
        "swallows": (lambda: proxy.hang(node.gate), lambda: proxy.open(node.gate)),
    }[how]
    begin()
    try:
        yield
    finally:
        end()


AWAY = pytest.mark.parametrize("how", ["hangs", "refuses", "swallows"])


@AWAY
def test_node_that_is_away_holds_up_no_other(patient: Cluster, how: str) -> None:
    """Who waits on several nodes gets in time what the others have, then what that one has."""
    on = names(patient)
    with (
        dueq.Queues(on, patient.url) as queues,
        dueq.Queue(on[0], patient.url) as first,
        dueq.Queue(on[1], patient.url) as second,
    ):
        assert queues.reserve() is None
        late = []
        if how != "refuses":
            first.push("kept", delay=0.2)
        with away(patient, how):
            for _ in range(5):
                second.push("x", delay=0.1)
                begin = time.monotonic()
                (queues.reserve(20) or pytest.fail("nothing")).ack()
                late.append(time.monotonic() - begin)
            assert queues.reserve() is None
        if how == "refuses":
            first.push("kept")
        begin = time.monotonic()
        message = queues.reserve(20) or pytest.fail("nothing")
        assert message.body == b"kept"
        assert time.monotonic() - begin < 5
        message.ack()
        assert queues.reserve() is None
        assert max(late[1:]) < 1, late


def test_asyncio_goes_on_without_a_node(patient: Cluster) -> None:
    on = names(patient)
    late: list[float] = []

    async def main() -> None:
        async with dueq.aio.Queues(on, patient.url) as queues:
            assert await queues.reserve() is None
            with away(patient, "hangs"):
                for _ in range(3):
                    second.push("x", delay=0.1)
                    begin = time.monotonic()
                    await (await queues.reserve(20) or pytest.fail("nothing")).ack()
                    late.append(time.monotonic() - begin)

    with dueq.Queue(on[1], patient.url) as second:
        asyncio.run(main())
    assert max(late[1:]) < 1, late


def test_php_goes_on_without_a_node(patient: Cluster) -> None:
    code = """
        [, $url, $names] = $argv;
        $queues = new Dueq\\Queues(explode(',', $names), $url);
        $queues->reserve();
        do {
            echo "ready\\n";
            $message = $queues->reserve(20);
            echo $message->body, "\\n";
            $message->ack();
        } while ($message->body !== 'last');
    """
    on = names(patient)
    late = []
    with (
        subprocess.Popen(
            ["php", "-r", code, "--", patient.url, ",".join(on)],
            stdout=subprocess.PIPE,
            text=True,
        ) as php,
        dueq.Queue(on[1], patient.url) as second,
    ):
        assert php.stdout
        assert php.stdout.readline() == "ready\n"
        await_waiter(patient.nodes[0])
        with away(patient, "hangs"):
            for body in ("0", "1", "2", "last"):
                second.push(body, delay=0.1)
                begin = time.monotonic()
                assert php.stdout.readline() == f"{body}\n"
                late.append(time.monotonic() - begin)
                php.stdout.readline()
    # The first ends a block there, which has no answer. The second connects to it, for a second.
    assert late[1] < 2, late
    assert max(late[2:]) < 1, late


def end(message: dueq.Message) -> None:
    with message:
        """The consumer's next request acknowledges it."""


# Messages of other nodes. A try of the node that is away for each would be hundreds a second.
MANY = 1000


@AWAY
def test_consumer_goes_on_without_a_node(
    patient: Cluster, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    """It leaves what it has to say to that node for later, and keeps the leases of the others."""
    on = names(patient)
    url = f"{patient.url}?timeout=3s"
    with (
        dueq.Queue(on[0], url) as first,
        dueq.Queue(on[1], url) as second,
        dueq.Queues(on, url) as queues,
        queues.consume(lease=3, timeout=20) as consumer,
    ):
        messages = iter(consumer)
        second.push("kept")
        kept = next(messages)
        first.push("held")
        next(messages)
        first.push("done")
        done = next(messages)
        late = []
        with away(patient, how):
            begin = time.monotonic()
            end(done)
            while time.monotonic() < begin + 5:
                second.push("x", delay=0.1)
                asked = time.monotonic()
                end(next(messages))
                late.append(time.monotonic() - asked)
            second.push_many(["x"] * MANY)
            for _ in range(MANY):
                end(next(messages))
        end(kept)
        wait_until("acks are lost", lambda: second.stats().acked == len(late) + MANY + 1)
        if how == "refuses":
            wait_until("it is not counted", lambda: consumer.lost == 1)
        else:
            # Their leases have ended meanwhile, and nobody else has taken them: the ack counts.
            wait_until("the late ack is lost", lambda: first.stats().acked == 1)
            assert first.stats().leased == 1
            assert consumer.lost == 0
        assert max(late[1:]) < 1, late
        first.push("again")
        end(next(messages))
    told = re.search(r"it answers again, after ([\d.]+) s and (\d+) tries", caplog.text)
    assert told
    assert int(told[2]) < 20 * float(told[1])


@AWAY
def test_relay_to_a_node_that_is_away_holds_up_nobody(patient: Cluster, how: str) -> None:
    """What goes there stays in the outbox; an ack that adds to it has its answer at once."""
    on = names(patient)
    with dueq.Queue(on[1], patient.url) as second, dueq.Queue(on[0], patient.url) as first:
        first.push("known", delay=60)
        late = []
        with away(patient, how):
            for number in range(5):
                second.push(str(number))
                message = second.reserve(20) or pytest.fail("nothing")
                begin = time.monotonic()
                message.ack(push=["next"], to=on[0])
                late.append(time.monotonic() - begin)
            assert second.stats().outbox == 5
        assert max(late[1:]) < 1, late


@AWAY
def test_partitions_go_on_without_the_node_of_their_name(patient: Cluster, how: str) -> None:
    """Who has them keeps them: nobody else can get them either, until that node is back."""
    away_node = patient.nodes[0]
    name = patient.name_on(away_node)
    parts = [f"{name}#{n}" for n in range(8)]
    with (
        dueq.Queue(name, patient.url, partitions=8) as orders,
        dueq.Queue(
            next(part for part in parts if patient.home(part) is not away_node), patient.url
        ) as part,
        orders.consume(timeout=20) as consumer,
    ):
        messages = iter(consumer)
        part.push("first")
        end(next(messages))
        late = []
        with away(patient, how):
            begin = time.monotonic()
            while time.monotonic() < begin + 6:
                part.push("x", delay=0.1)
                asked = time.monotonic()
                end(next(messages))
                late.append(time.monotonic() - asked)
        if how != "refuses":
            orders.push("last")
            end(next(messages))
        assert len([one for one in late if one > 1]) <= 1, late
        assert max(late) < 4, late


@AWAY
def test_verb_for_a_node_that_is_away_loses_no_lease(patient: Cluster, how: str) -> None:
    """It fails as a call without an answer, which may be made again."""
    with dueq.Queue(names(patient)[0], f"{patient.url}?timeout=1s") as queue:
        queue.push_many(list("abcd"))
        messages = queue.reserve_many(4, lease=60)
        verbs: tuple[Callable[[dueq.Message], object], ...] = (
            lambda message: message.ack(),
            lambda message: message.retry(),
            lambda message: message.release(),
            lambda message: message.extend(60),
        )
        with away(patient, how):
            for message, verb in zip(messages, verbs, strict=True):
                with pytest.raises((ConnectionError, TimeoutError)) as caught:
                    verb(message)
                assert isinstance(caught.value, dueq.Error)
                assert caught.value.retriable


@AWAY
def test_failure_that_cannot_be_told_is_no_lost_lease(
    patient: Cluster, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    on = names(patient)
    url = f"{patient.url}?timeout=2s"
    with (
        dueq.Queue(on[0], url) as first,
        dueq.Queue(on[1], url) as second,
        dueq.Queues(on, url) as queues,
        queues.consume(lease=4, timeout=20) as consumer,
    ):
        messages = iter(consumer)
        first.push("fails")
        failing = next(messages)
        with away(patient, how):
            second.push("x")
            with suppress(ZeroDivisionError), failing:
                1 / 0  # noqa: B018
            end(next(messages))
            wait_until("acks are lost", lambda: second.stats().acked == 1)
            assert consumer.lost == 0
        if how != "refuses":
            again = next(messages)
            assert (again.body, again.deliveries) == (b"fails", 2)
            end(again)
        assert consumer.lost == 0
    warning = f"{on[0]}: a message has failed, and its node, which is away, does not know"
    assert [text for text in caplog.messages if text.startswith(warning)]


def listed(queue: dueq.Queue) -> bool:
    return bool(queue.workers())


@AWAY
def test_consumer_registers_with_the_others_of_a_node_that_is_away(
    patient: Cluster, how: str
) -> None:
    on = names(patient)
    with away(patient, how), dueq.Queues(on, patient.url) as queues, ThreadPoolExecutor() as pool:
        consumer = queues.consume(timeout=60)
        waits = pool.submit(next, iter(consumer), None)
        for name in on[1:]:
            with dueq.Queue(name, patient.url) as queue:
                wait_until("nobody is listed", partial(listed, queue))
        consumer.stop()
        with dueq.Queue(on[1], patient.url) as queue:
            queue.push("x")
        waits.result(30)
        consumer.close()


# ---- Maps that are odd ----


def test_circular_moved(cluster: Cluster, pool: ThreadPoolExecutor) -> None:
    """Two nodes send to each other: the client does not spin, and goes on when they agree."""
    one, two = cluster.nodes[:2]
    name = cluster.name_on(one)
    slot = queue_slot(name)
    with dueq.Queue(name, f"{cluster.url}?timeout=20s") as queue:
        queue.push("x")
        for node, other in ((one, two), (two, one)):
            node.command("FLUSHALL")
            node.command("CLUSTER", "SETSLOT", slot, "NODE", other.id)
            node.command("CONFIG", "RESETSTAT")
        begin = time.monotonic()
        done = pool.submit(queue.push, "y")
        with pytest.raises(TimeoutError):
            done.result(2)
        asked = sum(node.calls("cluster|slots") for node in cluster.nodes)
        assert asked <= 2 + (time.monotonic() - begin)
        assert sum(node.calls("evalsha") for node in cluster.nodes) < 200
        for node in cluster.nodes:
            node.command("CLUSTER", "SETSLOT", slot, "NODE", one.id)
        done.result(20)
        assert (queue.reserve() or pytest.fail("nothing")).body == b"y"


@contextmanager
def announcing(cluster: Cluster, endpoint: str, hostname: str) -> Iterator[None]:
    for node in cluster.nodes:
        node.command("CONFIG", "SET", "cluster-preferred-endpoint-type", endpoint)
        node.command("CONFIG", "SET", "cluster-announce-hostname", hostname)
    wait_until(
        "nobody knows the names", lambda: all(node.knows_names(hostname) for node in cluster.nodes)
    )
    try:
        yield
    finally:
        for node in cluster.nodes:
            node.command("CONFIG", "SET", "cluster-preferred-endpoint-type", "ip")
            node.command("CONFIG", "SET", "cluster-announce-hostname", "")


@pytest.mark.parametrize(
    ("endpoint", "hostname"),
    [("unknown-endpoint", ""), ("hostname", "localhost")],
)
def test_endpoints(cluster: Cluster, endpoint: str, hostname: str) -> None:
    """A node without an endpoint is where the answer came from; one with a name has its address."""
    on = names(cluster)
    with announcing(cluster, endpoint, hostname):
        for name in on:
            with dueq.Queue(name, cluster.url) as queue:
                queue.push("x")
                assert (queue.reserve(5) or pytest.fail("nothing")).body == b"x"


def test_endpoint_that_nobody_knows(cluster: Cluster) -> None:
    """hostname, and none has one: `?`. Its slots are still found by who answers for them."""
    with announcing(cluster, "hostname", ""):
        url = f"{cluster.url}?timeout=2s"
        for name in names(cluster):
            with dueq.Queue(name, url) as queue:
                queue.push("x")
                assert (queue.reserve(5) or pytest.fail("nothing")).body == b"x"


def test_map(cluster: Cluster) -> None:
    """Nodes whose announced addresses cannot be reached: by those of the map."""
    gates = {free_port(): node.port for node in cluster.nodes}
    with Proxy(gates) as proxy:
        pairs = ",".join(f"{HOST}:{port}={HOST}:{gate}" for gate, port in gates.items())
        first = next(iter(gates))
        url = f"redis+cluster://{HOST}:{first}?map={pairs}&timeout=500ms"
        for name, gate in zip(names(cluster), gates, strict=True):
            with dueq.Queue(name, url) as queue:
                queue.push("x")
                proxy.cut(gate)
                with pytest.raises(dueq.Error):
                    queue.push("y")
                proxy.open(gate)
                assert bodies(queue.reserve_many(10, timeout=5)) == ["x"]
