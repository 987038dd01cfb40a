"""Writes the guide that the console links, from docs/console.md (`make examples`)."""

import html
import re
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PROJECT = Path(__file__).resolve().parent.parent
PAGE = _PROJECT / "chalicelib/console/reference/guide.html"
_HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Guide · Backroom</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="assets/VERSION/console.css">
<main class="guide">
<p><a href="../console">Console</a></p>
"""


def render_page() -> str:
    """Return the guide as HTML: links to other pages are their texts, and pictures are left out."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    text = (_PROJECT / "docs/console.md").read_text()
    text = re.sub(r"^!\[.*\n\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"(?<!!)\[([^\]]+)\]\((?!#)[^)]*\)", r"\1", text)
    tokens = markdown.parse(text)
    for token, inside in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", _anchor(inside))
    return _HEAD + str(markdown.renderer.render(tokens, markdown.options, {})) + "</main>\n"


def _anchor(title: Token) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w -]", "", html.unescape(title.content).lower()).replace(" ", "-")


if __name__ == "__main__":
    PAGE.write_text(render_page())
