"""Runs of a very deep recursion, given to every command and format.

No command may crash, hang, take much memory, or write output that grows with the square of the depth.
"""

import pathlib
import shutil
import time

from scripts.trials import connections, world

DEPTHS = [100_000, 400_000]
MEMORY = 4 << 30  # bytes of address space, with all mappings
MOST = 5000  # bytes for each call of the recursion; quadratic output has tens of thousands

PROGRAM = """
import sys

def even(n):
    return odd(n - 1) if n else 0

def odd(n):
    return even(n - 1)

depth = int(sys.argv[1])
sys.setrecursionlimit(depth + 100)
assert even(depth) == 0
"""
RUNS = {  # by their names
    "run": [], "again": [], "profile": ["--profile"], "unfinished": ["--no-weave"],
    "folded": ["--profile", "--no-weave"],
    "ring": ["--max-size", "8M", "--at-max-size", "ring"], "traced": ["--instrumenter", "trace"],
    "profiled": ["--instrumenter", "profile", "--c-functions"], "scorep": ["--layout", "scorep"],
}  # fmt: skip
OUT = "out"  # a command's output
# The commands; the words run, again, profile and so on are names in RUNS.
COMMANDS = f"""
report run | report --full run | report --tree run | report --json run | report --csv run | report --by thread run
report --slowest run | report --function __main__.even run | report --compensate run | report ring | report scorep
report traced | report profiled | info --json run | info profile | score -r run | score -r profile | report profile
report --json profile | check run visits(*)>=0 | diff run again | diff --json run again | diff --tree run profile
view --text run | view --html {OUT} run | weave unfinished | weave folded
convert run --to perfetto -o {OUT} | convert run --to chrome -o {OUT} | convert run --to speedscope -o {OUT}
convert run --to speedscope --paths -o {OUT} | convert run --to firefox -o {OUT} | convert run --to collapsed -o {OUT}
convert run --to collapsed --before again -o {OUT} | convert run --to pprof -o {OUT} | convert run --to pstats -o {OUT}
convert run --to callgrind -o {OUT} | convert run --to csv -o {OUT} | convert run --to csv --events -o {OUT}
convert run --to json -o {OUT} | convert run --to json --flat -o {OUT} | convert run --to arrow -o {OUT}
convert run --to omnitrace -o {OUT} | convert profile --to collapsed -o {OUT} | convert profile --to json -o {OUT}
"""


def size_of(path: pathlib.Path) -> int:
    """Bytes of a file, or of everything in a directory."""
    files = [path, *path.rglob("*")] if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def record(place: pathlib.Path, depth: int) -> None:
    for name, options in RUNS.items():
        words = [world.TIMELOOM, "run", "--quiet", *options, "-o", name, "app.py", str(depth)]
        world.checked(words, place, memory=MEMORY, cwd=place)
        check_size(" ".join(words), size_of(place / name), depth)


def check_size(command: str, size: int, depth: int) -> None:
    if size > MOST * depth:
        raise world.Fallen(f"{command}: wrote {size:,} bytes of a recursion {depth:,} deep")


def try_commands(place: pathlib.Path, depth: int) -> int:
    """Returns the number of commands."""
    commands = [line.split() for line in COMMANDS.strip().replace("\n", " | ").split(" | ")]
    out = place / OUT
    for words in commands:
        done = world.checked([world.TIMELOOM, *words], place, memory=MEMORY, cwd=place)
        check_size(" ".join(words), len(done.output) + len(done.errors) + (size_of(out) if out.exists() else 0), depth)
        if out.is_dir():
            shutil.rmtree(out)
        out.unlink(missing_ok=True)
    return len(commands)


def try_view(place: pathlib.Path) -> None:
    """The server answers while it reads the run, and afterwards."""
    with connections.Server(place / "run", place) as server:
        while b'"indexing"' in server.ask("POST", "/api/progress", token=server.token)[1]:
            time.sleep(0.1)
        for name in ("run", "paths"):
            status, body = server.ask("POST", f"/api/{name}", token=server.token)
            if status != 200:
                raise world.Fallen(f"timeloom view answers {name} with {status}: {body[:200]!r}")
        server.interrupt()


def attack(place: pathlib.Path, seconds: float, seed: int) -> str:
    begin, commands, deepest = time.monotonic(), 0, 0
    for depth in DEPTHS:
        if deepest and (time.monotonic() - begin) * depth / deepest > seconds:
            break
        deep = place / str(depth)
        deep.mkdir()
        (deep / "app.py").write_text(PROGRAM)
        record(deep, depth)
        commands += len(RUNS) + try_commands(deep, depth) + 1
        try_view(deep)
        deepest = depth
        shutil.rmtree(deep)
    return f"{commands} commands, {deepest:,} calls deep"
