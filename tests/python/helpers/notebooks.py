"""Notebooks for tests: kernels in a separate environment, cells run by nbclient or over the protocol."""

import contextlib
import json
import os
import queue
import sys
import time
from pathlib import Path

DEADLINE = 60  # seconds for any reply; no reply is a failure
KERNEL = "timeloom-test"


def has_shell_assignment():
    """Whether IPython itself takes `files = !ls`; older ones do not on Python 3.12."""
    from IPython.core.inputtransformer2 import TransformerManager

    return "get_ipython" in TransformerManager().transform_cell("files = !ls\n")


def make_spec(directory, name=KERNEL, argv=None, display_name=None):
    """A kernelspec below a directory that JUPYTER_PATH names."""
    place = Path(directory) / "kernels" / name
    place.mkdir(parents=True, exist_ok=True)
    words = argv or [sys.executable, "-m", "timeloom_kernel", "-f", "{connection_file}"]
    spec = {"argv": words, "display_name": display_name or name, "language": "python", "metadata": {"debugger": True}}
    (place / "kernel.json").write_text(json.dumps(spec))
    return name


def environment(directory, **variables):
    """The environment of a kernel, without the user's settings."""
    place = Path(directory)
    return {**os.environ, "JUPYTER_PATH": str(place), "JUPYTER_DATA_DIR": str(place / "data"),
            "JUPYTER_RUNTIME_DIR": str(place / "runtime"), "IPYTHONDIR": str(place / "ipython"),
            "JUPYTER_NO_CONFIG": "1", "PYTHONWARNINGS": "ignore", **variables}


class Answer:
    """The answer to a cell."""

    def __init__(self):
        self.reply, self.messages = None, []

    @property
    def status(self):
        return self.reply["content"]["status"]

    @property
    def stdout(self):
        return self._stream("stdout")

    @property
    def stderr(self):
        return self._stream("stderr")

    def _stream(self, name):
        return "".join(content["text"] for kind, content in self.messages if kind == "stream" and content["name"] == name)

    def of(self, kind):
        return [content for one, content in self.messages if one == kind]

    @property
    def shown(self):
        """The texts of all displays."""
        return [content["data"].get("text/plain", "") for content in self.of("display_data")]

    @property
    def result(self):
        results = self.of("execute_result")
        return results[0]["data"]["text/plain"] if results else None

    @property
    def run(self):
        """The directory of the run that the block names."""
        for text in self.shown:
            for line in text.splitlines():
                if line.startswith("run: "):
                    return Path(line[5:].rsplit("  (in Python", 1)[0])
        return None


class Kernel:
    """A kernel over the protocol, with a deadline for everything."""

    def __init__(self, directory, cwd, name=KERNEL, argv=None, **variables):
        from jupyter_client.manager import KernelManager

        self.cwd = Path(cwd)
        make_spec(directory, name, argv)
        from jupyter_client.kernelspec import KernelSpecManager

        specs = KernelSpecManager(kernel_dirs=[str(Path(directory) / "kernels")])
        self.manager = KernelManager(kernel_name=name, kernel_spec_manager=specs)
        self.manager.start_kernel(cwd=str(cwd), env=environment(directory, **variables))
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=DEADLINE)

    def send(self, code, **named):
        return self.client.execute(code, **{"store_history": True, **named})

    def answer(self, message, answers=(), timeout=DEADLINE):
        """Return all messages up to the reply and to the idle message after it."""
        answer, idle, end = Answer(), False, time.monotonic() + timeout
        answers = list(answers)
        while answer.reply is None or not idle:
            assert time.monotonic() < end, f"no reply: {answer.reply}, {answer.messages}"
            with contextlib.suppress(queue.Empty):
                got = self.client.get_iopub_msg(timeout=0.05)
                if got["parent_header"].get("msg_id") == message:
                    content = got["content"]
                    idle = idle or (got["msg_type"] == "status" and content["execution_state"] == "idle")
                    answer.messages.append((got["msg_type"], content))
            if answer.reply is None:
                with contextlib.suppress(queue.Empty):
                    got = self.client.get_shell_msg(timeout=0.01)
                    if got["parent_header"].get("msg_id") == message:
                        answer.reply = got
            if answers:
                with contextlib.suppress(queue.Empty):
                    self.client.get_stdin_msg(timeout=0.01)
                    self.client.input(answers.pop(0))
        return answer

    def run(self, code, answers=(), timeout=DEADLINE, **named):
        """Return the answer; asks again for a moment where ipykernel 6 still aborts cells after a failed one."""
        if answers:
            named["allow_stdin"] = True
        for _ in range(20):
            answer = self.answer(self.send(code, **named), answers, timeout)
            if answer.status != "aborted":
                break
        return answer

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def read(path):
    """A run, which the kernel may be weaving."""
    import timeloom

    end = time.monotonic() + DEADLINE
    while True:
        try:
            return timeloom.read(path)
        except timeloom.Error as error:
            assert "being woven" in str(error) and time.monotonic() < end, error
        time.sleep(0.05)


def lines_of(outputs):
    """The lines of a cell for a comparison with the Score-P kernel's."""
    lines = []
    for output in outputs:
        if output["output_type"] == "stream" and not set("\0\r") & set(output["text"]):
            lines += [line.strip() for line in output["text"].splitlines() if line.strip()]
        elif output["output_type"] == "execute_result":
            lines += [line.strip() for line in output["data"]["text/plain"].splitlines()]
    return lines


def execute(cells, directory, cwd, allow_errors=False, argv=None, **variables):
    """The outputs of a notebook's cells, run by nbclient."""
    import nbformat
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient

    make_spec(directory, argv=argv)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    specs = KernelSpecManager(kernel_dirs=[str(Path(directory) / "kernels")])
    manager = AsyncKernelManager(kernel_name=KERNEL, kernel_spec_manager=specs)
    client = NotebookClient(notebook, km=manager, timeout=DEADLINE, allow_errors=allow_errors,
                            resources={"metadata": {"path": str(cwd)}})
    client.execute(env=environment(directory, **variables))
    return notebook
