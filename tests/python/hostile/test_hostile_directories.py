"""An attacker who may write in or above the directory of a run cannot redirect any written data to a file of the
user."""

import os
import subprocess
import sys
import time

import pytest

import timeloom_follow

pytestmark = pytest.mark.any_python

STRANGER = 54321  # the number of another user
NAMES = [
    "settings", "defs", "log", "log-1", "ring", "life", "unmeasured", "workers", "profile-0", "job", "running", "result",
    "scorep.cfg", "MANIFEST.md", "traces.otf2", "traces.def", "profile.cubex", "view.timeloom", ".view.timeloom",
    "view.json", "probe", "scorep.filter", "spool/settings", "spool/defs", "spool/unmeasured", "spool/job",
    "spool/1-0/defs", "spool/1-0/life", "converted/result", "traces/0.evt",
]  # fmt: skip

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser gives directories to another user")


class Outside:
    """Files of the user with the names that runs have, outside of any run."""

    def __init__(self, directory):
        self.path = directory
        for name in NAMES:
            file = directory / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{name} of the user")
            os.utime(file, (1, 1))
        self.before = self.state()

    def state(self):
        return {
            (path.relative_to(self.path).as_posix(), path.is_dir() or (path.read_bytes(), path.stat().st_mtime))
            for path in self.path.rglob("*")
        }

    def check(self, what=""):
        assert self.state() == self.before, what


@pytest.fixture
def outside(tmp_path):
    return Outside(tmp_path / "outside")


# The program itself is the attacker, so that each swap happens at one moment of the run.
PROGRAM = """
import os, subprocess, sys

kind, outside = sys.argv[1:]
spool = os.environ["TIMELOOM_PARENT"]
spools = os.path.dirname(spool)
run = os.path.dirname(spools)

def make_link(target, path):
    if os.path.lexists(path):
        os.rename(path, path + ".away")
    (os.link if kind == "hard" else os.symlink)(target, path)

if kind in ("hard", "soft"):
    for directory in (spool, spools, run):
        for name in ("settings", "defs", "log", "log-1", "ring", "life", "unmeasured", "workers", "profile-0", "probe",
                     "running", "MANIFEST.md", "scorep.cfg", "traces.otf2", "profile.cubex", "traces.def"):
            make_link(os.path.join(outside, name), os.path.join(directory, name))
else:
    make_link(os.path.join(outside, "spool" if kind == "spools" else ""), {"own": spool, "spools": spools, "run": run}[kind])

def work():
    return sum(range(1000))

work()
child = os.fork()
if child == 0:
    work()
    sys.exit(0)
os.waitpid(child, 0)
for words in (["-c", "pass"], ["-c", "pass", "--multiprocessing-fork"]):
    subprocess.run([sys.executable, *words], check=True)
print("done")
"""


@pytest.mark.parametrize("kind", ["hard", "soft", "own", "spools", "run"])
def test_links_in_the_place_of_files_and_directories_lead_nowhere(kind, timeloom, tmp_path, outside):
    (tmp_path / "app.py").write_text(PROGRAM)
    for options in ([], ["--profile", "--max-size", "16M"]):
        run = tmp_path / f"run{len(options)}"
        done = timeloom("run", "-o", run, *options, "app.py", kind, outside.path, cwd=tmp_path)
        assert done.stdout == "done\n", done.stderr
        outside.check(done.stderr)


# Replaces entries of the run, and the run itself, by links, and removes them again, at any time.
ATTACKER = """
import os, random, sys, time

base, outside, seed = sys.argv[1:]
chance = random.Random(int(seed))
names = [os.path.relpath(os.path.join(path, name), outside) for path, _, files in os.walk(outside) for name in files]

def swap(path):
    if not os.path.realpath(os.path.dirname(path)).startswith(base):
        return  # a link of this attack leads there
    hidden = os.path.join(base, f"away-{chance.random()}")
    target = os.path.join(outside, os.path.basename(path))
    if not os.path.lexists(target):
        target = os.path.join(outside, chance.choice(names))
    try:
        is_directory = os.path.isdir(path) and not os.path.islink(path)
        if os.path.lexists(path):
            os.rename(path, hidden)
        if is_directory:
            os.symlink(chance.choice([outside, os.path.join(outside, "spool")]), path)
        else:
            chance.choice([os.symlink, os.link])(target, path)
        time.sleep(chance.choice([0, 0, 0.0005, 0.005]))
        if path == run or chance.random() < 0.9:
            os.unlink(path)
            os.rename(hidden, path)
    except OSError:
        pass

base = os.path.realpath(base)
run = os.path.join(base, "run")
print("ready", flush=True)
while int(seed) % 4 and not os.path.exists(os.path.join(run, "spool")):
    pass  # mostly when the program is about to begin
while True:
    paths = [run]
    for path, directories, files in os.walk(run):
        planted = ["settings", "life", "defs", "log-1"] if path != run else []
        paths += [os.path.join(path, name) for name in directories + files + planted]
        directories[:] = [name for name in directories if name != ".weaving"]  # no other user may enter it
    swap(chance.choice(paths))
    time.sleep(chance.choice([0, 0.001, 0.01]))
"""

TARGET = """
import os, subprocess, sys, time
for i in range(3):
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    time.sleep(0.01)
subprocess.run([sys.executable, "-c", "pass", "--multiprocessing-fork"], check=True)
print("done")
"""


@pytest.mark.race
def test_races_for_links_are_lost(program, tmp_path, outside):
    """An attacker who may do everything in the directory of the run, and above it."""
    (tmp_path / "app.py").write_text(TARGET)
    (tmp_path / "attacker.py").write_text(ATTACKER)
    shared = tmp_path / "shared"
    seed = int(time.time())
    for number in range(4):
        base = shared / str(number)
        (base / "run").mkdir(parents=True)
        if os.geteuid() == 0 and number % 2 == 0:
            for directory in (base, base / "run"):
                os.chown(directory, STRANGER, STRANGER)
        words = [sys.executable, "attacker.py", str(base), str(outside.path), str(seed + number)]
        with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE) as attacker:
            assert attacker.stdout.readline() == b"ready\n"
            try:
                done = subprocess.run([program, "run", "--force", "-o", base / "run", "app.py"], cwd=tmp_path,
                                      capture_output=True, text=True, timeout=60)  # fmt: skip
            finally:
                attacker.kill()
        assert done.returncode in (0, 1, 2), done.stderr  # the attacker may cause a refusal
        outside.check(f"seed {seed + number}: {done.stderr}")


def run_in(timeloom, run, *options, status=0, **more):
    return timeloom("run", "-o", run, *options, "app.py", status=status, **more)


@as_root
@pytest.mark.parametrize("door", ["run", "program", "block"])
def test_a_directory_of_another_user_needs_force(door, timeloom, timeloom_program, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    os.chown(run, STRANGER, STRANGER)
    (tmp_path / "app.py").write_text("print('done')\n")
    block = "import timeloom, sys\nwith timeloom.Measurement(output='run', force=sys.argv[1:] == ['--force']): pass\nprint('done')\n"
    (tmp_path / "block.py").write_text(block)

    def start(*options):
        command = {
            "run": [timeloom_program, "run", "--quiet", "-o", "run", *options, "app.py"],
            "program": [timeloom_program, "run", "--quiet", "-o", "run", *options, "--program", "/bin/echo", "done"],
            "block": [sys.executable, "block.py", *options],
        }[door]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)

    who = f"{run} belongs to user {STRANGER}, who can change the run"
    refused = start()
    assert refused.returncode != 0
    assert refused.stderr.splitlines()[-1].endswith(f"{who}; allow it with --force or choose another with --output [TL229]")
    assert list(run.iterdir()) == []
    allowed = start("--force")
    assert (allowed.returncode, allowed.stdout) == (0, "done\n"), allowed.stderr
    assert f"timeloom: {who} [TL229]" in allowed.stderr.splitlines()
    assert run.stat().st_uid == STRANGER


def test_a_directory_that_all_may_change_needs_force(timeloom, tmp_path):
    (tmp_path / "app.py").write_text("print('done')\n")
    run = tmp_path / "run"
    run.mkdir()
    run.chmod(0o777)
    refused = run_in(timeloom, run, "--quiet", status=2, cwd=tmp_path)
    who = f"{run} lets every user change the run"
    assert refused.stderr == f"timeloom: {who}; allow it with --force or choose another with --output [TL229]\n"
    allowed = run_in(timeloom, run, "--quiet", "--force", cwd=tmp_path)
    assert (allowed.stdout, allowed.stderr) == ("done\n", f"timeloom: {who} [TL229]\n")
    # In one of them users may change only their own entries; the other is created here.
    sticky, made = tmp_path / "sticky", tmp_path / "made"
    sticky.mkdir()
    sticky.chmod(0o1777)
    before = os.umask(0)
    try:
        for directory in (sticky, made):
            assert run_in(timeloom, directory, "--quiet", cwd=tmp_path).stderr == ""
        assert timeloom("run", "--quiet", "app.py", cwd=tmp_path).stderr == ""
    finally:
        os.umask(before)


@as_root
def test_a_link_of_another_user_is_not_followed(timeloom, tmp_path, outside):
    (tmp_path / "app.py").write_text("print('done')\n")
    (tmp_path / "own").mkdir()
    link = tmp_path / "run"
    link.symlink_to("own")
    assert run_in(timeloom, link, "--quiet", cwd=tmp_path).stderr == ""  # this user's link is followed
    link.unlink()
    link.symlink_to("own")
    os.chown(link, STRANGER, STRANGER, follow_symlinks=False)
    before = Outside.state(type("Own", (), {"path": tmp_path / "own"}))
    refused = run_in(timeloom, link, "--quiet", "--force", status=2, cwd=tmp_path)
    assert refused.stderr == f"timeloom: {link} is a link of another user; choose another with --output [TL221]\n"
    assert Outside.state(type("Own", (), {"path": tmp_path / "own"})) == before
    table = tmp_path / "table.csv"
    table.symlink_to(outside.path / "settings")
    os.chown(table, STRANGER, STRANGER, follow_symlinks=False)
    refused = timeloom("convert", tmp_path / "own", "--to", "csv", "-o", table, "--force", status=1)
    assert f"{table} is a link of another user; name another file with -o FILE [TL304]" in refused.stderr
    outside.check()


@as_root
def test_an_archive_is_not_written_where_another_user_leads(timeloom, tmp_path, outside):
    (tmp_path / "app.py").write_text("print('done')\n")
    run_in(timeloom, tmp_path / "run", "--quiet", cwd=tmp_path)
    free, own = tmp_path / "free", tmp_path / "own"
    free.mkdir()
    own.symlink_to("free")  # this user's link is followed
    timeloom("convert", tmp_path / "run", "--to", "otf2", "-o", own)
    names = sorted(path.name for path in free.iterdir())
    assert names == ["traces", "traces.def", "traces.otf2"]
    link = tmp_path / "link"
    link.symlink_to(outside.path)
    os.chown(link, STRANGER, STRANGER, follow_symlinks=False)
    for output in (link, link / "new"):
        refused = timeloom("convert", tmp_path / "run", "--to", "otf2", "-o", output, status=1)
        assert refused.stderr == f"timeloom: {link} is a link of another user; name another directory [TL304]\n"
    refused = timeloom("view", "--socket", link / "socket", tmp_path / "run", status=1)
    assert refused.stderr == f"timeloom: {link} is a link of another user; name another socket [TL304]\n"
    outside.check()
    # In it the other user can put links in the place of files at any time.
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    os.chown(theirs, STRANGER, STRANGER)
    refused = timeloom("convert", tmp_path / "run", "--to", "otf2", "-o", theirs, status=1)
    why = "it belongs to another user; name another one with -o [TL485]"
    assert refused.stderr == f"timeloom: cannot make the directory {theirs}: {why}\n"
    assert list(theirs.iterdir()) == []


def test_an_archive_takes_the_place_of_no_file(timeloom, tmp_path, outside):
    (tmp_path / "app.py").write_text("print('done')\n")
    run_in(timeloom, tmp_path / "run", "--quiet", cwd=tmp_path)
    timeloom("convert", tmp_path / "run", "--to", "otf2", "-o", tmp_path / "new" / "", cwd=tmp_path)
    refused = timeloom("convert", tmp_path / "run", "--to", "otf2", "-o", outside.path, status=1)
    assert refused.stderr.endswith(": it has files already; name another one with -o [TL485]\n")
    outside.check()
    left = tmp_path / "left"
    (left / ".weaving").mkdir(parents=True)  # of a conversion that was killed
    timeloom("convert", tmp_path / "run", "--to", "otf2", "-o", left)
    assert sorted(path.name for path in left.iterdir()) == ["traces", "traces.def", "traces.otf2"]


@pytest.mark.parametrize("device, number, boot, counted", [
    (0, 0, 0, True), (0, 1, 0, False), (1, 0, 0, False), (1, 0, 1, True), (0, 0, 1, True), (1, 1, 1, False),
])
def test_the_device_of_a_run_counts_where_it_was_told(monkeypatch, tmp_path, device, number, boot, counted):
    """Given: the difference to the real one; a device of 0 comes from another machine."""
    spool = tmp_path / "spool" / "host-1-2-0"
    spool.mkdir(parents=True)
    status = os.stat(tmp_path)
    with open("/proc/sys/kernel/random/boot_id") as file:
        here = int(file.read().replace("-", ""), 16)
    told = (status.st_dev + device, status.st_ino + number, here >> 64, (here & ((1 << 64) - 1)) ^ boot)
    for numbers in (told, (0, *told[1:])) if device == 0 else (told,):
        monkeypatch.setenv("TIMELOOM_RUN_ID", "-".join(f"{part:x}" for part in numbers))
        timeloom_follow.note_unmeasured(str(spool))
    written = b"." * (2 if device == 0 else 1) if counted else b""
    file = tmp_path / "spool" / "unmeasured"
    assert (file.read_bytes() if file.exists() else b"") == written


@as_root
@pytest.mark.parametrize("door", ["convert", "omnitrace"])
def test_files_of_omnitrace_go_through_no_link_of_another_user(door, timeloom, tmp_path, outside):
    here = tmp_path / "here"
    here.mkdir()
    (here / "app.py").write_text("print('done')\n")
    link = here / "files"
    link.symlink_to(outside.path)
    os.chown(link, STRANGER, STRANGER, follow_symlinks=False)
    if door == "convert":
        timeloom("run", "--quiet", "-o", "run", "app.py", cwd=here)
        said = timeloom("convert", "run", "--to", "omnitrace", "-o", "files", cwd=here).stderr
    else:
        words = [sys.executable, "-m", "omnitrace", "--", "app.py"]
        variables = {"OMNITRACE_OUTPUT_PATH": "files/below", "OMNITRACE_TIME_OUTPUT": "OFF"}
        done = subprocess.run(words, cwd=here, env={**os.environ, **variables}, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
        said = done.stderr
    outside.check(said)
    assert ": files is a link of another user; the files go to ./ [TL721]" in said
    assert [path.name.rpartition("-")[0] for path in here.glob("perfetto-trace*")] == ["perfetto-trace"]
    # A link of this user is followed.
    (tmp_path / "own").mkdir()
    (here / "own").symlink_to("../own")
    if door == "convert":
        timeloom("convert", "run", "--to", "omnitrace", "-o", "own/", cwd=here)
        assert [path.name.rpartition("-")[0] for path in (tmp_path / "own").glob("functions*")] == ["functions"]


@as_root
@pytest.mark.parametrize("path", [".", "elsewhere"])
def test_a_link_of_another_user_in_the_prefix_of_omnitrace_is_not_followed(path, tmp_path, outside):
    (tmp_path / "app.py").write_text("print('done')\n")
    for folder in {tmp_path, tmp_path / path}:
        folder.mkdir(exist_ok=True)
        link = folder / "linked"
        link.symlink_to(outside.path)
        os.chown(link, STRANGER, STRANGER, follow_symlinks=False)
    variables = {"OMNITRACE_OUTPUT_PATH": path, "OMNITRACE_OUTPUT_PREFIX": "linked/mine-", "OMNITRACE_TIME_OUTPUT": "OFF"}
    done = subprocess.run([sys.executable, "-m", "omnitrace", "--", "app.py"], cwd=tmp_path, env={**os.environ, **variables},
                          capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert "linked is a link of another user; the files go to ./ [TL721]" in done.stderr
    outside.check(done.stderr)
    assert [file.name.rpartition("-")[0] for file in tmp_path.glob("mine-perfetto*")] == ["mine-perfetto-trace"]


@as_root
def test_the_index_of_the_viewer_goes_through_no_link_of_another_user(timeloom, tmp_path):
    timeloom("run", "--quiet", "-o", "own", "-c", "def f(): pass\nf()", cwd=tmp_path)
    (tmp_path / "run").symlink_to("own")
    os.chown(tmp_path / "run", STRANGER, STRANGER, follow_symlinks=False)
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    timeloom("view", "--html", "page.html", "run", cwd=tmp_path, **cache)
    assert not (tmp_path / "own" / "view.timeloom").exists()
    assert len(list((tmp_path / "cache").rglob("*.timeloom"))) == 1


@as_root
def test_a_link_of_another_user_on_the_way_is_not_followed(timeloom, tmp_path, outside):
    (tmp_path / "app.py").write_text("print('done')\n")
    timeloom("run", "--quiet", "-o", "own", "app.py", cwd=tmp_path)
    link = tmp_path / "link"
    link.symlink_to(outside.path)
    os.chown(link, STRANGER, STRANGER, follow_symlinks=False)
    who, name_another = f"timeloom: {link} is a link of another user; ", "choose another with --output [TL221]\n"
    job = {"TIMELOOM_JOB": "job", "PMI_RANK": "0", "PMI_SIZE": "2"}
    for path in (link / "new", "link/below/new"):
        for start in (["app.py"], ["--program", "/bin/echo", "done"]):
            for variables in ({}, job):
                refused = timeloom("run", "--quiet", "--force", "-o", path, *start, status=2, cwd=tmp_path, **variables)
                assert (refused.stdout, refused.stderr) == ("", who + name_another)
    for path, named in ((link / "x.csv", link), ("link/x.csv", "link")):
        refused = timeloom("convert", "own", "--to", "csv", "-o", path, "--force", status=1, cwd=tmp_path)
        assert f"{named} is a link of another user; name another file with -o FILE [TL304]" in refused.stderr
        refused = timeloom("view", "own", "--html", path, "--force", status=1, cwd=tmp_path)
        assert f"{named} is a link of another user; name another file with -o FILE [TL304]" in refused.stderr
    said = timeloom("convert", "own", "--to", "omnitrace", "-o", link / "below", cwd=tmp_path).stderr
    assert f"cannot write to {link}/below: {link} is a link of another user; the files go to ./ [TL721]" in said
    outside.check()


@as_root
@pytest.mark.parametrize("door", ["convert", "omnitrace"])
def test_a_directory_of_another_user_is_named_where_the_files_of_omnitrace_go_into_it(door, timeloom, tmp_path):
    (tmp_path / "app.py").write_text("print('done')\n")
    files = tmp_path / "files"
    files.mkdir()
    os.chown(files, STRANGER, STRANGER)
    if door == "convert":
        timeloom("run", "--quiet", "-o", "own", "app.py", cwd=tmp_path)
        said = timeloom("convert", "own", "--to", "omnitrace", "-o", "files", cwd=tmp_path).stderr
    else:
        variables = {"OMNITRACE_OUTPUT_PATH": "files", "OMNITRACE_TIME_OUTPUT": "OFF"}
        done = subprocess.run([sys.executable, "-m", "omnitrace", "--", "app.py"], cwd=tmp_path, text=True, check=True,
                              env={**os.environ, **variables}, capture_output=True, timeout=60)  # fmt: skip
        said = done.stderr
    who = f"files belongs to user {STRANGER}, who can change the files [TL722]"
    assert [line.partition(": ")[2] for line in said.splitlines() if "belongs to" in line] == [who]


def test_a_link_with_the_name_of_an_unfinished_file_is_not_in_the_way(timeloom, timeloom_program, tmp_path, outside):
    (tmp_path / "app.py").write_text("print('done')\n")
    timeloom("run", "--quiet", "-o", "own", "app.py", cwd=tmp_path)
    shell = 'ln -s outside/settings ".x.csv.$$.part"; exec "$0" convert own --to csv -o x.csv'
    subprocess.run(["sh", "-c", shell, timeloom_program], cwd=tmp_path, check=True, capture_output=True, timeout=60)
    assert (tmp_path / "x.csv").stat().st_size > 0
    assert [path.is_symlink() for path in tmp_path.glob(".x.csv.*.part")] == [True]
    outside.check()
