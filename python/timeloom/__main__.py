"""`python -m timeloom`: runs a program and records what it does."""

from timeloom._launch import main

main()
