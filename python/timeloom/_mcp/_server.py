"""The server: the tools over standard input and output, in the Model Context Protocol."""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server

from timeloom import __version__
from timeloom._mcp._folders import Folders
from timeloom._mcp._parameters import checked, schema_of
from timeloom._mcp._refused import Refused
from timeloom._mcp._tools import INSTRUCTIONS, TOOLS


async def serve(folders: Folders) -> None:
    """Answer until the agent closes the connection."""

    async def list_tools(context: Any, parameters: Any) -> types.ListToolsResult:
        hints = types.ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False)
        return types.ListToolsResult(
            tools=[
                types.Tool(name=name, description=tool.help, input_schema=schema_of(tool.parameters), annotations=hints)
                for name, tool in TOOLS.items()
            ]
        )

    async def call_tool(context: Any, parameters: types.CallToolRequestParams) -> types.CallToolResult:
        text, failed = await answer_to(folders, parameters.name, parameters.arguments or {})
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)

    server: Server[Any] = Server(
        "timeloom", version=__version__, instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool
    )
    async with stdio_server() as (questions, answers):
        await server.run(questions, answers, server.create_initialization_options())


async def answer_to(folders: Folders, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
    """Return the answer of a tool and False, or one line with the reason why there is none and True."""
    try:
        if name not in TOOLS:
            raise Refused(f"there is no tool {name!r}; there are {', '.join(TOOLS)} [TL498]")
        tool = TOOLS[name]
        return await tool.answer(folders, checked(name, tool.parameters, arguments)), False
    except Refused as refused:
        return " ".join(str(refused).split()), True
    except Exception as error:  # an agent can do nothing with a traceback
        text = " ".join(f"{type(error).__name__}: {error}".split())
        return f"{name} failed: {text}; please report this [TL499]", True
