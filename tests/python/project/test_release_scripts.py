"""The scripts that make a release, as far as they take seconds: the contents of a wheel, the recipes, the site's
pages."""

import hashlib
import importlib
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.any_python

ROOT = Path(__file__).resolve().parents[3]
NAME = "timeloom-0.1.0-cp312-cp312-manylinux_2_28_x86_64.whl"
FILES = [
    "timeloom/_core.cpython-312-x86_64-linux-gnu.so",
    "timeloom/lib/libtimeloom.so.0",
    "timeloom/lib/libtimeloom.so",
    "timeloom/include/timeloom/timeloom.h",
    "timeloom/lib/cmake/timeloom/timeloom-config.cmake",
    "timeloom-0.1.0.data/scripts/timeloom-config",
    "timeloom-0.1.0.data/scripts/timeloom",
    "timeloom/bin/timeloom",
    "timeloom.pth",
    "timeloom-0.1.0.dist-info/licenses/LICENSE",
    "timeloom-0.1.0.dist-info/licenses/bundled/otf2.txt",
    "timeloom-0.1.0.dist-info/licenses/bundled/expat.txt",
    "timeloom-0.1.0.dist-info/licenses/bundled/zstd.txt",
    "timeloom-0.1.0.data/data/share/man/man1/timeloom.1",
    "timeloom-0.1.0.data/data/share/bash-completion/completions/timeloom",
]

MISSING = "the package timeloom is not where it was installed; install it again [TL603]"


def make_program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def script(monkeypatch):
    """Imports a module of scripts/, as they import each other."""
    monkeypatch.syspath_prepend(str(ROOT))
    before = set(sys.modules)
    yield lambda name: importlib.import_module(f"scripts.{name}")
    for name in set(sys.modules) - before:
        if name.partition(".")[0] == "scripts":  # also folders without __init__.py, which have no file
            del sys.modules[name]


@pytest.fixture
def wheel(tmp_path):
    def make(files, name=NAME, **contents):
        path = tmp_path / name
        with zipfile.ZipFile(path, "w") as archive:
            for file in files:
                archive.writestr(file, contents.get(Path(file).name, b""))
        return path

    return make


def test_a_whole_wheel_has_no_problems(script, wheel):
    assert script("release.check_wheel").problems(wheel(FILES)) == []


@pytest.mark.parametrize("missing", FILES)
def test_what_a_wheel_lacks_is_said(script, wheel, missing):
    (line,) = script("release.check_wheel").problems(wheel([name for name in FILES if name != missing]))
    assert line.startswith("lacks ")


def test_a_library_that_auditwheel_has_renamed_is_said(script, wheel):
    renamed = "timeloom.libs/libtimeloom-1234.so.0"
    assert script("release.check_wheel").problems(wheel([*FILES, renamed])) == [f"has {renamed}, which auditwheel put there"]


def test_a_wheel_without_a_tag_of_manylinux_is_refused(script, wheel):
    with pytest.raises(ValueError, match="no tag of manylinux"):
        script("release.check_wheel").problems(wheel(FILES, NAME.replace("manylinux_2_28", "linux")))


def test_a_program_for_a_newer_system_is_said(script, wheel):
    """The machine's own is for its own glibc and, here, for another processor."""
    contents = {"timeloom": Path(shutil.which("ls")).read_bytes()}
    old = NAME.replace("2_28_x86_64", "2_5_x86_64")
    lines = script("release.check_wheel").problems(wheel(FILES, old, **contents))
    assert any(re.fullmatch(r"timeloom/bin/timeloom needs glibc [\d.]+", line) for line in lines)
    other = NAME.replace("x86_64", "aarch64") if b"x86-64" in contents["timeloom"] else NAME
    if other != NAME:
        assert "timeloom/bin/timeloom is not for aarch64" in script("release.check_wheel").problems(wheel(FILES, other, **contents))


def test_recipes_are_filled_in(script, tmp_path, monkeypatch):
    recipes = script("release.recipes")
    monkeypatch.setattr(recipes, "RECIPES", tmp_path / "recipes")
    sdist = tmp_path / "timeloom-9.8.7.tar.gz"
    sdist.write_bytes(b"sdist")
    written = recipes.filled("9.8.7", sdist)
    names = [str(path.relative_to(tmp_path / "recipes")) for path in written]
    assert names == ["conda/recipe.yaml", "easybuild/timeloom-9.8.7-gfbf-2024a.eb", "spack/py_timeloom/package.py"]
    for path in written:
        text = path.read_text()
        assert hashlib.sha256(b"sdist").hexdigest() in text and "9.8.7" in text
        assert "@VERSION@" not in text and "@SHA256@" not in text


def test_the_version_is_in_one_place(script):
    version = script("release.release_tools").version()
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    for place in ("packaging", "share", "pyproject.toml"):
        files = [ROOT / place] if (ROOT / place).is_file() else [path for path in (ROOT / place).rglob("*") if path.is_file()]
        # The source of another project (scripts/release/release.py).
        texts = [path.read_text() for path in files if ".tar" not in path.suffixes]
        assert [text for text in texts if version in text] == []


def test_every_page_is_in_the_site(script):
    navigation = script("pages.docs").navigation((ROOT / "docs" / "README.md").read_text())
    listed = re.findall(r"([\w/-]+\.md)$", navigation, re.MULTILINE)
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(listed) == sorted(pages)


@pytest.mark.parametrize("text, expected", [
    ("[file](../src/a.cpp)", "file (`src/a.cpp`)"),
    ("[a.cpp](../src/a.cpp#L1)", "a.cpp"),
    ("[page](run.md#x)", "[page](run.md#x)"),
    ("[code](../../src/a.cpp) and [up](../run.md)", "code (`src/a.cpp`) and [up](../run.md)"),
])  # fmt: skip
def test_files_that_are_no_pages_are_named(script, text, expected):
    folder = "formats" if "../.." in text else ""
    assert script("pages.docs").without_links_outside(text, folder) == expected


@pytest.mark.parametrize("flag", ["", "t"])
@pytest.mark.parametrize("package", ["lib/python3.12{}/site-packages", "lib64/python3.12{}/site-packages", "lib/python3.12{}/dist-packages", ""])
def test_the_script_of_a_wheel_becomes_the_program(tmp_path, package, flag):
    """In environments, on systems, with pip install --target; also through a link."""
    template = (ROOT / "src" / "python" / "launch" / "timeloom-command.in").read_text()
    text = template.replace("@Python_VERSION_MAJOR@", "3").replace("@Python_VERSION_MINOR@", "12").replace("@TIMELOOM_PYTHON_ABI_FLAG@", flag)
    script = make_program(tmp_path / "a b" / "bin" / "timeloom", text)
    (tmp_path / "link").symlink_to(script)
    done = subprocess.run([script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, f"timeloom: {MISSING}\n")
    for other in ("python3.13", "python3.12" if flag else "python3.12t"):
        wrong = tmp_path / "a b" / "lib" / other / "site-packages/timeloom/bin/timeloom"
        make_program(wrong, "#!/bin/sh\necho wrong\n")
    make_program(tmp_path / "a b" / package.format(flag) / "timeloom/bin/timeloom", '#!/bin/sh\nprintf "%s|" "$@"\nexit 7\n')
    for path in (script, tmp_path / "link"):
        done = subprocess.run([path, "run", "a b", ""], capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (7, "run|a b||", "")
