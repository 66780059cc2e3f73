"""Engines that run a program's functions in workers: what a measured program adds to them."""
