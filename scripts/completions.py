"""What bash, zsh and fish complete, from the description that the program gives of itself."""

import shlex
from typing import Any

NOTE = "made by scripts/command_pages.py"


def names_of(options: list[dict[str, Any]]) -> list[str]:
    return [name for option in options for name in option["names"]]


def valued(options: list[dict[str, Any]]) -> list[str]:
    """Names whose next word is their value."""
    return [name for option in options if option["value"] for name in option["names"]]


def bash_case(command: dict[str, Any]) -> str:
    """The options of a command, those that take a value, and the values that are known."""
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


BASH = """\
# bash completion of timeloom; {note}
_timeloom() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
  local options= valued= words= index
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W {commands} -- "$current")
    return
  fi
  # --name=value is three words.
  if [ "$previous" = = ]; then
    previous=${{COMP_WORDS[COMP_CWORD - 2]}}
  elif [ "$current" = = ]; then
    current=
  fi
  case ${{COMP_WORDS[1]}} in
{cases}  esac
  # What follows the program that is run belongs to it.
  if [ "${{COMP_WORDS[1]}}" = run ]; then
    for ((index = 2; index < COMP_CWORD; ++index)); do
      case ${{COMP_WORDS[index]}} in
        -m | -c | --program) return ;;
        = | -*) continue ;;
      esac
      case ${{COMP_WORDS[index - 1]}} in
        =) continue ;;
        -*) [[ $valued == *" ${{COMP_WORDS[index - 1]}} "* ]] || return ;;
        *) return ;;
      esac
    done
  fi
  if [ -n "$words" ]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  elif [[ $current == -* && $valued != *" $previous "* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  fi
}}
complete -o default -F _timeloom timeloom
"""


def bash(described: dict[str, Any]) -> str:
    commands = [one["name"] for one in described["commands"]] + names_of(described["program"]["options"])
    cases = "".join(bash_case(one) for one in described["commands"])
    return BASH.format(note=NOTE, commands=shlex.quote(" ".join(commands)), cases=cases)


def zsh_text(text: str) -> str:
    """Text in the brackets of a specification of _arguments."""
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
            values = f"({' '.join(option['choices'])})" if option["choices"] else "_files"
            text += f":{zsh_text(option['value'])}:{values}"
        specifications.append(text)
    return specifications


def zsh_case(command: dict[str, Any]) -> str:
    words = [word for option in command["options"] for word in zsh_specification(option)]
    # The program that is run completes its own arguments.
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


def fish_option(option: dict[str, Any], condition: str) -> str:
    text = ""
    for name in option["names"]:
        flag = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
        line = f"complete -c timeloom {condition} {flag}"
        if option["choices"]:
            line += f" -x -a {shlex.quote(' '.join(option['choices']))}"
        elif option["value"]:
            line += " -r"
        text += f"{line} -d {fish_quoted(option['help'])}\n"
    return text


def fish_quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def fish(described: dict[str, Any]) -> str:
    text = f"# fish completion of timeloom; {NOTE}\n"
    text += "".join(fish_option(one, "-n __fish_use_subcommand") for one in described["program"]["options"])
    for command in described["commands"]:
        name = command["name"]
        text += f"complete -c timeloom -n __fish_use_subcommand -f -a {name} -d {fish_quoted(command['help'])}\n"
        condition = f"-n '__fish_seen_subcommand_from {name}'"
        text += "".join(fish_option(option, condition) for option in command["options"])
    return text
