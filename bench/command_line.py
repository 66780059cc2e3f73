"""The command line that scale.py and profile_mode.py share."""

import argparse
import json
import tempfile
from collections.abc import Callable
from typing import Any


def run(doc: str, figures: Callable[[argparse.Namespace], dict[str, Any]], **more: dict[str, Any]) -> None:
    """Prints the figures that `figures` measures with the arguments; `more`: further options for argparse."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scratch", default=tempfile.gettempdir(), help="where runs are written")
    for name, option in more.items():
        parser.add_argument(f"--{name}", **option)
    arguments = parser.parse_args()
    result = figures(arguments)
    if arguments.json:
        print(json.dumps(result, indent=2))
        return
    for key, value in result.items():
        print(f"{key:<22} {value}")
