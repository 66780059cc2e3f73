"""Completions for bash, zsh and fish, from the description that the program prints of itself."""

import shlex
from typing import Any

NOTE = "made by scripts/pages/command_pages.py"


def names_of(options: list[dict[str, Any]]) -> list[str]:
    return [name for option in options for name in option["names"]]


def valued(options: list[dict[str, Any]]) -> list[str]:
    """Names whose next word is their value; a value in brackets is optional."""
    return [name for option in options if option["value"][:1] not in ("", "[") for name in option["names"]]


def bash_case(command: dict[str, Any]) -> str:
    """The options of a command, the options that take a value, and the known values."""
    options = command["options"]
    text = f"    {command['name']})\n      options={shlex.quote(' '.join(names_of(options)))}\n"
    text += f"      valued={shlex.quote(' ' + ' '.join(valued(options)) + ' ')}\n"
    choices = [option for option in options if option["choices"]]
    if choices:
        text += "      case $previous in\n"
        for option in choices:
            text += f"        {'|'.join(option['names'])}) words={shlex.quote(' '.join(option['choices']))} ;;\n"
        text += "      esac\n"
    return text + "      ;;\n"


# Shared by the functions of all commands. bash splits --name=value into three words.
BASH_BEGIN = """\
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local options= valued= words= index
  COMPREPLY=()
"""
BASH_VALUE = """\
  if [ "$previous" = = ]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  elif [ "$current" = = ]; then
    current=
  fi
"""
BASH_OFFER = """\
  if [ -n "$words" ]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  elif [[ $current == -* && $valued != *" $previous "* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  fi
"""


def bash_program(first: int) -> str:
    """Offers nothing after the measured program, because those words belong to it."""
    return f"""\
  for ((index = {first}; index < COMP_CWORD; ++index)); do
    case ${{COMP_WORDS[index]}} in
      --program) return ;;
      -m | -c) [[ $valued == *" ${{COMP_WORDS[index]}} "* ]] || return ;;&
      = | -*) continue ;;
    esac
    case ${{COMP_WORDS[index - 1]}} in
      =) continue ;;
      -*) [[ $valued == *" ${{COMP_WORDS[index - 1]}} "* ]] || return ;;
      *) return ;;
    esac
  done
"""


def indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())


def bash(described: dict[str, Any]) -> str:
    commands = [one["name"] for one in described["commands"]] + names_of(described["program"]["options"])
    return (
        f"# bash completion of timeloom; {NOTE}\n_timeloom() {{\n{BASH_BEGIN}"
        '  if [ "$COMP_CWORD" -eq 1 ]; then\n'
        f'    mapfile -t COMPREPLY < <(compgen -W {shlex.quote(" ".join(commands))} -- "$current")\n    return\n  fi\n'
        f"{BASH_VALUE}  case ${{COMP_WORDS[1]}} in\n"
        + "".join(bash_case(one) for one in described["commands"])
        + f'  esac\n  if [ "${{COMP_WORDS[1]}}" = run ]; then\n{indented(bash_program(2))}  fi\n'
        f"{BASH_OFFER}}}\ncomplete -o default -F _timeloom timeloom\n"
    )


def function_of(name: str) -> str:
    return f"_{name.replace('-', '_')}"


def bash_alone(name: str, command: dict[str, Any]) -> str:
    """A command without subcommands."""
    program = bash_program(1) if command["runs_program"] else ""
    return (
        f"# bash completion of {name}; {NOTE}\n{function_of(name)}() {{\n{BASH_BEGIN}{BASH_VALUE}"
        f"  case {name} in\n{bash_case({**command, 'name': name})}  esac\n"
        f"{program}{BASH_OFFER}}}\ncomplete -o default -F {function_of(name)} {name}\n"
    )


def zsh_text(text: str) -> str:
    """Text for the brackets of a specification of _arguments."""
    for letter in "\\[]:":
        text = text.replace(letter, f"\\{letter}")
    return text


def zsh_specification(option: dict[str, Any]) -> list[str]:
    specifications = []
    for name in option["names"]:
        text = f"*{name}"
        if option["value"]:
            text += "=" if name.startswith("--") else "+"
        text += f"[{zsh_text(option['help'])}]"
        if option["value"]:
            choices = " ".join(option["choices"]).replace(":", "\\:")  # a colon ends the values
            values = f"({choices})" if choices else "_files"
            colons = "::" if option["value"].startswith("[") else ":"
            text += f"{colons}{zsh_text(option['value'].strip('[]'))}:{values}"
        specifications.append(text)
    return specifications


def zsh_case(command: dict[str, Any]) -> str:
    words = [word for option in command["options"] for word in zsh_specification(option)]
    # The measured program completes its own arguments.
    words += ["*::program:_normal"] if command["name"] == "run" else ["*:run:_files"]
    lines = "".join(f" \\\n        {shlex.quote(word)}" for word in words)
    return f"    {command['name']})\n      _arguments -s{lines}\n      ;;\n"


def zsh(described: dict[str, Any]) -> str:
    commands = described["commands"]
    lines = "".join(f"    {shlex.quote(one['name'] + ':' + one['help'])}\n" for one in commands)
    own = " ".join(shlex.quote(word) for one in described["program"]["options"] for word in zsh_specification(one))
    return (
        f"#compdef timeloom\n# {NOTE}\n_timeloom() {{\n  local context state state_descr line\n"
        f"  typeset -A opt_args\n  local -a commands=(\n{lines}  )\n"
        f"  _arguments -C {own} '1:command:->command' '*::argument:->argument'\n"
        "  if [[ $state == command ]]; then\n    _describe command commands\n    return\n  fi\n"
        "  case $line[1] in\n" + "".join(zsh_case(one) for one in commands) + '  esac\n}\n\n_timeloom "$@"\n'
    )


def zsh_alone(name: str, command: dict[str, Any]) -> str:
    """A command without subcommands; its options may have two letters after one dash."""
    words = [word for option in command["options"] for word in zsh_specification(option)]
    words += ["*::program:_normal"] if command["runs_program"] else []
    return f"#compdef {name}\n# {NOTE}\n_arguments" + "".join(f" \\\n  {shlex.quote(word)}" for word in words) + "\n"


def fish_flag(name: str) -> str:
    if name.startswith("--"):
        return f"-l {name[2:]}"
    return f"-{'s' if len(name) == 2 else 'o'} {name[1:]}"


def fish_option(option: dict[str, Any], command: str) -> str:
    text = ""
    for name in option["names"]:
        line = f"complete -c {command} {fish_flag(name)}"
        if option["choices"]:
            line += f" -x -a {shlex.quote(' '.join(option['choices']))}"
        elif valued([option]):
            line += " -r"
        text += f"{line} -d {fish_quoted(option['help'])}\n"
    return text


def fish_quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def fish(described: dict[str, Any]) -> str:
    text = f"# fish completion of timeloom; {NOTE}\n"
    own = "timeloom -n __fish_use_subcommand"
    text += "".join(fish_option(one, own) for one in described["program"]["options"])
    for command in described["commands"]:
        name = command["name"]
        text += f"complete -c {own} -f -a {name} -d {fish_quoted(command['help'])}\n"
        condition = f"timeloom -n '__fish_seen_subcommand_from {name}'"
        text += "".join(fish_option(option, condition) for option in command["options"])
    return text


def fish_alone(name: str, command: dict[str, Any]) -> str:
    options = "".join(fish_option(option, name) for option in command["options"])
    return f"# fish completion of {name}; {NOTE}\n{options}"
