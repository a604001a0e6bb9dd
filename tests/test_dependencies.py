"""The bounds of the dependencies are declared, and the files of versions keep to them."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
REQUIRED = [Requirement(text) for text in PROJECT["dependencies"]]
TESTED = [Requirement(text) for text in PROJECT["optional-dependencies"]["test"]]


def pinned(name):
    """The versions in a file of constraints."""
    lines = re.findall(r"^([\w-]+)==(\S+)$", (ROOT / name).read_text(), re.MULTILINE)
    return {package: Version(version) for package, version in lines}


@pytest.mark.parametrize("requirement", REQUIRED, ids=lambda each: each.name)
def test_every_dependency_has_a_lower_and_an_upper_bound(requirement):
    assert {bound.operator for bound in requirement.specifier} == {">=", "<"}


@pytest.mark.parametrize("requirement", REQUIRED + TESTED, ids=lambda each: each.name)
def test_results_are_made_with_versions_within_the_bounds(requirement):
    assert pinned("constraints.txt")[requirement.name] in requirement.specifier


def test_the_oldest_versions_are_the_lower_bounds():
    oldest = pinned("constraints-oldest.txt")
    declared = {
        requirement.name: Version(bound.version)
        for requirement in REQUIRED + TESTED
        for bound in requirement.specifier
        if bound.operator == ">=" and requirement.name not in ("ruff", "mypy")
    }
    assert {name: version for name, version in oldest.items() if name != "llvmlite"} == declared
