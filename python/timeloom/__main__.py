"""`python -m timeloom`: runs a program and records its calls."""

import sys

before = set(sys.modules)
if not __package__:
    # Started by the path of this file, as `timeloom run` does: then python does not search the current directory nor,
    # with -S, the directories of installed packages.
    sys.path.insert(0, __file__.rpartition("/timeloom/")[0])
    from timeloom._launch import main

    del sys.path[0]
else:
    from timeloom._launch import main

main(before)
