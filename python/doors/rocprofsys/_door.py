"""Refuses the import with one line if Timeloom was built without the door of Omnitrace."""

try:
    import omnitrace  # noqa: F401
except ImportError as error:
    raise ImportError(str(error), name="rocprofsys") from None
