#!/usr/bin/env python3
"""Executes docs/notebook.ipynb and writes docs/notebook.md, with the output of its cells.

usage: build/venv-3.12/bin/python -m scripts.pages.notebook_page [--check]

Needs an environment with Timeloom, ipykernel and nbclient. With --check, nothing is written: fails if
the page differs from the notebook's output, except for times and sizes.
"""

import argparse
import difflib
import itertools
import json
import os
import pathlib
import re
import sys
import tempfile
from typing import Any

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
SOURCE = DOCS / "notebook.ipynb"
PAGE = DOCS / "notebook.md"
WRITTEN = "<!-- scripts/pages/notebook_page.py has written this page from notebook.ipynb -->\n"

# Parts that differ each time, and their replacements in a comparison.
FIGURES = (
    (r"overhead [^\n;]*", "overhead N"),
    (r"memory \d+ MB(?:, [+-][\d.]+ MB in the cell)?", "memory N MB"),
    (r"[+-]?\d[\d.]*(?:e[+-]?\d+)? (?:s|ms|µs|ns)\b", "TIME"),
    (r"(\d threads), [\d,]+ events", r"\1, N events"),
    (r"\d{8}[-_]\d{4,6}(?:_\d+)?", "DATE"),
    (r"(?m)^(?:most time is in the cell itself|\d+% of all calls).*\n", ""),  # advice
    (r"\b(?:recorded|woven) +(?=~/)", ""),
    (r"[ \t]+", " "),
)
ROW = re.compile(r" *[\d,]+ TIME TIME ")  # of a table whose order depends on its times


def execute(source: pathlib.Path) -> Any:
    """The notebook with its outputs, run in a plain kernel and a temporary directory."""
    import nbclient
    import nbformat
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager

    notebook = nbformat.read(source, as_version=4)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        spec = pathlib.Path(directory) / "kernels" / "page"
        spec.mkdir(parents=True)
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        (spec / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "page", "language": "python"}))
        here = pathlib.Path(directory) / "work"
        here.mkdir()
        manager = AsyncKernelManager(
            kernel_name="page", kernel_spec_manager=KernelSpecManager(kernel_dirs=[str(spec.parent)]))
        client = nbclient.NotebookClient(notebook, km=manager, timeout=60, resources={"metadata": {"path": str(here)}})
        variables = {name: value for name, value in os.environ.items() if not name.startswith(("SCOREP_", "TIMELOOM_"))}
        client.execute(env={**variables, "IPYTHONDIR": directory, "JUPYTER_RUNTIME_DIR": directory})
        for cell in notebook.cells:
            for output in cell.get("outputs", ()):
                _replace(output, os.path.realpath(here), "~")
    return notebook


def _replace(output: Any, directory: str, name: str) -> None:
    if "text" in output:
        output["text"] = output["text"].replace(directory, name)
    elif "text/plain" in output.get("data", ()):
        output["data"]["text/plain"] = output["data"]["text/plain"].replace(directory, name)


def text_of(output: Any) -> str:
    """An output as a terminal would show it."""
    if output["output_type"] == "error":
        return f"{output['ename']}: {output['evalue']}"
    return str(output["text"] if "text" in output else output["data"]["text/plain"])


def page_of(notebook: Any) -> str:
    """The notebook as a page of Markdown."""
    parts = [WRITTEN]
    for cell in notebook.cells:
        if cell["cell_type"] == "markdown":
            parts.append(f"{cell['source']}\n")
            continue
        parts.append(f"```python\n{cell['source']}\n```\n")
        shown = "\n".join(text_of(output).rstrip("\n") for output in cell["outputs"])
        if shown:
            parts.append(f"```text\n{shown}\n```\n")
    return "\n".join(parts)


def without_figures(text: str) -> str:
    """The parts that two runs of the same notebook have in common."""
    for pattern, word in FIGURES:
        text = re.sub(pattern, word, text)
    groups = itertools.groupby(text.splitlines(keepends=True), lambda line: ROW.match(line) is not None)
    return "".join("".join(sorted(lines) if are_rows else lines) for are_rows, lines in groups)


def difference() -> str:
    """The differences between the page and the notebook; empty: none."""
    said, given = (without_figures(text).splitlines() for text in (PAGE.read_text(), page_of(execute(SOURCE))))
    return "\n".join(difflib.unified_diff(said, given, "docs/notebook.md", "docs/notebook.ipynb", n=1, lineterm=""))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        PAGE.write_text(page_of(execute(SOURCE)))
        return 0
    wrong = difference()
    if wrong:
        print(f"{wrong}\nrun python3 -m scripts.pages.notebook_page and commit the page", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
