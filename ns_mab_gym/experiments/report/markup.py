"""Small pieces of HTML. Everything that comes from a name, a file or a setting goes through :func:`text`."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Sequence
from pathlib import Path

__all__ = ["figure_image", "heading", "listing", "paragraph", "scale_buttons", "table", "text"]


def text(value: object) -> str:
    """A value as text that no browser takes for markup."""
    return html.escape(str(value))


def heading(level: int, words: str, anchor: str = "") -> str:
    """A heading, to which a link can lead."""
    identity = f' id="{text(anchor)}"' if anchor else ""
    return f"<h{level}{identity}>{text(words)}</h{level}>"


def paragraph(words: str, css: str = "") -> str:
    """A paragraph of plain text."""
    return f'<p class="{css}">{text(words)}</p>' if css else f"<p>{text(words)}</p>"


def listing(items: Iterable[str]) -> str:
    """A list of plain texts."""
    return f"<ul>{''.join(f'<li>{text(item)}</li>' for item in items)}</ul>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: int | None = None, css: str = "") -> str:
    """A table of finished HTML cells; from column ``numbers`` on they are numbers."""
    kinds = ["number" if numbers is not None and column >= numbers else "" for column in range(len(head))]
    titles = "".join(f'<th class="{kind}">{text(title)}</th>' for kind, title in zip(kinds, head, strict=True))
    body = "".join(
        "<tr>" + "".join(f'<td class="{kind}">{cell}</td>' for kind, cell in zip(kinds, row, strict=True)) + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll"><table class="{css}"><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def scale_buttons(chart: str) -> str:
    """Two buttons that switch a chart between a linear and a logarithmic axis."""
    return (
        '<div class="buttons">'
        f'<button data-chart="{chart}" data-scale="linear" aria-pressed="true">linear</button>'
        f'<button data-chart="{chart}" data-scale="log" aria-pressed="false">log</button></div>'
    )


def figure_image(path: Path, description: str) -> str:
    """An SVG file as an image inside the page."""
    data = base64.b64encode(path.read_bytes()).decode()
    return f'<img alt="{text(description)}" src="data:image/svg+xml;base64,{data}">'
