"""Chromium without a screen, told what to do by its DevTools, through a pipe."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

FLAGS = [
    *["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
    *["--no-first-run", "--disable-extensions", "--disable-background-networking", "--mute-audio"],
    *["--hide-scrollbars", "--remote-debugging-pipe"],
]


class Browser:
    """One page of one browser. What it logs, and what throws in it, is in `said`."""

    def __init__(self, folder: Path) -> None:
        program = shutil.which("chromium")
        assert program, "there is no chromium: apt-get install chromium"
        theirs, tells = os.pipe()
        answers, said = os.pipe()
        # It hears from 3 and answers to 4: neither may be one of ours.
        hears, says = (fcntl.fcntl(file, fcntl.F_DUPFD, 10) for file in (theirs, said))
        os.close(theirs)
        os.close(said)
        command = f'exec "$@" 3<&{hears} 4>&{says}'
        self._process = subprocess.Popen(
            ["bash", "-c", command, "bash", program, *FLAGS, f"--user-data-dir={folder}"],
            pass_fds=[hears, says],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(hears)
        os.close(says)
        self._tells, self._answers = tells, answers
        self._rest, self._number, self._session = b"", 0, ""
        self._loaded = False
        self.said: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ["Page", "Runtime", "Log"]:
            self.call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._tells)
        os.close(self._answers)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            part = os.read(self._answers, 1 << 16)
            assert part, "the browser has ended"
            self._rest += part
        message, self._rest = self._rest.split(b"\0", 1)
        read: dict[str, Any] = json.loads(message)
        return read

    def _hear(self, message: dict[str, Any]) -> None:
        parameters = message.get("params", {})
        self._loaded = self._loaded or message.get("method") == "Page.loadEventFired"
        if message.get("method") == "Log.entryAdded":
            entry = parameters["entry"]
            # That something is not there (404) is an answer as others are.
            if entry["level"] in ("warning", "error") and entry["source"] != "network":
                self.said.append(f"{entry['text']} {entry.get('url', '')}")
        elif message.get("method") == "Runtime.exceptionThrown":
            self.said.append(json.dumps(parameters["exceptionDetails"]))
        elif message.get("method") == "Page.javascriptDialogOpening":
            self.said.append("dialog: " + parameters["message"])

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._tells, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self._hear(answer)
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def run(self, script: str) -> Any:
        """The value of an expression, which may be a promise."""
        answer = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def until(self, script: str, seconds: float = 30) -> Any:
        """Its value, as soon as it is one."""
        end = time.monotonic() + seconds
        while not (value := self.run(script)):
            assert time.monotonic() < end, f"{script}\n{self.text()}\n{self.said}"
            time.sleep(0.05)
        return value

    def open(self, url: str) -> None:
        """Returns when the page is loaded."""
        self._loaded = False
        if "loaderId" in self.call("Page.navigate", url=url):
            while not self._loaded:
                self._hear(self._next())

    def text(self) -> str:
        return str(self.run("document.body.innerText"))

    def sees(self, text: str) -> None:
        self.until(f"document.body.innerText.includes({json.dumps(text)})")

    def press(self, button: str, where: str = "dialog button, button, a") -> None:
        """Clicks the first button or link with this text that matches the selector `where`."""
        name = json.dumps(button)
        all_of_them = f"[...document.querySelectorAll('{where}')]"
        found = f"{all_of_them}.find(one => one.textContent.trim() === {name})"
        self.until(f"Boolean({found})")
        self.run(f"{found}.click()")

    def look(self, width: int, height: int, dark: bool = False, phone: bool = False) -> None:
        """What it shows the page on."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=phone,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def hurry(self) -> None:
        """The page's threads go before those of other programs, where this user may say so."""
        children: dict[int, list[int]] = {}
        for status in Path("/proc").glob("[0-9]*/status"):
            # A process that ended meanwhile has no file any more.
            with contextlib.suppress(OSError):
                (parent,) = re.findall(r"^PPid:\t(\d+)", status.read_text(), re.M)
                children.setdefault(int(parent), []).append(int(status.parts[2]))
        started = [self._process.pid]
        for process in started:
            started += children.get(process, [])
            with contextlib.suppress(OSError):
                for thread in Path(f"/proc/{process}/task").iterdir():
                    os.sched_setscheduler(int(thread.name), os.SCHED_RR, os.sched_param(1))

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
