"""Files of the project that repeat what stands elsewhere: the version, lists of pages, links."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.any_python

ROOT = Path(__file__).resolve().parents[3]


def text(name):
    return (ROOT / name).read_text()


def test_citation_has_the_version_of_the_project():
    (version,) = re.findall(r"^project\(timeloom VERSION ([\d.]+) ", text("CMakeLists.txt"), re.M)
    assert f"\nversion: {version}\n" in text("CITATION.cff")


def test_each_decision_is_listed():
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"\]\(([\w-]+\.md)\)", text("docs/decisions/README.md"))
    assert sorted(listed) == sorted(page.name for page in folder.glob("*.md") if page.name != "README.md")
    for name in listed:
        sections = re.findall(r"^## (.*)$", text(f"docs/decisions/{name}"), re.M)
        assert {"Context", "Choice", "Alternatives that were tried", "When to think again"} <= set(sections), name


@pytest.mark.parametrize("page", ["SECURITY.md", "docs/stability.md", "docs/exit-statuses.md",
                                  *(f"docs/decisions/{page.name}" for page in sorted((ROOT / "docs" / "decisions").glob("*.md")))])
def test_links_lead_to_files(page):
    targets = re.findall(r"\]\(([^)#]+)", text(page))
    missing = [target for target in targets if "://" not in target and not ((ROOT / page).parent / target).exists()]
    assert not missing
