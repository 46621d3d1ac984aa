"""Open a report in headless Chromium, use it, and fail on any console error.

    python scripts/check_report.py results/paper/report.html --screenshots shots/

Speaks the DevTools protocol over a pipe: needs Debian's ``chromium`` and nothing from Python's package index.
"""

import argparse
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe", "--hide-scrollbars",
)  # fmt: skip
WIDTHS = {1400: 900, 390: 844}
PATIENCE = 60.0  # seconds for the page to draw its charts


class Browser:
    """A Chromium that is told what to do over a pipe."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, read
        self._buffer, self._number = b"", 0
        self.session: str | None = None
        self.complaints: list[str] = []

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command and its answer; console messages that arrive meanwhile are noted."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return dict(answer["result"])
            self._note(answer)

    def evaluate(self, script: str) -> Any:
        """The value of a JavaScript expression in the page."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails']['text']}")
        return result["result"].get("value")

    def wait(self, script: str) -> None:
        """Wait until a JavaScript expression is true."""
        deadline = time.monotonic() + PATIENCE
        while not self.evaluate(script):
            if time.monotonic() > deadline:
                raise RuntimeError(f"waited {PATIENCE:.0f} s in vain for {script}; console: {self.complaints}")
            time.sleep(0.1)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not (chunk := os.read(self._read, 1 << 20)):
                raise RuntimeError("Chromium ended")
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(line))

    def _note(self, event: dict[str, Any]) -> None:
        method, about = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = about["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and about["type"] in ("error", "assert"):
            self.complaints.append(" ".join(str(each.get("value")) for each in about["args"]))
        elif method == "Log.entryAdded" and about["entry"]["level"] == "error":
            self.complaints.append(about["entry"]["text"])
        elif method == "Network.requestWillBeSent" and not about["request"]["url"].startswith(
            ("file:", "data:", "blob:")
        ):
            self.complaints.append(f"asked for {about['request']['url']}")


@contextmanager
def chromium() -> Iterator[Browser]:
    """A Chromium with a profile of its own, ended afterwards."""
    program = shutil.which("chromium")
    if program is None:
        sys.exit("error: no chromium; on Debian: apt-get install chromium")
    to_read, write = os.pipe()
    read, to_write = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # Chromium reads commands from descriptor 3 and answers on 4.
        shell = f'exec "$0" "$@" 3<&{to_read} 4>&{to_write}'
        process = subprocess.Popen(
            ["bash", "-c", shell, program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(to_read, to_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        try:
            yield Browser(write, read)
        finally:
            process.terminate()
            process.wait(timeout=30)


def open_page(browser: Browser, report: Path) -> None:
    """Open the report in a tab whose console is listened to, and wait until every chart is drawn."""
    target = browser.call("Target.createTarget", url="about:blank")["targetId"]
    browser.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log", "Network"):
        browser.call(f"{domain}.enable")
    width, height = next(iter(WIDTHS.items()))
    resize(browser, width, height)
    browser.call("Page.navigate", url=report.resolve().as_uri())
    browser.wait("document.readyState === 'complete'")
    browser.wait("[...document.querySelectorAll('.chart')].every(c => c.querySelector('.main-svg'))")


def resize(browser: Browser, width: int, height: int) -> None:
    """Give the page another screen."""
    browser.call(
        "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 700
    )


def click(browser: Browser, selector: str) -> None:
    """Click in the middle of an element, as a hand with a mouse would."""
    script = f"document.querySelector({json.dumps(selector)})"
    browser.evaluate(f"{script}.scrollIntoView({{block: 'center'}})")
    x, y = browser.evaluate(
        f"(r => [r.x + r.width / 2, r.y + r.height / 2])({script}.getBoundingClientRect())",
    )
    for kind in ("mousePressed", "mouseReleased"):
        browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


def use_page(browser: Browser) -> None:
    """Hide an agent by its legend, and switch a chart to a logarithmic axis."""
    chart = browser.evaluate("document.querySelector('.buttons button').dataset.chart")
    visible = f"document.getElementById('{chart}').data.filter(t => t.visible === 'legendonly').length"
    click(browser, f"#{chart} .legendtoggle")
    browser.wait(f"{visible} > 0")
    click(browser, f"button[data-chart='{chart}'][data-scale='log']")
    browser.wait(f"document.getElementById('{chart}').layout.yaxis.type === 'log'")


def screenshot(browser: Browser, path: Path) -> None:
    """The whole page as a PNG file."""
    height = int(browser.evaluate("document.documentElement.scrollHeight"))
    width = int(browser.evaluate("window.innerWidth"))
    area = {"x": 0, "y": 0, "width": width, "height": min(height, 16_000), "scale": 1}
    shot = browser.call("Page.captureScreenshot", captureBeyondViewport=True, clip=area)
    path.write_bytes(base64.b64decode(shot["data"]))


def look_at_widths(browser: Browser, folder: Path | None) -> None:
    """Show the page on a wide screen and on a phone; nothing may stick out sideways."""
    for width, height in WIDTHS.items():
        resize(browser, width, height)
        browser.call("Page.reload")
        time.sleep(0.5)
        browser.wait("document.readyState === 'complete'")
        browser.wait("[...document.querySelectorAll('.chart')].every(c => c.querySelector('.main-svg'))")
        time.sleep(0.5)
        overflow = browser.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if overflow > 0:
            browser.complaints.append(f"the page sticks out by {overflow} pixels at a width of {width}")
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            screenshot(browser, folder / f"report-{width}.png")


def main() -> int:
    """Check one report; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path)
    parser.add_argument("--screenshots", type=Path, help="a folder for pictures of the page at 1400 and 390 pixels")
    given = parser.parse_args()
    if not given.report.is_file():
        sys.exit(f"error: no report at {str(given.report)!r}")
    with chromium() as browser:
        open_page(browser, given.report)
        use_page(browser)
        look_at_widths(browser, given.screenshots)
    for complaint in browser.complaints:
        print(f"console: {complaint}", file=sys.stderr)
    charts = "clicked the legend, switched to a log axis, no console error, nothing loaded from elsewhere"
    print(
        f"{given.report}: {len(browser.complaints)} complaints" if browser.complaints else f"{given.report}: {charts}"
    )
    return 1 if browser.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
