"""A notebook in JupyterLab, in Chromium: a kernel is selected, cells are measured, and their blocks are checked."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jupyterlab")
pytest.importorskip("playwright")

from lab import BROWSER, CONTRAST, PICTURES, Lab, Page, write_notebook
from notebooks import DEADLINE, KERNEL, environment, make_spec
from playwright import sync_api

pytestmark = [pytest.mark.notebook_suite, pytest.mark.timeout(900)]
READABLE = 4.5  # the contrast that WCAG requires
CELLS = [
    "import threading\n\n\ndef relax(row):\n    new = list(row)\n    for i in range(1, len(row) - 1):\n"
    "        new[i] = (row[i - 1] + row[i + 1]) / 2\n    return new\n\n\n"
    "def settle(row, steps):\n    for _ in range(steps):\n        row = relax(row)\n    return row",
    "%%timeloom\nhalf = threading.Thread(target=settle, args=([1.0] * 2000, 40), name='half')\n"
    "half.start()\nplate = settle([0.0] * 3000 + [100.0], steps=100)\nhalf.join()\nlen(plate)",
    "%timeloom view",
    "def f(): pass\ndef many(n):\n    for _ in range(n): f()",
    "%%timeloom\nmany(60_000)",
]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    if BROWSER is None:
        pytest.skip("chromium is not installed, and TIMELOOM_CHROMIUM names no browser")
    lab = Lab(tmp_path_factory.mktemp("jupyter"), tmp_path_factory.mktemp("root"))
    yield lab
    lab.close()


@pytest.fixture(scope="module")
def browser(lab):
    with sync_api.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_notebook(lab, browser, request):
    """Opens a notebook and selects the kernel for it."""
    pages = []

    def opened(theme="JupyterLab Light", cells=CELLS):
        lab.set("themes", theme=theme)
        name = f"{request.node.callspec.id if hasattr(request.node, 'callspec') else request.node.name}.ipynb"
        write_notebook(lab.root / name, cells)
        pages.append(Page(browser.new_page(viewport={"width": 1240, "height": 1280}), lab, name))
        pages[-1].choose_kernel()
        return pages[-1]

    yield opened
    for page in pages:
        assert page.complaints == []
        page.page.close()


def picture(page, name):
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / name)


def check_block(block):
    """For the second cell: counts, pictures, colours, and the parts that open with a click."""
    row = block.locator("tr", has_text="__main__.relax")
    assert row.locator("td").first.inner_text() == "140"
    assert "In[1]:4" in row.inner_text()
    images = block.locator("img")
    assert images.evaluate_all("images => images.map(image => image.complete && image.naturalWidth > 900)") == [True, True]
    for element in (block.locator("b").first, row.locator("code"), row.locator("span"), block.locator("summary").first):
        assert element.evaluate(CONTRAST) > READABLE, element.inner_text()
    block.locator("summary", has_text="call tree").click()
    assert "__main__.settle" in block.locator("pre").inner_text()
    block.locator("summary", has_text="call tree").click()


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_the_block_of_a_measured_cell(open_notebook, theme):
    page = open_notebook(theme)
    page.run(0)
    output = page.run(1)
    check_block(output.locator(".jp-RenderedHTML").first)
    assert output.locator(".jp-OutputArea-executeResult").inner_text().endswith("3001")
    picture(page.page.locator("#jp-main-dock-panel"), f"{theme.lower().replace(' ', '-')}.png")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_block_in_a_page_of_nbconvert(browser, tmp_path, theme):
    make_spec(tmp_path)
    write_notebook(tmp_path / "cells.ipynb", CELLS[:2])
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--execute", f"--HTMLExporter.theme={theme}",
               f"--ExecutePreprocessor.kernel_name={KERNEL}", "cells.ipynb"]  # fmt: skip
    subprocess.run(command, cwd=tmp_path, env=environment(tmp_path), check=True, capture_output=True, timeout=4 * DEADLINE)
    page = browser.new_page(viewport={"width": 1040, "height": 1000})
    page.route("http*://**", lambda route: route.abort())  # a page without a network
    page.goto((tmp_path / "cells.html").as_uri())
    block = page.locator(".jp-RenderedHTML", has_text="__main__.relax").first
    check_block(block)
    block.scroll_into_view_if_needed()
    picture(page, f"nbconvert-{theme}.png")
    page.close()


def test_the_timeline_in_a_frame(open_notebook):
    page = open_notebook()
    page.run(0)
    page.run(1)
    frame = page.run(2).locator("iframe")
    frame.scroll_into_view_if_needed()  # else the browser draws nothing in it
    inside = frame.content_frame
    inside.locator("canvas").first.wait_for()
    assert "src" not in frame.evaluate("frame => frame.getAttributeNames()")
    inside.get_by_text("half").first.wait_for()


def test_a_block_that_is_completed_when_its_run_is_woven(open_notebook):
    page = open_notebook()
    page.run(3)
    block = page.run(4).locator(".jp-RenderedHTML").first
    block.locator("tr", has_text="__main__.f").wait_for()  # no other cell is run
    assert block.locator("tr", has_text="60,000").count() == 1


def test_a_saved_notebook_shows_its_blocks_again(open_notebook, lab, browser):
    """A page that does not trust the notebook shows them, too."""
    page = open_notebook()
    page.run(0)
    page.run(1)
    page.page.keyboard.press("Escape")
    page.page.keyboard.press("Control+s")
    page.page.locator(".jp-mod-dirty").wait_for(state="detached")
    name = "test_a_saved_notebook_shows_its_blocks_again.ipynb"
    text = (lab.root / name).read_text()
    assert len(text) < 200_000 and "__main__.relax" in text
    (lab.root / "copy.ipynb").write_text(text.replace('"trusted": true', '"trusted": false'))
    copy = Page(browser.new_page(viewport={"width": 1240, "height": 1280}), lab, "copy.ipynb")
    check_block(copy.cell(1).locator(".jp-RenderedHTML").first)
    copy.page.close()
    assert copy.complaints == []
