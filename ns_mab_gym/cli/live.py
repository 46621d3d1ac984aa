"""``ns-mab-gym serve``: an agent in service over HTTP."""

from __future__ import annotations

import argparse
import ipaddress
import os
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path

from .parser import Parser, closing, natural, path, whole

EXTRAS = "a service needs: pip install 'ns-mab-gym[serve]'"
TOKEN = "NS_MAB_GYM_TOKEN"
LEAST = 16  # letters of a token
DESCRIPTION = f"""\
Let an agent decide over HTTP. Every answer is in the file FILE before it is given, so that nothing is lost when the
process is killed; the same command goes on from there. POST /decide and /reward, GET /arms, /estimates, /metrics and /
(a page for people) need the token as "Authorization: Bearer TOKEN"; it is read from the variable {TOKEN} or from
a file, or made and printed. GET /openapi.json describes all requests.
"""
EXAMPLES = (
    "state.sqlite --arms blue green red",
    "state.sqlite --agent sw-ucb --window 7d --per-day 5000 --arms blue green --expire 2d --port 8080",
    "prices.sqlite --arms 9.99 14.99 --reward-range 0 15 --holdout 0.05 --token-file token.txt",
)


def serve(arguments: Sequence[str] | None = None, command: str = "serve") -> int:
    """Let an agent decide over HTTP until the process is told to end."""
    parser = Parser(command, DESCRIPTION, EXAMPLES)
    add = parser.add_argument
    add("file", type=path, metavar="FILE", help="the database of decisions, made if it is absent")
    add("--arms", nargs="+", metavar="NAME", help="the names of the arms; needed for a new file")
    add("--agent", default="changepoint-ucb", help="an agent with :parameter=value,… (%(default)s)")
    add("--window", metavar="TIME", help="the time that the agent remembers, such as 7d")
    add("--horizon", metavar="TIME", help="the time that its formulas take for T, if not the window")
    add("--per-day", type=float, metavar="N", help="decisions expected in a day, by which times are counted")
    add("--reward-range", type=float, nargs=2, default=(0.0, 1.0), metavar=("LOW", "HIGH"), help="of rewards (0 1)")
    add("--expire", metavar="TIME", help="after which a reward that has not come counts as 0, such as 2d")
    add("--holdout", type=float, default=0.0, metavar="SHARE", help="of decisions made at random (%(default)s)")
    add("--seed", type=natural, help="of the agent (a random one)")
    add("--rebuild", action="store_true", help="make the agent anew, by these settings, from all remembered rewards")
    add("--power-safe", action="store_true", help="wait with every answer until the disk has it")
    add("--host", default="127.0.0.1", help="the address to listen at (%(default)s, this machine alone)")
    add("--port", type=whole(1, 65_535, "a port from 1 to 65535"), default=8000, help="(%(default)s)")
    add("--token-file", type=path, metavar="TEXT", help="the file that holds the token")

    def work(options: argparse.Namespace) -> Iterator[str]:
        token, given = token_of(options.token_file)
        if not given and not is_loopback(options.host):
            raise ValueError(f"give a token of your own ({TOKEN} or --token-file) to listen at {options.host}")
        try:
            import uvicorn

            from ..live.service import application
        except ImportError as error:
            raise ImportError(f"{error}; {EXTRAS}") from None
        from ..live.live import Live

        live = Live(
            options.agent, options.arms, options.file, window=options.window, horizon=options.horizon,
            per_day=options.per_day, reward_range=tuple(options.reward_range), expire=options.expire,
            holdout=options.holdout, seed=options.seed, rebuild=options.rebuild, power_safe=options.power_safe,
        )  # fmt: skip
        with live:
            live.compile()
            yield from (f"note: {note}" for note in live.notes)
            yield f"{live.agent} decides between {', '.join(live.arms)} at http://{options.host}:{options.port}/"
            if not given:
                yield f"token: {token}"
            uvicorn.run(
                application(live, token), host=options.host, port=options.port, log_level="warning", access_log=False,
                server_header=False, timeout_graceful_shutdown=30, limit_concurrency=1_000,
            )  # fmt: skip

    return closing(parser, arguments, work)


def token_of(file: Path | None) -> tuple[str, bool]:
    """Return the token, and whether the user gave it."""
    text = os.environ.get(TOKEN, "") if file is None else file.read_text(encoding="utf-8")
    if not text and file is None:
        return secrets.token_urlsafe(32), False
    if len(token := text.strip()) < LEAST or not (token.isascii() and token.isprintable()):
        raise ValueError(f"a token needs {LEAST} or more plain letters, as `openssl rand -hex 32` prints them")
    return token, True


def is_loopback(host: str) -> bool:
    """Return whether an address is of this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
