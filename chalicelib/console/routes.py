"""The administration console: files of `static/`, served as text by the API's own function.

Every address in the pages is relative, so they work under the stage of API Gateway, on a custom
domain and on the emulator. Pages have hash addresses (`/console#/orders`): the server knows one.
"""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

from chalice.app import Blueprint, HeadersType, Response

from chalicelib import __version__, settings
from chalicelib.console import facts, reference
from chalicelib.request.answer import reply
from chalicelib.request.call import current, entity_tags, header

_STATIC: Final = Path(__file__).parent / "static"
# Only types that API Gateway sends as text: a binary one would need an Accept header.
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".map": "application/json",  # there after `make console`, and not in the repository
}
_PAGE: Final = "index.html"
_YEAR: Final = "public, max-age=31536000, immutable"

routes = Blueprint(__name__)


@routes.route("/console", methods=["GET", "HEAD"], content_types=[], name="console.page")
def show_page() -> Response:
    """Answer the console's page.

    It links the files of exactly this version, so they may be cached for ever.
    """
    if str(current().request.context.get("path", "")).endswith("/"):
        # Relative addresses would be wrong from there.
        return _reply_text("", {"Location": "../console"}, status=302)
    known = entity_tags(current().request.headers.get("if-none-match"))
    headers = {
        "Cache-Control": "no-cache",
        "Content-Security-Policy": _policy(),
        "Cross-Origin-Opener-Policy": "same-origin",
        "ETag": f'"{_version()}"',
        "X-Frame-Options": "DENY",
    }
    if known and _version() in known:
        return _reply_text("", headers, status=304)
    text = _load_files()[_PAGE].replace("VERSION", _version())
    return _reply_text(text, {**headers, "Content-Type": _TYPES[".html"]})


@routes.route("/console/{proxy+}", methods=["GET", "HEAD"], content_types=[], name="console.below")
def serve_file() -> Response:
    """Answer a file of `/console/assets/<version>/`; redirect any other path to its page.

    A tab from before a deployment requests files of a version that is gone: after the 404 it
    reloads.
    """
    proxy_path = str((current().request.uri_params or {}).get("proxy", ""))
    kind, slash, below = proxy_path.partition("/")
    if proxy_path == "guide":
        return _reply_page(reference.load_guide().replace("VERSION", _version()), _policy())
    if kind == "reference":
        return _serve_reference(below) if below else _show_reference(slash)
    if kind != "assets":
        up = "../" * (proxy_path.count("/") + 1)
        # Decoded first: some gateways have decoded it, and an encoded one would be encoded twice.
        encoded = quote(unquote(proxy_path), safe="/")
        return _reply_text("", {"Location": f"{up}console#/{encoded}"}, status=302)
    version, _, name = below.partition("/")
    return _reply_file(_load_files().get(name) if version == _version() else None, name)


def _show_reference(slash: str) -> Response:
    """Answer the page of the API reference."""
    path = str(current().request.context.get("path", ""))
    if slash or path.endswith("/"):
        return _reply_text("", {"Location": "../../console/reference"}, status=302)
    text = reference.load_files()[reference.PAGE].replace("VERSION", reference.version())
    return _reply_page(text, _policy("default dompurify"))


def _reply_page(text: str, policy: str) -> Response:
    headers = {
        "Cache-Control": "no-cache",
        "Content-Security-Policy": policy,
        "Content-Type": _TYPES[".html"],
        "X-Frame-Options": "DENY",
    }
    return _reply_text(text, headers)


def _serve_reference(below: str) -> Response:
    """Answer a file of `/console/reference/<version>/`."""
    version, _, name = below.partition("/")
    files = reference.load_files()
    is_there = version == reference.version() and name != reference.PAGE
    return _reply_file(files.get(name) if is_there else None, name)


def _reply_file(text: str | None, name: str) -> Response:
    """Answer a file that never changes under its address; 404 if there is none."""
    if text is None:
        plain = {"Cache-Control": "no-store", "Content-Type": "text/plain; charset=utf-8"}
        return _reply_text("There is no such file in this version.", plain, status=404)
    kept = {"Cache-Control": _YEAR, "Vary": "Accept-Encoding"}
    return _reply_text(text, {**kept, "Content-Type": _TYPES[Path(name).suffix]})


@routes.route("/", methods=["GET", "HEAD"], content_types=[], name="home.root")
@routes.route("/api", methods=["GET", "HEAD"], content_types=[], name="home.api")
def links() -> Response:
    """Links to the console and the API: HTML for a browser, otherwise JSON."""
    called = str(current().request.context.get("path", "")).rstrip("/").removesuffix("/api")
    base = called if settings.base_path() is None else settings.base_path()
    links = {
        "console": f"{base}/console",
        "reference": f"{base}/console/reference",
        "description": f"{base}/api/openapi.json",
        "storefront": f"{base}/api/products",
        "admin": f"{base}/api/admin/me",
    }
    about = {"name": "Backroom", "release": __version__, "links": links}
    varies = {"Vary": "Accept"}
    if "text/html" not in (header("accept") or ""):
        return reply(200, about, headers=varies)
    page = (
        f'<!doctype html><title>Backroom</title><p><a href="{links["console"]}">Console</a>'
        f'<p><a href="{links["reference"]}">API reference</a>'
        f'<p><a href="{links["description"]}">API description (OpenAPI)</a>'
    )
    sent: HeadersType = {**varies, "Content-Type": _TYPES[".html"], "Location": links["console"]}
    return Response(page, sent, 302)


def _reply_text(text: str, headers: Mapping[str, str], status: int = 200) -> Response:
    always: HeadersType = {"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"}
    return Response(text, {**always, **headers}, status)


def _policy(markup: str = "'none'") -> str:
    """Only our own scripts and styles, no connections except to us and S3.

    `markup`: the names of the policies (of Trusted Types) that may make markup from text.
    """
    uploads = settings.upload_origin()
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            # Pictures of products are wherever the shop keeps them, those of orders in S3.
            f"img-src 'self' https: data: {settings.pictures_origin()} {uploads}".strip(),
            f"connect-src 'self' {uploads}".strip(),
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            f"trusted-types {markup}",
        )
    )


@cache
def _load_files() -> dict[str, str]:
    """Load what is served, by name: what `make console` made, with the facts in the page."""
    files = {
        path.name: path.read_text(encoding="utf-8")
        for path in sorted(_STATIC.iterdir())
        if path.suffix in _TYPES
    }
    return files | {_PAGE: files[_PAGE].replace("FACTS", facts.render_facts())}


@cache
def _version() -> str:
    texts = [text for name, text in _load_files().items() if not name.endswith(".map")]
    return hashlib.sha256(repr(texts).encode()).hexdigest()[:12]
