"""The logging of the Score-P kernel, for programs that change its level: Timeloom's kernel writes no log files."""

from __future__ import annotations

import logging.config  # noqa: F401  (programs that import this module use it)
from typing import Any

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "loggers": {"kernel": {"handlers": ["console"], "level": "WARNING", "propagate": False}},
}
