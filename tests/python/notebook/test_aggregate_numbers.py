"""The numbers with which Python folds a cell's spool equal the C++ ones."""

import re
from pathlib import Path

import pytest

pytest.importorskip("IPython")

from timeloom._notebook import _aggregate

pytestmark = pytest.mark.one_python

SOURCES = Path(__file__).resolve().parents[3] / "src"


def enumerators(header, name):
    """Return {"time_base": 1} and so on, for an enumeration with explicit numbers."""
    text = re.sub(r"//.*", "", (SOURCES / header).read_text(encoding="utf-8"))
    (body,) = re.findall(rf"enum class {name} : [\w:]+ \{{(.*?)\}};", text, re.DOTALL)
    found = re.findall(r"\bk(\w+) = (\w+)", body)
    assert len(found) == len([one for one in body.split(",") if one.strip()])
    return {re.sub(r"(?<!^)(?=[A-Z])", "_", one).lower(): int(number) for one, number in found if number.isdigit()}


@pytest.mark.parametrize(("table", "header", "name"), [
    (_aggregate.WORD_KIND, "core/event_word.hpp", "WordKind"),
    (_aggregate.EXTENDED_KIND, "core/event_word.hpp", "ExtendedKind"),
    (_aggregate.IO_OPERATION, "core/io.hpp", "IoOperation"),
    (_aggregate.DEFINITION_KIND, "spool/spool_format.hpp", "DefinitionKind"),
    (_aggregate.PLACE_KIND, "spool/profile_file.hpp", "PlaceKind"),
], ids=["words", "extended", "io", "definitions", "places"])  # fmt: skip
def test_numbers_of_kinds(table, header, name):
    known = enumerators(header, name)
    assert table == {one: known.get(one) for one in table}


def test_widths_of_a_record():
    text = (SOURCES / "core" / "event_word.hpp").read_text(encoding="utf-8")
    widths = dict(re.findall(r"inline constexpr unsigned (k\w+) = (\d+);", text))
    assert (int(widths["kKindBits"]), int(widths["kPayloadBits"])) == (_aggregate.KIND_BITS, _aggregate.PAYLOAD_BITS)
    assert "kNoBytes = UINT64_MAX;" in (SOURCES / "core" / "io.hpp").read_text(encoding="utf-8")
    assert _aggregate.NO_BYTES == 2**64 - 1
