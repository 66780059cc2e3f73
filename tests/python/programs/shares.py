"""Fourteen small functions with known shares of the work, the first of them 100 of 466 parts.

The first argument scales the work. Each function is called by one of two callers, which do nothing else.
"""

import sys

PARTS = (100, 80, 64, 52, 42, 34, 27, 22, 17, 14, 5, 4, 3, 2)


def define(number):
    names = {"__name__": "__main__"}
    exec(f"def small_{number:02}(count):\n    total = 0\n    for value in range(count):\n"
         f"        total += value * value\n    return total\n", names)
    return names[f"small_{number:02}"]


FUNCTIONS = [define(number) for number in range(len(PARTS))]


def first_caller(rounds):
    for _ in range(rounds):
        for function, parts in zip(FUNCTIONS[:7], PARTS[:7], strict=True):
            for _ in range(parts):
                function(20)


def second_caller(rounds):
    for _ in range(rounds):
        for function, parts in zip(FUNCTIONS[7:], PARTS[7:], strict=True):
            for _ in range(parts):
                function(20)


def main(scale):
    for _ in range(scale):
        first_caller(10)
        second_caller(10)


main(int(sys.argv[1]))
