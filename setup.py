"""The pages of docs/ become part of the package, for `ludus docs`. Everything else is in pyproject.toml."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithPages(build_py):
    def run(self) -> None:
        super().run()
        if not self.editable_mode:  # such an installation reads docs/ itself
            for page in sorted(Path("docs").rglob("*.md")):
                self.mkpath(str(Path(self.build_lib, "ludus", page.parent)))
                self.copy_file(str(page), str(Path(self.build_lib, "ludus", page)))

    def get_source_files(self) -> list[str]:
        return [*super().get_source_files(), *map(str, sorted(Path("docs").rglob("*.md")))]


setup(cmdclass={"build_py": BuildWithPages})
