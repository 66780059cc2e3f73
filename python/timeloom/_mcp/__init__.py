"""The server of ``timeloom mcp``: bounded answers about runs, for agents. Only that command imports it."""
