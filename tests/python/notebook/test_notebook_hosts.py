"""The extension and the kernel in other hosts: plain kernels, IPython in a terminal, editors, batch runs of
notebooks."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("nbclient")

from notebooks import DEADLINE, KERNEL, Kernel, environment, execute, make_spec, read

PLAIN = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
MANY = "def f(): pass\ndef many(n):\n    for _ in range(n): f()"


def visits(path, name):
    return next((row["visits"] for row in read(path).flat if row["name"] == name), 0)


@pytest.fixture
def plain(tmp_path):
    """A host that does not let its users choose a kernel."""
    kernel = Kernel(tmp_path / "jupyter", tmp_path, argv=PLAIN)
    yield kernel
    kernel.close()


def test_the_extension_in_a_plain_kernel(plain):
    assert plain.run("%load_ext timeloom").status == "ok"
    plain.run(MANY)
    answer = plain.run("%%timeloom\nmany(7)\n5")
    assert (answer.result, visits(answer.run, "__main__.f")) == ("5", 7)
    assert [thread["name"] for thread in read(answer.run).threads] == ["MainThread"]
    assert not [row for row in read(answer.run).flat if not row["name"].startswith(("In [", "__main__."))]
    answer = plain.run("%%execute_with_scorep\nmany(3)")
    assert visits(answer.stdout.rsplit(" ", 1)[1], "__main__:f") == 3


def test_the_extension_is_loaded_twice_and_unloaded(plain):
    for command in ("%load_ext timeloom", "%reload_ext timeloom", "%load_ext timeloom"):
        assert plain.run(command).status == "ok"
    assert len(plain.run(f"%%timeloom\n{MANY}\nmany(2)").shown) == 1
    assert plain.run("%unload_ext timeloom").status == "ok"
    assert plain.run("1 + 1").result == "2"
    left = plain.run("shell = get_ipython(); [name for name in ('run_cell_async', 'run_code', 'showtraceback') "
                     "if name in vars(shell)], hasattr(shell, 'timeloom')").result
    assert left == "([], False)"


def test_ipython_in_a_terminal(tmp_path):
    """Without a kernel."""
    script = tmp_path / "cells.ipy"
    script.write_text("%load_ext timeloom\ndef f(): pass\n")
    code = ("from IPython.terminal.interactiveshell import TerminalInteractiveShell\n"
            "shell = TerminalInteractiveShell.instance(colors='NoColor')\n"
            "for cell in ('%load_ext timeloom', 'def f(): pass', '%%timeloom\\nfor _ in range(9): f()\\n3', '%timeloom f()'):\n"
            "    assert shell.run_cell(cell, store_history=True).success\n"
            "print(_run.path if '_run' in globals() else shell.user_ns['_run'].path)")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=DEADLINE,
                          env={**environment(tmp_path), "TERM": "dumb"})
    assert done.returncode == 0, done.stderr
    assert "9" in next(line for line in done.stdout.splitlines() if "__main__.f" in line).split()
    assert visits(done.stdout.splitlines()[-1], "__main__.f") == 1


def wait_for(client):
    """Until the kernel answers; older clients give up on kernels that are not their own."""
    end = time.monotonic() + DEADLINE
    client.kernel_info()
    while time.monotonic() < end:
        with contextlib.suppress(queue.Empty):
            if client.get_shell_msg(timeout=DEADLINE)["msg_type"] == "kernel_info_reply":
                return
    raise AssertionError("no reply")


@pytest.mark.notebook_suite
def test_an_editor_that_starts_kernels_itself(tmp_path):
    """As VS Code does it: python, -m, a module, and the variables of the spec; the editor makes the connection file."""
    from jupyter_client import BlockingKernelClient
    from jupyter_client.connect import write_connection_file

    variables = environment(tmp_path)
    subprocess.run([sys.executable, "-m", "timeloom_kernel.install", "--prefix", str(tmp_path), "--env", "FROM_SPEC", "yes"],
                   env=variables, check=True, capture_output=True, timeout=DEADLINE)
    spec = json.loads((tmp_path / "share/jupyter/kernels/timeloom/kernel.json").read_text())
    assert os.path.isabs(spec["argv"][0]) and os.access(spec["argv"][0], os.X_OK)
    assert spec["argv"][1] == "-m" and spec["argv"][2].isidentifier() and spec["language"] == "python"
    file, _ = write_connection_file(str(tmp_path / "connection.json"))
    command = [word.replace("{connection_file}", file) for word in spec["argv"]]
    with subprocess.Popen(command, cwd=tmp_path, env={**variables, **spec["env"], "PYTHONUNBUFFERED": "1"}) as process:
        try:
            client = BlockingKernelClient(connection_file=file)
            client.load_connection_file()
            client.start_channels()
            wait_for(client)
            reply = client.execute("%%timeloom --output there\nimport os; print(os.environ['FROM_SPEC'])\ndef f(): pass\nf()",
                                   reply=True, timeout=DEADLINE)
            assert reply["content"]["status"] == "ok"
            message = client.execute("import time; time.sleep(60)")
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            while (reply := client.get_shell_msg(timeout=DEADLINE))["parent_header"]["msg_id"] != message:
                pass
            assert reply["content"]["ename"] == "KeyboardInterrupt"
            client.shutdown()
            client.stop_channels()
            assert process.wait(DEADLINE) == 0
        finally:
            process.kill()
    assert visits(tmp_path / "there", "__main__.f") == 1


def block_of(cell):
    return next(output["data"]["text/plain"] for output in cell["outputs"] if output["output_type"] == "display_data")


@pytest.mark.parametrize("cells_after", [0, 1])
def test_a_batch_run_has_the_whole_block_of_each_cell(tmp_path, cells_after):
    """Output after the reply to the last cell is not shown, so the reply waits for it."""
    notebook = execute([MANY, "%%timeloom\nmany(50_000)", *["1"] * cells_after], tmp_path / "jupyter", tmp_path)
    assert "50,000" in block_of(notebook.cells[1]) and "when the run is woven" not in block_of(notebook.cells[1])


@pytest.mark.notebook_suite
def test_papermill(tmp_path):
    pytest.importorskip("papermill")
    import nbformat

    parameters = nbformat.v4.new_code_cell("count = 1")
    parameters.metadata["tags"] = ["parameters"]
    cells = [parameters, *map(nbformat.v4.new_code_cell, (MANY, "%%timeloom\nmany(count)\ncount"))]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {"name": KERNEL, "display_name": KERNEL, "language": "python"}
    nbformat.write(notebook, tmp_path / "in.ipynb")
    make_spec(tmp_path)
    command = [sys.executable, "-m", "papermill", "in.ipynb", "out.ipynb", "-p", "count", "50000", "--no-progress-bar"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment(tmp_path), timeout=2 * DEADLINE)
    assert done.returncode == 0, done.stderr
    last = nbformat.read(tmp_path / "out.ipynb", as_version=4).cells[-1]
    assert "50,000" in block_of(last) and last["metadata"]["papermill"]["exception"] is False
    failing = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("%%timeloom\n1/0")], metadata=notebook.metadata)
    nbformat.write(failing, tmp_path / "in.ipynb")
    done = subprocess.run(command[:5], cwd=tmp_path, capture_output=True, text=True, env=environment(tmp_path), timeout=2 * DEADLINE)
    assert done.returncode != 0 and "ZeroDivisionError" in done.stderr
