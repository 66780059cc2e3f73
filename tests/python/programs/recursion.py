"""10,000 deep, and into RecursionError at the usual limit."""

import sys


def down(n):
    return 0 if n == 0 else 1 + down(n - 1)


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def endless(depth):
    global reached
    reached = depth
    endless(depth + 1)


sys.setrecursionlimit(20_000)
print(down(10_000), even(3_000))
sys.setrecursionlimit(1_000)
try:
    endless(1)
except RecursionError as error:
    print("RecursionError", reached)
try:
    endless(1)
except RecursionError as error:
    print("RecursionError", reached)
print(down(10))
