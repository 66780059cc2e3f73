"""Manual pages and completion: up to date, complete, and working in bash."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.any_python

ROOT = Path(__file__).resolve().parents[3]
SHARE = ROOT / "share"
BASH = SHARE / "bash-completion" / "completions" / "timeloom"


@pytest.fixture(scope="module")
def described(timeloom_program):
    """The commands as in the script, including one that is described in its help only."""
    from scripts.pages import command_pages

    return command_pages.described(timeloom_program)


def help_of(program, command) -> str:
    return subprocess.run([program, command, "--help"], check=True, capture_output=True, text=True).stdout


def test_they_are_up_to_date(timeloom_program):
    command = [sys.executable, "-m", "scripts.pages.command_pages", timeloom_program, "--check"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_every_command_and_option_of_the_help_is_described(timeloom_program, described):
    program_help = subprocess.run([timeloom_program, "--help"], check=True, capture_output=True, text=True).stdout
    listed = [line.split()[0] for line in re.split(r"(?im)^(?:sub)?commands:", program_help)[1].splitlines() if re.match(r"  \S", line)]
    assert [one["name"] for one in described["commands"]] == listed and len(listed) >= 9
    for command in described["commands"]:
        # CLI11 writes "  -o,--output" or (2.6) "  -o,     --output"; help that is continued stands further right.
        lines = re.findall(r"(?m)^ {2,8}(-[^\s,]+(?:,\s*-[^\s,]+)*)", help_of(timeloom_program, command["name"]))
        shown = {name for line in lines for name in re.findall(r"(?<![\w-])--?[a-z][\w-]*", line)}
        known = {name for option in command["options"] for name in option["names"]}
        assert shown - {"-h", "-V", "--help", "--version"} <= known and len(shown) >= 2


def test_every_option_is_in_every_file(described):
    zsh = (SHARE / "zsh" / "site-functions" / "_timeloom").read_text()
    fish = (SHARE / "fish" / "vendor_completions.d" / "timeloom.fish").read_text()
    for command in described["commands"]:
        page = (SHARE / "man" / "man1" / f"timeloom-{command['name']}.1").read_text().replace("\\-", "-")
        for name in (name for option in command["options"] for name in option["names"]):
            assert f"\\fB{name}\\fR" in page
            assert f"*{name}" in zsh
            letter = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
            assert f"__fish_seen_subcommand_from {command['name']}' {letter} " in fish


DOORS = [
    "scorep", "scorep-python", "omnitrace-python", "rocprof-sys-python", "timeloom-config",
    "scorep-score", "scorep-info", "scorep-config", "scorep-preload-init",
]  # fmt: skip


def help_of_door(program, door) -> str:
    return subprocess.run([Path(program).parent / door, "--help"], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("door", DOORS)
def test_every_option_of_another_door_is_in_its_files(timeloom_program, door):
    lines = [line for line in help_of_door(timeloom_program, door).splitlines() if line.startswith("  -")]
    names = {name for line in lines for name in re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", line[2:].split("  ")[0])}
    assert len(names) >= 2
    page = (SHARE / "man" / "man1" / f"{door}.1").read_text().replace("\\-", "-")
    options = re.search("options='(.*)'", (SHARE / "bash-completion" / "completions" / door).read_text())[1].split()
    zsh = (SHARE / "zsh" / "site-functions" / f"_{door}").read_text()
    fish = (SHARE / "fish" / "vendor_completions.d" / f"{door}.fish").read_text()
    assert set(options) == names
    for name in names:
        assert f"\\fB{name}\\fR" in page
        assert f"'*{name}" in zsh
        assert re.search(f"complete -c {door} -[lso] {name.lstrip('-')} ", fish)


def test_the_installation_of_the_kernel_has_a_page():
    page = (SHARE / "man" / "man1" / "timeloom_kernel.install.1").read_text().replace("\\-", "-")
    for name in ("--sys-prefix", "--prefix", "--env", "--io", "--mpi", "--thread"):
        assert f"\\fB{name}\\fR" in page


def completed(*words: str) -> list[str]:
    """Return bash's completions of the last word; "=" is a separate word there."""
    line = " ".join(f"'{word}'" for word in words)
    function = "_" + words[0].replace("-", "_")
    script = f"source {BASH.parent / words[0]}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; {function}; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "--norc", "-c", script], check=True, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize("words, expected", [
    (["timeloom", "rep"], ["report"]),
    (["timeloom", "report", "--sl"], ["--slowest"]),
    (["timeloom", "report", "--by", "f"], ["file"]),
    (["timeloom", "report", "--by", "=", "f"], ["file"]),
    (["timeloom", "report", "--by", "="], ["file", "host", "module", "package", "process", "task", "thread", "worker"]),
    (["timeloom", "report", "--function", "--f"], []),
    (["timeloom", "run", "--follow", ""], ["workers", "all", "none"]),
    (["timeloom", "run", "--no-wai"], ["--no-waiting"]),
    (["timeloom", "run", "-o", "plate", "--prof"], ["--profile", "--profile-depth"]),
    (["timeloom", "run", "app.py", "--prof"], []),
    (["timeloom", "run", "-m", "app", "--prof"], []),
    (["omnitrace-python", "-c", "a.cfg", "--tr"], ["--trace-c"]),
    (["omnitrace-python", "-F", "--tr"], ["--trace-c"]),
    (["omnitrace-python", "-F", "app.py", "--tr"], []),
    (["rocprof-sys-python", "--label", "l"], ["line"]),
    (["scorep-python", "--instrumenter-type", "=", "tr"], ["trace"]),
    (["scorep-python", "-c", "print(1)", "--keep"], []),
    (["scorep", "--v"], ["--version"]),
    (["scorep-config", "--mg"], ["--mgmt-libs"]),
    (["scorep-preload-init", "--val"], ["--value-only"]),
    (["timeloom-config", "--cflags", "--l"], ["--libs"]),
])  # fmt: skip
def test_bash_completes(words, expected):
    assert [word for word in completed(*words) if word != "--no-profile"] == expected


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_takes_its_file():
    subprocess.run(["zsh", "-n", str(SHARE / "zsh" / "site-functions" / "_timeloom")], check=True)


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_takes_its_file():
    subprocess.run(["fish", "--no-execute", str(SHARE / "fish" / "vendor_completions.d" / "timeloom.fish")], check=True)


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
@pytest.mark.parametrize("page", sorted((SHARE / "man" / "man1").glob("*.1")), ids=lambda path: path.name)
def test_roff_has_no_complaint(page):
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", str(page)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "N\x08NA\x08A" in done.stdout  # a heading in bold
