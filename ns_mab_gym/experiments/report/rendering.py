"""Fills in the templates of the page, which are separate files; every value is escaped."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from ..valid_json import json_text

__all__ = ["environment", "render"]


@cache
def environment() -> Environment:
    """The Jinja environment: where the templates are, and how they are filled in."""
    loader = PackageLoader("ns_mab_gym.experiments.report")

    def file(name: str) -> Markup:
        """The text of a style or script as it is, not read as a template: its braces mean something else."""
        return Markup(loader.get_source(env, name)[0])

    env = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    env.globals["file"] = file
    # The filter `tojson` writes <, > and & as numbers, so that no text can end the script element that holds it.
    env.policies["json.dumps_function"] = json_text
    env.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return env


def render(content: dict[str, Any]) -> str:
    """The page with this content, and with the library that draws its charts."""
    return environment().get_template("page.html").render(content, plotly=Markup(get_plotlyjs()))
