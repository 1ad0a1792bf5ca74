"""A hook of `mkdocs.yml`: the theme's search on disk wants a script from the network; ours takes its place."""

from typing import Any

FROM_THE_NETWORK = "https://unpkg.com/iframe-worker/shim"
OURS = "docs/assets/file-worker.js"


def on_post_page(output: str, *, page: Any, config: Any) -> str:  # noqa: ARG001 (mkdocs calls it with these)
    """Give a page's HTML without the address of the network."""
    return output.replace(FROM_THE_NETWORK, "../" * page.url.count("/") + OURS)


def on_post_template(output_content: str, *, template_name: str, config: Any) -> str:  # noqa: ARG001
    """Give what is no page, as the page of a missing address, likewise."""
    return output_content.replace(FROM_THE_NETWORK, OURS)
