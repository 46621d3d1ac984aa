"""Reads a page without a browser."""

import json
from html.parser import HTMLParser


class Reader(HTMLParser):
    """Reads a page: its elements with the names of their attributes, its texts, its tables and its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, ...]] = []
        self.texts: list[str] = []
        self.tables: list[list[list[str]]] = []
        self.scripts: list[str] = []
        self.images: list[str] = []
        self.titles: list[str | None] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, *(name for name, _ in attrs)))
        self.titles += [value for name, value in attrs if name == "title"]
        self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag == "script":
            self.scripts.append("")
        elif tag == "img":
            self.images.append(str(dict(attrs)["src"]))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass  # elements without an end, such as meta and br

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if "script" in self.open:
            self.scripts[-1] += data
        elif "td" in self.open or "th" in self.open:
            self.tables[-1][-1][-1] += data

    @property
    def charts(self) -> dict[str, dict[str, list[dict[str, str]]]]:
        """The data of the charts, from the second of the page's scripts."""
        return dict(json.loads(self.scripts[1]))
