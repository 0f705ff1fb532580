import logging
import re
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


def test_package_stub_names_what_the_module_has() -> None:
    stub = (resources.files("dueq") / "_core.pyi").read_text(encoding="utf-8")
    named = set(re.findall(r"^(?:def )?(\w+)(?:\(|: (?:int|str)$)", stub, re.M))
    real = {name for name in vars(_core) if not name.startswith(("_", "SWIG", "SwigPy"))}
    assert named == real


@pytest.mark.parametrize(
    "row",
    [
        (),
        ("body", "", 0, 0, 5, 0),
        ("body", "", 0, 0, 5, 0, [("a", "b")]),
        ("body", "", 0, 0, 5, 0, (("a", "b"), ("c",))),
        ("body", "", 0, 0, 5, 0, (("a", "b"), None)),
        ("body", None, 0, 0, 5, 0, ()),
        ("body", "", 2**63, 0, 5, 0, ()),
        (None, "", 0, 0, 5, 0, ()),
        (memoryview(b"abcd")[::2], "", 0, 0, 5, 0, (("a", "b"),)),
        "row",
    ],
    ids=repr,
)
def test_package_flat_module_refuses_other_shapes(server: Server, row: object) -> None:
    link = _core.link_open(server.url, "shapes")
    good = (bytearray(b"good"), "", 0, 0, 5, 0, (("name", "value"),))
    for rows in ((good, row), [good, row]):
        with pytest.raises((TypeError, OverflowError, BufferError, SystemError)):
            _core.push_submit(link, rows)  # type: ignore[arg-type]
    good[0].extend(b"not held")
    with pytest.raises(SystemError):
        _core.ack_submit(link, ["ticket"])  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _core.cancel_submit(link, ("id", 5))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="PyCapsule"):
        _core.wait(object(), 0)  # type: ignore[arg-type]


def test_package_logs_to_nobody_by_default() -> None:
    handlers = logging.getLogger("dueq").handlers
    assert any(isinstance(handler, logging.NullHandler) for handler in handlers)
