"""Links words to docs/glossary.md, in the copy of docs/ that becomes the site.

The words are in bold in the first column of the glossary's tables. On each page the first use of a word in running text
becomes a link with its meaning as the title; headings, code and links stay as they are.
"""

import pathlib
import posixpath
import re

ROW = re.compile(r"^\| (?P<words>\*\*[^|]*) \| (?P<meaning>[^|]*) \|", re.MULTILINE)
BOLD = re.compile(r"\*\*([^*|]+)\*\*")
LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
# Fenced code, headings, code, images and links, links by reference, tags, attributes.
KEPT = (
    r"^[ \t]*```(?s:.*?)^[ \t]*```|^#[^\n]*|``[^\n]*?``|`[^`\n]*`"
    rf"|{LINK.pattern}|\[[^\]\n]*\]|<[^>\n]*>|\{{[^}}\n]*\}}"
)


def glossary_of(text: str) -> dict[str, str]:
    """The meaning of each word, as plain text."""
    rows = [(BOLD.findall(row["words"]), LINK.sub(r"\1", row["meaning"])) for row in ROW.finditer(text)]
    return {word: meaning.replace("`", "").replace('"', "'") for words, meaning in rows for word in words}


def anchor_of(word: str) -> str:
    return word.lower().replace(" ", "-")


def with_anchors(text: str) -> str:
    """The glossary with a place to lead to at each word."""

    def row(match: re.Match[str]) -> str:
        words = BOLD.sub(lambda bold: f'<a id="{anchor_of(bold[1])}"></a>{bold[0]}', match["words"])
        return match[0].replace(match["words"], words, 1)

    return ROW.sub(row, text)


def with_links(text: str, meanings: dict[str, str], glossary: str) -> str:
    """A page with its links; `glossary`: the path of the glossary from the page."""
    longest_first = sorted(meanings, key=lambda word: (-len(word), word))
    words = {word.lower(): word for word in meanings}
    found = "|".join(re.escape(word) for word in longest_first)
    pattern = re.compile(rf"{KEPT}|(?<![\w/.-])(?P<word>{found})(?P<plural>s?)(?![\w/-])", re.MULTILINE | re.IGNORECASE)
    seen = set()

    def link(match: re.Match[str]) -> str:
        word = words.get((match["word"] or "").lower())
        if word is None or word in seen:
            return match[0]
        seen.add(word)
        return f'[{match[0]}]({glossary}#{anchor_of(word)} "{meanings[word]}")'

    return pattern.sub(link, text)


def add_links(docs: pathlib.Path) -> None:
    """Links the pages of a copy of docs/, in place."""
    glossary = docs / "glossary.md"
    meanings = glossary_of(glossary.read_text())
    for page in docs.rglob("*.md"):
        if page != glossary:
            path = posixpath.relpath(glossary.as_posix(), page.parent.as_posix())
            page.write_text(with_links(page.read_text(), meanings, path))
    glossary.write_text(with_anchors(glossary.read_text()))
