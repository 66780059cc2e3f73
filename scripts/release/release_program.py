"""Runs a program under an installed Timeloom and checks the report to the last visit; scripts/test/test_release.py runs
it where nothing but the package is installed. Prints one line that names the Python and versions used."""

import json
import pathlib
import platform
import subprocess
import sys
import tempfile

import timeloom

PROGRAM = """\
import multiprocessing, sys, threading

def inner():
    pass

def work(count):
    for _ in range(count):
        inner()

class Table:
    def __getitem__(self, key):
        return key

if __name__ == "__main__":
    threads = [threading.Thread(target=work, args=(100,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.map(work, [10, 10, 10])
        pool.close()
        pool.join()
    table = Table()
    for n in range(300):
        table[n]
    print("done")
"""
VISITS = {"__main__.inner": 330, "__main__.work": 6}
# Early patch releases of 3.11 hide these from a frame hook, which is not the default there then.
SUBSCRIPTS = {"__main__.Table.__getitem__": 300}


def command(*words: str, cwd: str) -> str:
    program = pathlib.Path(sys.executable).with_name("timeloom")
    done = subprocess.run([str(program), *words], cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"timeloom {' '.join(words)} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def check(instrumenter: str) -> None:
    with tempfile.TemporaryDirectory() as directory:
        pathlib.Path(directory, "app.py").write_text(PROGRAM)
        said = command("run", "--instrumenter", instrumenter, "-o", "plate", "app.py", cwd=directory)
        assert said == "done\n", said
        for name in ("traces.otf2", "profile.cubex", "MANIFEST.md"):
            assert pathlib.Path(directory, "plate", name).is_file(), name
        report = json.loads(command("report", "--json", "plate", cwd=directory))
        rows = {row["name"]: row["visits"] for row in report["flat"]["rows"]}
        visits = VISITS if instrumenter == "frame" else {**VISITS, **SUBSCRIPTS}
        assert {name: rows.get(name) for name in visits} == visits, rows
        assert (report["processes"], report["losses"]) == (3, []), report
        assert "app.py" in command("report", "plate", cwd=directory)
        command("view", "--html", "plate.html", "plate", cwd=directory)


def native() -> None:
    """Checks that the files for compiling and linking native code exist."""
    config = pathlib.Path(sys.executable).with_name("timeloom-config")
    said = subprocess.run([str(config), "--prefix", "--cmakedir"], check=True, capture_output=True, text=True)
    prefix, cmake = map(pathlib.Path, said.stdout.split())
    assert (prefix / "include" / "timeloom" / "timeloom.h").is_file()
    assert (cmake / "timeloom-config.cmake").is_file()


def main() -> None:
    chosen = ["auto", "frame", "profile", "trace"]
    if sys.version_info >= (3, 12):
        chosen.append("monitoring")
    for instrumenter in chosen:
        check(instrumenter)
    native()
    system = f"{platform.machine()}, {'-'.join(platform.libc_ver())}"
    print(f"passed: Timeloom {timeloom.__version__}, Python {platform.python_version()}, {system}: {', '.join(chosen)}")


if __name__ == "__main__":
    main()
