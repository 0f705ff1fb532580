"""The targets that compare dueq with its peers, computed from the figures of one run."""

from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias

import equal
from report import Target

Row: TypeAlias = tuple[str, float, Literal["lower", "higher"], Callable[[dict[str, Any]], float]]
"""A target's name, limit, direction, and what finds its value."""

OURS = {"C": "dueq-c", "Python": "dueq-python", "PHP": "dueq-php"}


class Missing(Exception):
    """A figure that a target needs was not measured."""


def _peer(report: dict[str, Any], key: str) -> dict[str, Any]:
    peer = report["peers"].get(key)
    if peer is None or "absent" in peer:
        raise Missing(f"{key} is absent")
    found: dict[str, Any] = peer
    return found


def figure(report: dict[str, Any], key: str, *path: str) -> float:
    """A figure of a peer: figure(report, "rq", "throughput", "one", "summary", "work", "rate")."""
    found: Any = _peer(report, key)
    for name in path:
        if not isinstance(found, dict) or found.get(name) is None:
            raise Missing(f"{key} has no {' '.join(path)}")
        found = found[name]
    return float(found)


def consumed(report: dict[str, Any], key: str, setting: str) -> float:
    return figure(report, key, "throughput", setting, "summary", "work", "rate")


def best(report: dict[str, Any], key: str) -> float:
    """The jobs a second that one worker consumes at whichever setting is faster."""
    rates = []
    for setting in ("one", "best"):
        try:
            rates.append(consumed(report, key, setting))
        except Missing:
            continue
    if not rates:
        raise Missing(f"{key} did not consume")
    return max(rates)


def cheapest(report: dict[str, Any], *path: str) -> tuple[str, float]:
    """Of the other Redis peers that keep a job until it is acknowledged, the one with the least
    figure of that path; and the figure."""
    found = {}
    for key, peer in report["peers"].items():
        if key in OURS.values() or peer["server"] != "redis" or not peer["keeps_until_ack"]:
            continue
        try:
            found[key] = figure(report, key, *path)
        except Missing:
            continue
    if not found:
        raise Missing("no Redis peer that keeps a job until it is acknowledged")
    key = min(found, key=lambda name: found[name])
    return key, found[key]


def of_peers(report: dict[str, Any], whole: bool, delayed: bool = False) -> list[Target]:
    """All of them; where not everything was to be measured, or not everything of delayed jobs,
    those that could be."""
    targets = []
    for rows, wanted in ((_DELAYED, whole or delayed), (_OTHERS, whole)):
        for name, limit, better, value in rows:
            try:
                targets.append(Target(name, value(report), limit, better))
            except Missing as missing:
                if wanted:
                    targets.append(Target(name, None, limit, better, str(missing)))
    return targets


def _server_cost(key: str) -> Callable[[dict[str, Any]], float]:
    def value(report: dict[str, Any]) -> float:
        path = ("throughput", "one", "summary", "work", "server_us")
        return figure(report, key, *path) / cheapest(report, *path)[1]

    return value


def _fair(report: dict[str, Any]) -> dict[str, Any]:
    plans = _peer(report, OURS["Python"]).get("fairness", {}).get("groups")
    if not plans:
        raise Missing("the fairness was not measured")
    found: dict[str, Any] = plans
    return found


def _unfair(percentile: str) -> Callable[[dict[str, Any]], float]:
    """The light tenant's wait over the ideal one, where that is the most."""
    return lambda report: max(
        figures[percentile] / figures["ideal"][percentile] for figures in _fair(report).values()
    )


def _more_dispatches(report: dict[str, Any]) -> float:
    return float(sum(plan["dispatches"] - plan["messages"] for plan in _fair(report).values()))


def _over(
    ours: str, setting: str, other: str, other_setting: str
) -> Callable[[dict[str, Any]], float]:
    """How many times as many jobs a second our worker consumes."""

    def rate(report: dict[str, Any], key: str, which: str) -> float:
        return best(report, key) if which == "either" else consumed(report, key, which)

    return lambda report: rate(report, ours, setting) / rate(report, other, other_setting)


def _late(key: str, kind: str) -> Callable[[dict[str, Any]], float]:
    return lambda report: figure(report, key, "delays", kind, "summary", "p99_ms")


def _early(key: str) -> Callable[[dict[str, Any]], float]:
    def value(report: dict[str, Any]) -> float:
        kinds = [kind for kind in ("idle", "load") if kind in _peer(report, key).get("delays", {})]
        if not kinds:
            raise Missing(f"{key} has no delays")
        return sum(figure(report, key, "delays", kind, "summary", "early") for kind in kinds)

    return value


def _binding_us(key: str) -> Callable[[dict[str, Any]], float]:
    def value(report: dict[str, Any]) -> float:
        path = ("throughput", "best", "summary", "work", "client_us")
        return figure(report, key, *path) - figure(report, OURS["C"], *path)

    return value


def _waiting(key: str, name: str, kind: str = "sent") -> Callable[[dict[str, Any]], float]:
    return lambda report: figure(report, key, "waiting", name, kind)


def _recovered(key: str) -> Callable[[dict[str, Any]], float]:
    return lambda report: figure(report, key, "recovery", "seconds")


def _pipelined(report: dict[str, Any]) -> float:
    """Of 100,000 a second, or of 60 % of redis-benchmark's rate where that is less."""
    if "rpush" not in report:
        raise Missing("redis-benchmark was not run")
    goal = min(100_000.0, 0.6 * float(report["rpush"]["summary"]["rate"]))
    return figure(report, OURS["C"], "throughput", "best", "summary", "push", "rate") / goal


def _one_by_one(report: dict[str, Any]) -> float:
    """Of the rate at which the same client sends a push's bare commands, one round trip each."""
    for row in report.get("cost", {}).get("summary", []):
        if row["batch"] == 1:
            return float(row["push"]["bare_wall_us"] / row["push"]["scripts_wall_us"])
    raise Missing("the cost was not measured")


def _lived(key: str, setting: str) -> Callable[[dict[str, Any]], float]:
    """A delayed job's life at a setting, over that of the cheapest of the other Redis peers."""

    def value(report: dict[str, Any]) -> float:
        ours = figure(report, key, "delayed", setting, "summary", "life", "server_us")
        return ours / cheapest(report, "delayed", "best", "summary", "life", "server_us")[1]

    return value


def _delayed() -> Iterator[Row]:
    for language, key in OURS.items():
        yield (
            f"server CPU of a delayed job's life, {language} / best Redis peer",
            1,
            "lower",
            _lived(key, "best"),
        )
        yield (
            f"server CPU of a delayed job's life with slack, {language} / best Redis peer",
            1 / 3,
            "lower",
            _lived(key, "slack-50"),
        )
        yield (
            f"lateness under 2,000 due a second p99, ms, busy loops beside it, {language}",
            20,
            "lower",
            _late(key, "pressed"),
        )
        yield (
            f"commands sent for a delayed job, 20 waiting, {language}",
            7,
            "lower",
            _waiting(key, "delivered"),
        )
        yield (
            f"commands run for a delayed job, 20 waiting, {language}",
            20,
            "lower",
            _waiting(key, "delivered", "calls"),
        )
        yield (
            f"commands run for the push of a delayed job, 20 waiting, {language}",
            12,
            "lower",
            _waiting(key, "pushed", "calls"),
        )


def _table() -> Iterator[Row]:
    for language, key in OURS.items():
        yield (
            f"server CPU of a job consumed one at a time, {language} / best Redis peer",
            1 / 3,
            "lower",
            _server_cost(key),
        )
    python, php = OURS["Python"], OURS["PHP"]
    for percentile in ("p50", "p99"):
        yield (
            f"a light tenant's wait beside heavy ones {percentile}, groups / ideal virtual time",
            1.2,
            "lower",
            _unfair(percentile),
        )
    yield "messages that a worker gets twice, groups", 0, "lower", _more_dispatches
    yield (
        "one worker, Python / Celery's best",
        10,
        "higher",
        _over(python, "either", "celery", "either"),
    )
    yield (
        "one worker, Python / BullMQ's best",
        3,
        "higher",
        _over(python, "either", "bullmq", "either"),
    )
    yield "one worker, PHP / Laravel's best", 8, "higher", _over(php, "either", "laravel", "either")
    for language, key in OURS.items():
        yield (
            f"one at a time, {language} / beanstalkd",
            1,
            "higher",
            _over(key, "one", "beanstalkd", "one"),
        )
    for language, key in OURS.items():
        yield (
            f"prefetch 100, {language} / beanstalkd",
            3,
            "higher",
            _over(key, "best", "beanstalkd", "one"),
        )
    yield "enqueue pipelined, C / lesser of 100,000 and 60 % of RPUSH", 1, "higher", _pipelined
    yield "enqueue one at a time, C / bare round trip", 0.9, "higher", _one_by_one
    for language, key in OURS.items():
        yield f"lateness idle p99, ms, {language}", 2, "lower", _late(key, "idle")
        yield (
            f"lateness under 2,000 due a second p99, ms, {language}",
            20,
            "lower",
            _late(key, "load"),
        )
        yield f"delayed jobs that came early, {language}", 0, "lower", _early(key)
    for language, key in OURS.items():
        yield (
            f"commands sent a second by a waiting consumer, {language}",
            0.2,
            "lower",
            _waiting(key, "one"),
        )
        yield (
            f"seconds until a killed worker's job is handled, {language}",
            10,
            "lower",
            _recovered(key),
        )
    yield "client CPU, us a job over C's, at batch 100, Python", 3, "lower", _binding_us(python)
    yield "client CPU, us a job over C's, at batch 100, PHP", 2, "lower", _binding_us(php)


def _below(cost: str) -> Callable[[dict[str, Any]], float]:
    """How many points of other Redis peers are cheaper than dueq's curve, and no later."""

    def value(report: dict[str, Any]) -> float:
        peers = {key: peer for key, peer in report["peers"].items() if "absent" not in peer}
        figure(report, equal.OWN_CURVE, "equal", "best", cost)
        if not any(point.key not in OURS.values() for point in equal.points(peers, cost)):
            raise Missing("no other peer has a figure")
        return len(equal.below(peers, cost))

    return value


def _equal() -> Iterator[Row]:
    for cost, name in (("server_us", "server CPU"), ("instructions", "instructions")):
        yield (
            f"points of other Redis peers below dueq's curve, {name} against p99 lateness",
            0,
            "lower",
            _below(cost),
        )


_DELAYED, _OTHERS = [*_delayed(), *_equal()], list(_table())
