"""``python -m rocprofsys``: the same as ``python -m omnitrace``."""

from omnitrace.__main__ import main

if __name__ == "__main__":
    main()
