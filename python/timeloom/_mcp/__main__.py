"""``timeloom mcp [DIR...]``: the program has checked the command line, and goes on here."""

import asyncio
import sys

from timeloom._mcp._folders import Folders
from timeloom._mcp._refused import Refused


def main(names: list[str]) -> int:
    """Serve until the agent leaves, and return the exit status."""
    try:
        try:
            from timeloom._mcp._server import serve
        except ImportError as error:
            raise Refused(
                f"the package mcp, version 2 or later, is not installed ({error}); install it: {sys.executable} -m pip "
                "install 'timeloom[mcp]' [TL495]"
            ) from None
        folders = Folders(names)
        if sys.stdin.isatty():
            print("timeloom: agents start this command (docs/agents.md); Ctrl-C ends it", file=sys.stderr)
        asyncio.run(serve(folders))
    except Refused as refused:
        print(f"timeloom: {refused}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
