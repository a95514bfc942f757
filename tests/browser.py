"""A headless Chromium, spoken to over a pipe in the language of its developer tools."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 120.0
"""Seconds after which an answer is given up: machines may be busy."""


def program():
    """Return the path of a Chromium, or None."""
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


class Browser:
    """One page in one browser; what it says, asks for and complains about is kept."""

    def __init__(self, width=1280, height=900):
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        reading, self._out = os.pipe()
        self._in, writing = os.pipe()
        size = f"--window-size={width},{height}"
        # The browser reads from descriptor 3 and writes to 4.
        command = f'exec "$@" 3<&{reading} 4>&{writing}'
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
                 "--disable-background-networking", "--hide-scrollbars", "--remote-debugging-pipe", size,
                 f"--user-data-dir={self._folder.name}"]  # fmt: skip
        self._process = subprocess.Popen(
            ["bash", "-c", command, "bash", program(), *flags, "about:blank"],
            pass_fds=(reading, writing), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(reading)
        os.close(writing)
        self._number, self._rest, self._session = 0, b"", None
        self.complaints, self.requests = [], []
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(entry["targetId"] for entry in targets if entry["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        os.close(self._out)
        self._process.terminate()
        self._process.wait(30)
        os.close(self._in)
        self._folder.cleanup()

    def call(self, method, **parameters):
        """Return the answer to one command."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            self._note(answer)

    def open(self, path):
        """Load a file and wait until its script has run."""
        self.complaints, self.requests = [], []
        self.call("Page.navigate", url=path.as_uri())
        self.wait("document.documentElement?.dataset.ready === 'true'")

    def run(self, expression):
        """Return the value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, condition):
        """Wait until an expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.run(condition):
            assert time.monotonic() < end, f"never true: {condition}; {self.complaints}"
            time.sleep(0.02)

    def press(self, key, code=None):
        """Press and release one key."""
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        for kind in ("keyDown", "keyUp"):
            extra = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key,
                      windowsVirtualKeyCode={"Enter": 13, "Tab": 9, "Escape": 27}.get(key, 0), **extra)  # fmt: skip

    def picture(self, path):
        """Write what is seen to a PNG file."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def _next(self):
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            piece = os.read(self._in, 1 << 20)
            assert piece, "the browser has gone"
            self._rest += piece
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event):
        parameters = event.get("params", {})
        if event["method"] == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif event["method"] == "Runtime.exceptionThrown":
            self.complaints.append(parameters["exceptionDetails"])
        elif event["method"] == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(parameters["entry"]["text"])
        elif event["method"] == "Runtime.consoleAPICalled":
            self.complaints.append([entry.get("value") for entry in parameters["args"]])
        elif event["method"] == "Page.javascriptDialogOpening":
            self.complaints.append(f"dialog: {parameters['message']}")
            self.call("Page.handleJavaScriptDialog", accept=True)
