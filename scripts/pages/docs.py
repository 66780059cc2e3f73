"""Builds the site of docs/ into build/site/VERSION, the newest also into build/site/latest.

usage: python3 -m scripts.pages.docs

Versions that were built before stay, and each page offers them. A link that leads nowhere fails
the build. Serve it with: python3 -m http.server -d build/site
"""

import json
import os
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys

from scripts import environments
from scripts.pages import glossary_links
from scripts.release import release_tools

PLACE = environments.BUILD / "docs"
SITE = environments.BUILD / "site"
# A link to a file of the tree that is not a page of the site.
OUTSIDE = re.compile(r"\[([^\]]*)\]\(((?:\.\./)+[^)#\s]*)(?:#[^)]*)?\)")
# A row of the tables in docs/README.md, whose first cell is a link to a page of the site.
LISTED = re.compile(r"\| \[([^\]]+)\]\(([^).#][^)#]*\.md)\) \|")
START = '<!doctype html><meta http-equiv="refresh" content="0; url=latest/index.html">\n'


def without_links_outside(markdown: str, folder: str) -> str:
    """Names files of the tree, unless the text does so already."""

    def named(link: re.Match[str]) -> str:
        place = posixpath.normpath(posixpath.join("docs", folder, link[2]))
        if place.startswith("docs/"):
            return link[0]
        return link[1] if posixpath.basename(place) in link[1] else f"{link[1]} (`{place}`)"

    return OUTSIDE.sub(named, markdown)


def navigation(readme: str) -> str:
    """The navigation of mkdocs.yml: the sections of docs/README.md with the pages that they list."""
    lines = ["nav:", "  - Documentation: README.md"]
    for line in readme.splitlines():
        if line.startswith("## "):
            lines.append(f"  - {json.dumps(line[3:])}:")
        elif row := LISTED.match(line):
            lines.append(f"      - {json.dumps(row[1])}: {row[2]}")
    return "\n".join(lines) + "\n"


def copy_pages() -> None:
    shutil.rmtree(PLACE, ignore_errors=True)
    docs = environments.ROOT / "docs"
    shutil.copytree(docs, PLACE / "docs")
    for page in (PLACE / "docs").rglob("*.md"):
        folder = page.parent.relative_to(PLACE / "docs").as_posix()
        page.write_text(without_links_outside(page.read_text(), folder))
    glossary_links.add_links(PLACE / "docs")
    settings = (environments.ROOT / "packaging" / "docs" / "mkdocs.yml").read_text()
    (PLACE / "mkdocs.yml").write_text(settings + navigation((docs / "README.md").read_text()))


def publish(version: str) -> None:
    """Puts the built site beside the other versions."""
    for name in (version, "latest"):
        shutil.rmtree(SITE / name, ignore_errors=True)
        shutil.copytree(PLACE / "site", SITE / name)
    there = (path.name for path in SITE.iterdir() if (path / "index.html").is_file() and path.name != "latest")
    versions = sorted(there, key=lambda name: [int(part) for part in name.split(".")], reverse=True)
    listed = [{"version": one, "title": one, "aliases": ["latest"] if one == version else []} for one in versions]
    (SITE / "versions.json").write_text(json.dumps(listed))
    (SITE / "index.html").write_text(START)


def main() -> int:
    python = release_tools.made_environment(
        environments.BUILD / "venv-docs", environments.ROOT / "packaging" / "docs" / "requirements.txt"
    )
    copy_pages()
    command = [str(python.with_name("zensical")), "build", "--strict", "--clean", "-f", str(PLACE / "mkdocs.yml")]
    done = subprocess.run(command, cwd=PLACE, env={**os.environ, "NO_COLOR": "1"})
    if done.returncode != 0:
        return 1
    publish(release_tools.version())
    print(pathlib.Path(SITE / "latest" / "index.html"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
