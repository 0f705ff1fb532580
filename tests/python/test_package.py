import logging
import re
import subprocess
import sys
import sysconfig
from importlib import metadata, resources
from pathlib import Path

import pytest

import dueq
from dueq import _core
from private_server import Server

ROOT = Path(__file__).parents[2]


def test_package_version_stands_in_the_header_alone() -> None:
    header = (ROOT / "core" / "dueq.h").read_text(encoding="utf-8")
    found = re.search(r'#define DUEQ_VERSION "(.+)"', header)
    assert found
    assert dueq.__version__ == _core.VERSION == found[1] == metadata.version("dueq")


def test_package_is_typed_and_for_the_stable_abi() -> None:
    files = resources.files("dueq")
    assert (files / "py.typed").is_file()
    assert (files / "_core.pyi").is_file()
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        assert str(_core.__file__).endswith(".abi3.so")


def test_package_has_the_command(server: Server) -> None:
    """Beside python, and of the same core: the one that setup.py has built."""
    command = Path(sysconfig.get_path("scripts"), "dueq")
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["dueq", dueq.__version__]
    words = [str(command), "--url", server.url, "push", "by the package", "x"]
    subprocess.run(words, capture_output=True, check=True)
    with dueq.Queue("by the package", server.url) as queue:
        message = queue.reserve()
        assert message
        assert message.body == b"x"


def test_package_without_its_headers_says_how_to_get_the_command() -> None:
    done = subprocess.run(
        [ROOT / "bindings/python/bin/dueq", "stats", "q"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (127, "")
    assert "libjson-c-dev libmicrohttpd-dev" in done.stderr


def test_package_stub_names_what_the_module_has() -> None:
    stub = (resources.files("dueq") / "_core.pyi").read_text(encoding="utf-8")
    named = set(re.findall(r"^(?:def )?(\w+)(?:\(|: (?:int|str)$)", stub, re.M))
    real = {name for name in vars(_core) if not name.startswith(("_", "SWIG", "SwigPy"))}
    assert named == real


GOOD: tuple[object, ...] = (
    *("body", "", 0, 0, 5, 0, (("a", "b"),)),
    *(0, 5, 0, (_core.BACKOFF_LIST, 0, 0, 0, (1, 2)), False, "", "", 0, 0),
)


def but(place: int, value: object) -> tuple[object, ...]:
    return (*GOOD[:place], value, *GOOD[place + 1 :])


@pytest.mark.parametrize(
    "row",
    [
        (),
        GOOD[:-1],
        but(0, None),
        but(0, memoryview(b"abcd")[::2]),
        but(1, None),
        but(2, 2**63),
        but(6, [("a", "b")]),
        but(6, (("a", "b"), ("c",))),
        but(6, (("a", "b"), None)),
        but(7, "high"),
        but(10, ()),
        but(10, None),
        but(10, (4, 0, 0, 0, [1])),
        but(10, (4, 0, 0, 0, (1, "2"))),
        but(10, (4, 0, 0, 0, (2**63,))),
        but(12, None),
        but(15, 2**40),
        "row",
    ],
)
def test_package_flat_module_refuses_other_shapes(server: Server, row: object) -> None:
    client = _core.client_open(server.url)
    queue = _core.queue_open(client, "shapes")
    body = bytearray(b"good")
    for rows in ((but(0, body), row), [but(0, body), row]):
        with pytest.raises((TypeError, OverflowError, BufferError, SystemError)):
            _core.push_submit(queue, rows)  # type: ignore[arg-type]
    body.extend(b"not held")


def test_package_flat_module_refuses_other_handles(server: Server) -> None:
    client = _core.client_open(server.url)
    queue = _core.queue_open(client, "handles")
    with pytest.raises(SystemError):
        _core.ack_submit(queue, ["ticket"])  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _core.cancel_submit(queue, ("id", 5))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="PyCapsule"):
        _core.wait(object(), 0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="PyCapsule"):
        _core.queue_open(object(), "handles")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a client stands"):
        _core.stats_submit(client)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a client stands"):
        _core.ack_push_submit(queue, "ticket", client, (GOOD,))  # type: ignore[arg-type]
    for handles in ((), (queue,) * 65, (queue, client), (queue, None), [queue]):
        with pytest.raises((ValueError, TypeError, SystemError)):
            _core.reserve_any_submit(handles, (1, 0, 0, 0))  # type: ignore[arg-type]
    error = bytearray(b"error")
    for wanted in ((error, 0), (error, 2**63, 0), (None, 0, 0), None):
        with pytest.raises((TypeError, OverflowError, SystemError)):
            _core.kick_all_submit(queue, wanted, b"", 1)  # type: ignore[arg-type]
    error.extend(b"not held")


VALUE = (_core.STRING, 0, 0.0, "text")
JOB = ("", "X", "", "", "", "", 0, 0, 0, 0, 0, "", 0, False)


@pytest.mark.parametrize(
    "offer",
    [
        (),
        (VALUE, 0),
        (VALUE, 0, "0"),
        (VALUE[:3], 0, 0),
        ((None, 0, 0.0, ""), 0, 0),
        ((1, 2**63, 0.0, ""), 0, 0),
        ((1, 0, "x", ""), 0, 0),
        ((1, 0, 0.0, None), 0, 0),
        ((1, 0, 0.0, bytearray(b"")), 0, 0),
        (list(VALUE), 0, 0),
        "offer",
    ],
    ids=repr,
)
def test_package_flat_module_refuses_other_offers(server: Server, offer: object) -> None:
    queue = _core.redisson_open(_core.client_open(server.url), "shapes", 0, 0)
    for offers in (((VALUE, 0, 0), offer), [offer]):
        with pytest.raises((TypeError, OverflowError, SystemError)):
            _core.redisson_offer_submit(queue, offers)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "job",
    [
        (),
        JOB[:-1],
        *[(*JOB[:place], None, *JOB[place + 1 :]) for place in range(13)],
        (*JOB[:6], 2**63, *JOB[7:]),
        list(JOB),
        "job",
    ],
    ids=repr,
)
def test_package_flat_module_refuses_other_jobs(server: Server, job: object) -> None:
    queue = _core.laravel_open(_core.client_open(server.url), "shapes", "")
    for jobs in ((JOB, job), [job]):
        with pytest.raises((TypeError, OverflowError, SystemError)):
            _core.laravel_push_submit(queue, jobs)  # type: ignore[arg-type]


def test_package_flat_module_tells_systems_apart(server: Server) -> None:
    client = _core.client_open(server.url)
    own = _core.queue_open(client, "own")
    delayed = _core.redisson_open(client, "delayed", 0, 0)
    jobs = _core.laravel_open(client, "jobs", "")
    for wrong in (delayed, jobs):
        with pytest.raises(TypeError, match="another's is wanted"):
            _core.stats_submit(wrong)
    for wrong in (own, jobs):
        with pytest.raises(TypeError, match="another's is wanted"):
            _core.redisson_size_submit(wrong)
    for wrong in (own, delayed):
        with pytest.raises(TypeError, match="another's is wanted"):
            _core.laravel_size_submit(wrong)
    for texts in (("text",), (b"x", None), [b"x"]):
        with pytest.raises((TypeError, SystemError)):
            _core.laravel_delete_submit(jobs, texts)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="PyCapsule"):
        _core.redisson_open(object(), "x", 0, 0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="PyCapsule"):
        _core.laravel_open(object(), "x", "")  # type: ignore[arg-type]


def test_package_handle_of_a_queue_keeps_its_client(server: Server) -> None:
    queue = _core.queue_open(_core.client_open(server.url), "alone")
    assert _core.stats_submit(queue) == _core.PENDING


def test_package_leaves_handlers_to_the_program() -> None:
    """So Python writes warnings to standard error where it sets none up."""
    assert logging.getLogger("dueq").handlers == []


def test_package_names_nothing_of_other_systems() -> None:
    """Whoever reads `dueq.` sees dueq; what is Redisson's and Laravel's is imported by its name."""
    others = ("redisson", "laravel", "interop")
    program = f"""
import sys, dueq, dueq.aio
for names in (sys.modules, *(vars(module) for module in (dueq, dueq.aio, dueq.draft, dueq.stats))):
    print(*(name for name in names if any(other in name.lower() for other in {others})))
print(*sorted({{"DelayedQueue", "JobDraft", "Long", "Moved", "Sizes"}} & vars(dueq).keys()))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.split() == []
