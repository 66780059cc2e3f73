"""Manual pages of the commands, from the description that the program prints of itself."""

from typing import Any


def escaped(text: str) -> str:
    """Text escaped for roff: a line that begins with a dot or an apostrophe is text, too."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    lines = [f"\\&{line}" if line.startswith((".", "'")) else line for line in text.splitlines()]
    return "\n".join(lines)


def bold(text: str) -> str:
    return f"\\fB{escaped(text)}\\fR"


def option_line(option: dict[str, Any]) -> str:
    value = f" \\fI{escaped(option['value'])}\\fR" if option["value"] else ""
    return ", ".join(bold(name) for name in option["names"]) + value


def entries(options: list[dict[str, Any]]) -> str:
    """The options, with a heading at the start of each group."""
    text, group = "", ""
    for option in options:
        if option["group"] != group:
            group = option["group"]
            text += f'.SS "{escaped(group or "Other")}"\n'
        text += f".TP\n{option_line(option)}\n{escaped(option['help'])}\n"
    return text


def heading(name: str, about: str) -> str:
    # The version is the program's own.
    return f'.TH {name.upper()} 1 "" "Timeloom" "Timeloom"\n.SH NAME\n{escaped(name)} \\- {escaped(about)}\n'


def section(title: str, text: str) -> str:
    return f".SH {title}\n{text.rstrip()}\n"


def is_list_of_options(text: str) -> bool:
    """A paragraph of a help text, possibly with its heading."""
    return text.lstrip("\n").startswith("  -") or text.partition(":\n")[2].startswith("  -")


def paragraphs_of_usage(command: dict[str, Any]) -> tuple[str, str, str]:
    """Synopsis, description and end of a help text that is written by hand."""
    usage, *rest = command["usage"].rstrip().split("\n\n")
    listed = [index for index, text in enumerate(rest) if is_list_of_options(text)]
    lines = [line.removeprefix("usage: ").removeprefix("Usage: ").strip() for line in usage.splitlines()]
    synopsis = "\n.br\n".join(escaped(line) for line in lines)
    before, after = (rest[: listed[0]], rest[listed[-1] + 1 :]) if listed else (rest, [])
    return synopsis, "\n.PP\n".join(map(escaped, before)), "\n.PP\n".join(map(escaped, after))


def synopsis(command: dict[str, Any]) -> str:
    words = [bold(f"timeloom {command['name']}"), "[\\fIoptions\\fR]"]
    for one in command["positionals"]:
        word = f"\\fI{escaped(one['name'])}\\fR" + ("..." if one["several"] else "")
        words.append(word if one["required"] else f"[{word}]")
    return " ".join(words)


def page(name: str, command: dict[str, Any]) -> str:
    text = heading(name, command["help"])
    ending = escaped(command["footer"])
    if command["usage"]:
        how, what, ending = paragraphs_of_usage(command)
        text += section("SYNOPSIS", how) + (section("DESCRIPTION", what) if what else "")
    else:
        text += section("SYNOPSIS", synopsis(command)) + section("DESCRIPTION", escaped(command["help"]) + ".")
        arguments = "".join(
            f".TP\n\\fI{escaped(one['name'])}\\fR\n{escaped(one['help'])}\n" for one in command["positionals"]
        )
        text += section("ARGUMENTS", arguments) if arguments else ""
    text += section("OPTIONS", entries(command["options"])) if command["options"] else ""
    return text + (section("NOTES", ending) if ending else "") + section("SEE ALSO", "\\fBtimeloom\\fR(1)")


def pages(described: dict[str, Any]) -> dict[str, str]:
    """Names of files and their text."""
    program, commands = described["program"], described["commands"]
    text = heading("timeloom", program["help"].rstrip("."))
    text += section("SYNOPSIS", f"{bold('timeloom')} \\fICOMMAND\\fR [\\fIarguments\\fR]")
    lines = (f".TP\n\\fBtimeloom\\-{escaped(one['name'])}\\fR(1)\n{escaped(one['help'])}\n" for one in commands)
    text += section("COMMANDS", "".join(lines)) + section("OPTIONS", entries(program["options"]))
    text += section("NOTES", escaped(program["footer"]))
    text += section("SEE ALSO", ", ".join(f"\\fBtimeloom\\-{escaped(one['name'])}\\fR(1)" for one in commands))
    named = {f"timeloom-{one['name']}": one for one in commands}
    return {"timeloom.1": text, **{f"{name}.1": page(name, one) for name, one in named.items()}}
