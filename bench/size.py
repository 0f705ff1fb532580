"""How much a run measures."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Size:
    rounds: int
    # Of the peers:
    seconds: float
    """How long each push and each work should take, about."""
    trial: int
    """Jobs of the first, uncounted round, which finds how many the others need."""
    most: int
    """Jobs of a push or work at most."""
    stored: int
    """Jobs whose bytes are counted, of a peer."""
    late: int
    """Delayed jobs of a round, on an idle queue."""
    load_seconds: float
    due_seconds: float
    """How long jobs fall due, 500 a second."""
    quiet_seconds: float
    waiting: int
    recovery_seconds: float
    """How long a killed worker's job is waited for; 0: not at all."""
    # Of the driver in C:
    cost_rounds: int
    cost: int
    """Messages whose CPU time is measured."""
    memory: int
    memories: tuple[int, ...]
    """Messages of further queues whose bytes are counted."""
    crowds: tuple[int, ...]
    """Waiting consumers, of whom one is woken."""
    idle_seconds: int
    rpush: int
    fair: int
    """Messages of a plan, beside those of the light tenant."""
    results: int
    """Tasks whose results are kept, or not."""
    many: int
    """Queues, or partitions, of one process."""
    bare: int
    """Connections."""
    requests: int
    """To php-fpm, of each way."""
    counted: int
    """Messages whose instructions are counted; a tenth of it where they fall due one by one."""


FULL = Size(
    rounds=3,
    seconds=1.2,
    trial=300,
    most=100_000,
    stored=10_000,
    late=167,
    load_seconds=3.0,
    due_seconds=1.0,
    quiet_seconds=20.0,
    waiting=20,
    recovery_seconds=120.0,
    cost_rounds=3,
    cost=100_000,
    memory=100_000,
    memories=(10_000, 1_000_000, 5_000_000),
    crowds=(20, 1000),
    idle_seconds=30,
    rpush=500_000,
    fair=1000,
    results=2000,
    many=1000,
    bare=10000,
    requests=2000,
    counted=2000,
)
QUICK = Size(
    rounds=1,
    seconds=0.6,
    trial=300,
    most=30_000,
    stored=2000,
    late=100,
    load_seconds=1.5,
    due_seconds=1.0,
    quiet_seconds=6.0,
    waiting=20,
    recovery_seconds=0.0,
    cost_rounds=3,
    cost=20_000,
    memory=20_000,
    memories=(10_000,),
    crowds=(20, 300),
    idle_seconds=10,
    rpush=100_000,
    fair=500,
    results=500,
    many=300,
    bare=2000,
    requests=500,
    counted=2000,
)
TINY = Size(
    rounds=1,
    seconds=0.05,
    trial=20,
    most=300,
    stored=200,
    late=10,
    load_seconds=0.05,
    due_seconds=0.05,
    quiet_seconds=1.0,
    waiting=2,
    recovery_seconds=0.0,
    cost_rounds=1,
    cost=200,
    memory=200,
    memories=(100, 300),
    crowds=(5,),
    idle_seconds=1,
    rpush=1000,
    fair=60,
    results=20,
    many=20,
    bare=100,
    requests=50,
    counted=50,
)
