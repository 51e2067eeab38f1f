"""Pages: a shell with the navigation, and one module of JavaScript that fills it."""

from __future__ import annotations

from typing import Any

from starlette.responses import HTMLResponse

from schedlab.web.explore import safe_json, templates

# Path, and what it is called; a page says which of them it belongs to.
NAVIGATION = (
    ("/", "Home"),
    ("/setup", "Set up"),
    ("/work", "Work"),
    ("/explore", "Explore"),
    ("/compare", "Compare"),
    ("/studies", "Studies"),
    ("/learn", "Learn"),
)


def page(
    title: str, module: str, *, at: str, styles: tuple[str, ...] = (), data: Any = None, status: int = 200
) -> HTMLResponse:
    """`static/MODULE.js` is run, and finds `#root` to fill and `data` (JSON) in `#data`.

    `at` is the entry of the navigation that is current, `styles` are further style sheets by name.
    """
    text = (
        templates()
        .get_template("page.html")
        .render(
            title=title,
            module=module,
            navigation=NAVIGATION,
            at=at,
            styles=styles,
            data=None if data is None else safe_json(data),
        )
    )
    return HTMLResponse(text, status_code=status)
