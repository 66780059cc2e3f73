"""The error of the server."""


class Refused(Exception):
    """A question that gets no answer; its text is one line, which ends with the id of the message."""
