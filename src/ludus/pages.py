"""The documentation as Markdown: in an installed package a copy, in a checkout the folder docs/."""

from __future__ import annotations

from pathlib import Path

from ludus.errors import BadOption

FOLDERS = Path(__file__).parent / "docs", Path(__file__).parents[2] / "docs"


def pages() -> dict[str, Path]:
    """All pages by name, such as `arena` and `games/hive`. Empty if the package was built without them."""
    folder = next((each for each in FOLDERS if (each / "index.md").is_file()), None)
    if folder is None:
        return {}
    return {file.relative_to(folder).with_suffix("").as_posix(): file for file in sorted(folder.rglob("*.md"))}


def title_of(page: Path) -> str:
    """The heading of a page."""
    with open(page, encoding="utf-8") as lines:
        return next((line.removeprefix("# ").strip() for line in lines if line.startswith("# ")), "")


def read_page(name: str) -> str:
    """The text of a page; BadOption if there is none of that name."""
    found = pages()
    wanted = name.strip().removeprefix("docs/").removesuffix(".md").lower()
    if wanted not in found:
        raise BadOption(f"there is no page {name[:40]!r}; ludus docs lists them")
    return found[wanted].read_text(encoding="utf-8")
