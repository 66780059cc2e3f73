"""``omnitrace.profiler.config``: static properties of a class that select the profiled functions and their labels."""

from timeloom import _core

TYPE_CHECKING = False  # as typing.TYPE_CHECKING: typing would show in the program's sys.modules
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# The property, the setting of Timeloom, its default.
_LISTS = {
    "restrict_functions": ("function_restrict", []),
    "restrict_modules": ("module_restrict", []),
    "include_functions": ("function_include", []),
    "include_modules": ("module_include", []),
    "exclude_functions": ("function_exclude", ["^<.*>$"]),
    "exclude_modules": ("module_exclude", ["(encoder|decoder|threading).py$", "^<.*>$"]),
}
_SWITCHES = (
    "include_args",
    "include_line",
    "include_filename",
    "include_qualname",
    "full_filepath",
    "include_internal",
    "trace_c",
    "annotate_trace",
)
_PARTS = {
    "include_args": "args",
    "include_filename": "file",
    "include_line": "line",
    "full_filepath": "path",
    "include_qualname": "qualname",
}


_values: "dict[str, Any]" = {
    **{name: list(default) for name, (_, default) in _LISTS.items()},
    **dict.fromkeys(_SWITCHES, False),
    "verbosity": 0,
}


class _Properties(type):
    """Reads and checks the properties. A list is read as a copy: assign it, or use ``+=``."""

    def __getattr__(cls, name: str) -> "Any":
        if name == "_is_running":
            return _core.instrumenting()
        if name not in _values:
            raise AttributeError(f"config has no property {name!r}")
        value = _values[name]
        return list(value) if isinstance(value, list) else value

    def __setattr__(cls, name: str, value: "Any") -> None:
        if name in _LISTS:
            _values[name] = _expressions(name, value)
        elif name in _SWITCHES:
            _values[name] = bool(value)
        elif name == "verbosity":
            _values[name] = int(value)
        else:
            raise AttributeError(f"config has no property {name!r} that can be set")


def _expressions(name: str, value: "Iterable[str]") -> list[str]:
    if isinstance(value, str):
        raise TypeError(f"{name} is a list of regular expressions, not a str")
    values = list(value)
    for one in values:
        if not isinstance(one, str):
            raise TypeError(f"{name} is a list of regular expressions, not of {type(one).__name__}")
    return values


class Config(metaclass=_Properties):
    """The profiler's configuration for the whole process; changes apply from the next start of a profiler on."""


def settings() -> "dict[str, Any]":
    """Return the configuration as settings of Timeloom."""
    # A text there is never empty: a line without an expression stands for "none".
    result: dict[str, Any] = {
        setting: "\n".join(_values[name]) or "\n" for name, (setting, _) in _LISTS.items()
    }
    parts = [part for name, part in _PARTS.items() if _values[name]]
    result["label"] = ",".join(parts) or ","
    result["say_filtered"] = max(min(_values["verbosity"], 4) - 1, 0)
    result["c_functions"] = _values["trace_c"]
    return result
