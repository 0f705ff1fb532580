"""A queue as a newer dueq would leave it, by the scripts of the contract."""

from pathlib import Path

from private_server import Reply, Server

FOLDER = Path(__file__).parents[1] / "contract"
REFUSAL = "a newer dueq wrote the queue '{}' (wire 2; this one knows 1): upgrade this client"


def _run(server: Server, script: str, queue: str) -> Reply:
    source = (FOLDER / f"{script}.lua").read_text(encoding="utf-8")
    return server.command("EVAL", source, 1, f"dueq:{{{queue}}}:", "2")


def upgrade(server: Server, queue: str) -> None:
    _run(server, "raise", queue)


def downgrade(server: Server, queue: str) -> Reply:
    """Makes it the queue that it was. Returns the keys that changed since."""
    return _run(server, "lower", queue)
