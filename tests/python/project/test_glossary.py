"""docs/glossary.md, and the links to it that scripts/pages/glossary_links.py puts into the pages of the site."""

import re
from pathlib import Path

import pytest
from scripts.pages import glossary_links

pytestmark = pytest.mark.any_python

DOCS = Path(__file__).resolve().parents[3] / "docs"
MEANINGS = {"lane": "a shared location", "location": "a sequence of events", "location group": "one process"}


def linked(text: str, path: str = "glossary.md") -> str:
    return glossary_links.with_links(text, MEANINGS, path)


def test_the_first_use_of_a_word_is_linked():
    assert linked("A lane. Another lane.") == 'A [lane](glossary.md#lane "a shared location"). Another lane.'


def test_capitals_and_plurals_are_the_same_word():
    assert linked("Lanes, a lane") == '[Lanes](glossary.md#lane "a shared location"), a lane'


def test_the_longest_word_counts():
    link = '[location groups](../glossary.md#location-group "one process")'
    assert linked("All location groups.", "../glossary.md") == f"All {link}."


@pytest.mark.parametrize(
    "text",
    [
        "# Lanes\n",
        "`lane`",
        "```\nlane\n```",
        "    ```console\n    lane\n    ```",
        "[a lane](view.md)",
        "![lane](lane.png)",
        "<a id='lane'>",
        "airplane planes",
        "src/lane/lane.hpp and fast-lane",
    ],
)
def test_code_headings_links_and_other_words_stay(text):
    assert linked(text) == text


def test_each_word_of_the_glossary_has_a_place():
    text = (DOCS / "glossary.md").read_text()
    anchored = glossary_links.with_anchors(text)
    words = glossary_links.glossary_of(text)
    assert len(words) > 40
    for word in words:
        assert anchored.count(f'<a id="{glossary_links.anchor_of(word)}"></a>**{word}**') == 1
    assert re.sub(r'<a id="[^"]*"></a>', "", anchored) == text


def test_the_glossary_has_a_word_once():
    rows = re.findall(r"^\| ([^|]+) \|", (DOCS / "glossary.md").read_text(), re.MULTILINE)
    words = [word for word in rows if word not in ("word", "---")]
    assert sorted(words) == sorted(set(words))


def test_the_pages_of_a_copy_are_linked(tmp_path):
    (tmp_path / "formats").mkdir()
    (tmp_path / "glossary.md").write_text("| word | meaning |\n|---|---|\n| **lane** | a `shared` [location](a.md) |\n")
    (tmp_path / "formats" / "a.md").write_text("A lane.\n")
    glossary_links.add_links(tmp_path)
    link = '[lane](../glossary.md#lane "a shared location")'
    assert (tmp_path / "formats" / "a.md").read_text() == f"A {link}.\n"
    assert '| <a id="lane"></a>**lane** | a `shared`' in (tmp_path / "glossary.md").read_text()
