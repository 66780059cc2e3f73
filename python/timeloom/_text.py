"""Messages and numbers as a person reads them."""

_UNITS = {"GB": 1e9, "MB": 1e6, "kB": 1e3}
_TIMES = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}


def without_id(message: object) -> str:
    """The text of a message without the id at its end, ``[TL201]``: for a message that quotes it."""
    text = str(message)
    is_id = text.endswith("]") and text[-8:-4] == " [TL" and text[-4:-1].isdigit()
    return text[:-8] if is_id else text


def plural(number: int, noun: str) -> str:
    """A number of things: ``1 thread``, ``1,234 events``."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def duration(seconds: float, digits: int = 3) -> str:
    """The time with a unit."""
    for unit, size in _TIMES.items():
        if abs(seconds) >= size:
            return f"{seconds / size:.{digits}g} {unit}"
    return f"{seconds * 1e9:.{digits}g} ns"


def size_text(size: int) -> str:
    """The number of bytes with a unit."""
    for unit, factor in _UNITS.items():
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size} B"
