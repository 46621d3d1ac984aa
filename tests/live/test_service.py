"""The service answers what its description says, and nobody without the token."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, given, settings

import ns_mab_gym as nsb

pytest.importorskip("starlette")

from ns_mab_gym.cli import live as command
from ns_mab_gym.cli.entry import main
from ns_mab_gym.live import service

TOKEN = "a-token-of-the-tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
HOSTILE = "<script>\"x\\y'</script>"


@pytest.fixture
def app(opened):
    return service.application(opened(arms=["blue", "green", HOSTILE]), TOKEN)


def ask(app, method, path, body=None, headers=BEARER, query=b""):
    """One request to an ASGI application; the status, the headers and the text of its answer."""
    content = json.dumps(body).encode() if body is not None and not isinstance(body, bytes) else body or b""
    given = ({"Content-Type": "application/json"} if body is not None else {}) | headers
    raw = [(key.lower().encode(), value.encode()) for key, value in given.items()]
    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": query,
        "headers": raw, "http_version": "1.1", "scheme": "http", "server": ("test", 80), "root_path": "",
    }  # fmt: skip
    sent = []
    pieces = [content[i : i + 60_000] for i in range(0, len(content), 60_000)] or [b""]

    async def receive():
        piece = pieces.pop(0) if pieces else b""
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    told = {key.decode(): value.decode() for key, value in sent[0]["headers"]}
    return sent[0]["status"], told, b"".join(each.get("body", b"") for each in sent[1:]).decode()


def test_decisions_are_made_and_rewards_are_taken_in(app):
    status, _, text = ask(app, "POST", "/decide", {"n": 3})
    made = json.loads(text)["decisions"]
    assert (status, [each["id"] for each in made]) == (200, ["1", "2", "3"])
    assert set(made[0]) == {"id", "arm", "probability", "holdout"}
    rewards = {"rewards": [{"id": "1", "reward": 1}, {"id": "1", "reward": 1}, {"id": "3", "reward": 0.0}]}
    assert json.loads(ask(app, "POST", "/reward", rewards)[2]) == {"new": 2, "repeated": 1, "late": 0}
    estimates = json.loads(ask(app, "GET", "/estimates", query=b"window=7d")[2])["estimates"]
    assert sum(each["rewards"] for each in estimates) == 2
    assert sum(each["waiting"] for each in estimates) == 1
    assert json.loads(ask(app, "POST", "/arms", {"add": "video"})[2])["arms"][-1] == "video"
    assert "blue" not in json.loads(ask(app, "POST", "/arms", {"retire": "blue"})[2])["arms"]
    assert json.loads(ask(app, "GET", "/arms")[2])["arms"] == ["green", HOSTILE, "video"]


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("/decide", {"n": 0}, 422, "n must be from 1 to 1000, got 0"),
        ("/decide", {"n": 10**30}, 422, "n must be from 1 to 1000"),
        ("/decide", {"n": True}, 422, "n must be of type int, got bool"),
        ("/decide", {"m": 1}, 422, "an object with n alone, it has no 'm'"),
        ("/decide", [1], 422, "it has a list"),
        ("/decide", b"{", 400, "cannot be read as JSON"),
        ("/decide", b"[" * 100_000, 400, "cannot be read as JSON"),
        ("/decide", b'{"n": NaN}', 400, "NaN is no number of JSON"),
        ("/decide", b" " * (service.BYTES + 1), 413, "a body may have 1,048,576 bytes"),
        ("/reward", {"rewards": []}, 422, "at least one"),
        ("/reward", {"rewards": [{"id": 1, "reward": 1}]}, 422, "id, a text"),
        ("/reward", {"rewards": [{"id": "1", "reward": "1"}]}, 422, "reward, a number"),
        ("/reward", {"rewards": [{"id": "1", "reward": 0}]}, 404, "there is no decision 1"),
        ("/reward", b'{"rewards": [{"id": "1", "reward": 1e999}]}', 422, "a finite number"),
        ("/arms", {}, 422, "either add or retire"),
        ("/arms", {"retire": "pink"}, 409, "no open arm 'pink'"),
        ("/arms", {"add": "a\u0007"}, 409, "cannot be shown"),
        ("/arms", {"add": "x" * 101}, 422, "1 to 100 letters"),
    ],
)
def test_a_wrong_request_is_answered_in_one_line(path, body, status, message, app):
    found, _, text = ask(app, "POST", path, body)
    assert found == status
    assert message in json.loads(text)["error"]


def test_a_second_reward_is_a_conflict(app):
    ask(app, "POST", "/decide", {})
    for reward, status in ((1, 200), (1, 200), (0, 409)):
        assert ask(app, "POST", "/reward", {"rewards": [{"id": "1", "reward": reward}]})[0] == status


@pytest.mark.parametrize("path", ["/decide", "/reward", "/arms", "/estimates", "/metrics", "/"])
def test_nobody_is_let_in_without_the_token(path, app):
    password = base64.b64encode(f"me:{TOKEN}".encode()).decode()
    method = "POST" if path in ("/decide", "/reward") else "GET"
    wrong = ["", "Bearer", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer \xff", f"Digest {TOKEN}", "Basic ???"]
    if path not in service.READ:
        wrong.append(f"Basic {password}")  # which a browser would send for pages of others
    for shown in wrong:
        status, told, text = ask(app, method, path, headers={"Authorization": shown} if shown else {})
        assert (status, TOKEN in text) == (401, False), shown
        assert told["www-authenticate"] in ("Basic", "Bearer")
    if path in service.READ:
        assert ask(app, method, path, headers={"Authorization": f"Basic {password}"})[0] == 200


def test_a_body_that_is_not_said_to_be_json_is_refused(app):
    """Forms of other pages cannot send this type."""
    assert ask(app, "POST", "/decide", b"{}", headers={**BEARER, "Content-Type": "text/plain"})[0] == 415


def test_the_page_shows_names_as_text_and_asks_nobody_else(app):
    ask(app, "POST", "/decide", {"n": 5})
    status, told, text = ask(app, "GET", "/")
    assert status == 200
    assert told["content-security-policy"].startswith("default-src 'none'")
    tags = []
    reader = HTMLParser()
    reader.handle_starttag = lambda tag, attributes: tags.append((tag, dict(attributes)))
    reader.feed(text)
    assert not {"script", "img", "link", "iframe"} & {tag for tag, _ in tags}
    assert not any({"src", "href"} & set(attributes) for _, attributes in tags)
    assert "&lt;script&gt;&quot;x" in text


def test_metrics_can_be_read_by_prometheus(app):
    ask(app, "POST", "/decide", {"n": 5})
    text = ask(app, "GET", "/metrics")[2]
    line = re.compile(
        r'(# (HELP|TYPE) \w+ .+|\w+(\{\w+="([^"\\\n]|\\\\|\\"|\\n)*"(,\w+="[^"\\\n]*")*\})? (NaN|[-\d.e]+))'
    )
    assert all(line.fullmatch(each) for each in text.splitlines())
    found = re.findall(r"^ns_mab_gym_decisions_total\{.*\} (\d+)$", text, flags=re.MULTILINE)
    assert sum(map(int, found)) == 5
    assert 'ns_mab_gym_requests_total{path="/decide",status="200"} 1' in text


def test_health_is_told_to_anybody_and_a_closed_file_is_not_healthy(opened):
    live = opened()
    app = service.application(live, TOKEN)
    assert ask(app, "GET", "/healthz", headers={})[::2] == (200, "ok\n")
    live.close()
    assert ask(app, "GET", "/healthz", headers={})[0] == 503
    assert ask(app, "POST", "/decide", {})[0] == 503


def test_the_description_is_kept(opened):
    """Schemathesis asks for everything that the description allows, and judges the answers."""
    schemathesis = pytest.importorskip("schemathesis")
    app, names = service.application(opened("random"), TOKEN), []
    for operation in schemathesis.openapi.from_asgi("/openapi.json", app).get_all_operations():
        case_of = operation.ok().as_strategy()
        names.append(operation.ok().label)

        @settings(max_examples=15, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
        @given(case=case_of)
        def holds(case):
            case.call_and_validate(headers=BEARER)

        holds()
    assert len(names) == 8  # all but the description itself


# The command.


@pytest.fixture
def token(monkeypatch):
    monkeypatch.setenv(command.TOKEN, TOKEN)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def test_a_service_that_is_told_to_end_closes_its_file(tmp_path, token):
    file, port = tmp_path / "state.sqlite", free_port()
    words = ["serve", str(file), "--agent", "ts", "--arms", "blue", "green", "--port", str(port), "--seed", "1"]
    server = subprocess.Popen([sys.executable, "-m", "ns_mab_gym", *words], stdout=subprocess.PIPE, text=True)
    base = f"http://127.0.0.1:{port}"
    for _ in range(600):
        try:
            urllib.request.urlopen(f"{base}/healthz", timeout=5).close()
            break
        except urllib.error.URLError:
            time.sleep(0.05)
    headers = {**BEARER, "Content-Type": "application/json"}
    request = urllib.request.Request(f"{base}/decide", b'{"n": 7}', headers)
    with urllib.request.urlopen(request, timeout=5) as answer:
        assert len(json.load(answer)["decisions"]) == 7
        assert answer.headers["Cache-Control"] == "no-store"
    server.send_signal(signal.SIGTERM)
    said, _ = server.communicate(timeout=30)
    assert f"ts decides between blue, green at {base}/" in said
    assert TOKEN not in said
    assert not os.path.exists(f"{file}-wal")
    with nsb.Live("ts", None, file) as live:
        assert live._since == 0  # its state was saved, nothing had to be repeated
        assert sum(each.decisions for each in live.estimates()) == 7


def test_other_machines_are_let_in_with_a_token_of_ones_own_alone(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv(command.TOKEN, raising=False)
    words = ["serve", str(tmp_path / "x.sqlite"), "--arms", "a", "b", "--host"]
    for host in ("0.0.0.0", "::", "example.org", "192.168.1.7"):
        assert main([*words, host]) == 2
        assert "give a token of your own" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("text", "given"), [("x" * 15, False), ("é" * 20, False), ("y" * 16, True), ("", False)])
def test_a_token_has_a_least_length(text, given, tmp_path, monkeypatch):
    monkeypatch.delenv(command.TOKEN, raising=False)
    (tmp_path / "token.txt").write_text(f"{text}\n", encoding="utf-8")
    if given:
        assert command.token_of(tmp_path / "token.txt") == (text, True)
    else:
        with pytest.raises(ValueError, match="16 or more plain letters"):
            command.token_of(tmp_path / "token.txt")


def test_a_token_is_made_if_none_is_given(monkeypatch):
    monkeypatch.delenv(command.TOKEN, raising=False)
    (one, given), (other, _) = command.token_of(None), command.token_of(None)
    assert not given
    assert one != other
    assert len(one) >= 40


@pytest.mark.parametrize(("host", "own"), [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False)])
def test_addresses_of_this_machine_alone(host, own):
    assert command.is_loopback(host) == own
