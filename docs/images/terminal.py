"""Makes terminal.svg, the picture in the README, from what the commands print: python docs/images/terminal.py"""

import io
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

SCREENS = [
    ("ludus play connect4 --against uct:100000", "d\nhint\nquit\n"),
    ("ludus match connect4 uct:2000 uct:200 --games 40", ""),
]


def main() -> None:
    console = Console(record=True, width=100, file=io.StringIO(), highlight=False)
    for command, typed in SCREENS:
        program = [sys.executable, "-c", "from ludus.cli import main; main()", *command.split()[1:]]
        done = subprocess.run(program, input=typed, capture_output=True, text=True, check=True)
        console.print(Text(f"$ {command}", style="bold"))
        for line in done.stdout.splitlines():
            console.print(Text(line))
        console.print()
    Path(__file__).with_name("terminal.svg").write_text(console.export_svg(title="Ludus"))


if __name__ == "__main__":
    main()
