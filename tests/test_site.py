"""The documentation site: it builds, its links lead somewhere, it has all public names and loads nothing foreign."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ludus

pytest.importorskip("mkdocs", reason="the site needs MkDocs: pip install 'ludus[docs]'")
pytest.importorskip("mkdocstrings_handlers.python", reason="the site needs mkdocstrings: pip install 'ludus[docs]'")
ROOT = Path(__file__).parent.parent


def build(folder, config="mkdocs.yml", cwd=ROOT):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", config, "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=240)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site; a warning, such as a link that leads nowhere, is an error (strict)."""
    folder = tmp_path_factory.mktemp("site")
    done = build(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_of_the_documentation_is_on_the_site(site):
    for page in (ROOT / "docs").rglob("*.md"):
        assert (site / page.relative_to(ROOT / "docs")).with_suffix(".html").is_file()


def test_the_reference_has_every_public_name(site):
    text = (site / "reference.html").read_text(encoding="utf-8")
    for name in ludus.__all__:
        if name != "__version__":
            assert f'id="ludus.{name}"' in text, name


def test_a_page_loads_nothing_from_another_host(site):
    for page in site.rglob("*.html"):
        for tag in re.findall(r"<(?:script|link|img|iframe)\b[^>]*>", page.read_text(encoding="utf-8")):
            assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", tag), (page.name, tag)


def test_a_link_that_leads_nowhere_fails(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("[gone](gone.md) and [no such place](#nowhere)\n")
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    short = re.sub(r"(?ms)^(plugins|nav|theme):\n.*?(?=^\w)", "", config)
    (tmp_path / "mkdocs.yml").write_text(f"{short}\nplugins: []\n")
    done = build(tmp_path / "site", cwd=tmp_path)
    assert done.returncode != 0
    assert "gone.md" in done.stderr
    assert "#nowhere" in done.stderr


def test_pages_outside_the_site_link_to_files_that_exist():
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", (ROOT / name).read_text(encoding="utf-8")):
            assert target.startswith("https://") or (ROOT / target).exists(), (name, target)
