"""A client of `timeloom mcp`, as an agent is one."""

import contextlib
import json
import os


class Server(contextlib.ExitStack):
    """A started `timeloom mcp` in a directory; the end of the context ends it.

    The file `errors` of the directory has its standard error.
    """

    def __init__(self, program, directory, *directories):
        super().__init__()
        self._words, self._directory = [program, "mcp", *map(str, directories)], directory

    def __enter__(self):
        from anyio.from_thread import start_blocking_portal
        from mcp import Client, StdioServerParameters
        from mcp.client.stdio import stdio_client

        command, *words = self._words
        started = StdioServerParameters(command=command, args=words, cwd=self._directory, env=dict(os.environ))
        with contextlib.ExitStack() as stack:
            errors = stack.enter_context(open(self._directory / "errors", "w"))
            self._portal = stack.enter_context(start_blocking_portal())
            client = Client(stdio_client(started, errlog=errors))
            self._client = stack.enter_context(self._portal.wrap_async_context_manager(client))
            self.push(stack.pop_all())
        return self

    def answer(self, tool, **arguments):
        """Return the text of an answer, and whether it is an error."""
        result = self._portal.call(self._client.call_tool, tool, arguments)
        [content] = result.content
        assert len(content.text) <= 8000
        return content.text, result.is_error

    def ask(self, tool, **arguments):
        """Return the text of an answer without an error."""
        text, failed = self.answer(tool, **arguments)
        assert not failed, text
        return text

    def refusal(self, tool, **arguments):
        """Return the one line of an error."""
        text, failed = self.answer(tool, **arguments)
        assert failed and len(text.splitlines()) == 1 and text[-8:-4] == " [TL" and text.endswith("]"), text
        return text

    def facts(self, tool, **arguments):
        """Return the JSON of an answer."""
        return json.loads(self.ask(tool, **arguments))

    def tools(self):
        """Return the descriptions of the tools."""
        return self._portal.call(self._client.list_tools).tools
