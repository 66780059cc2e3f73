"""`python -m timeloom`: runs a program and records what it does."""

if not __package__:
    # Started by the path of this directory, which python -S finds where it does
    # not look for packages.
    import sys

    sys.path[0] = sys.path[0].rpartition("/")[0]
    from timeloom._launch import main

    del sys.path[0]
else:
    from timeloom._launch import main

main()
