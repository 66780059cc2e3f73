"""Coroutines and async generators, driven by hand and by asyncio."""

import asyncio
import types


class Step:
    def __await__(self):
        yield "step"
        return helper()


def helper():
    return 1


async def leaf(n):
    await Step()
    return n


async def branch(n):
    if n == 0:
        return await leaf(0)
    return await branch(n - 1)


async def fails():
    await Step()
    raise ValueError("fails")


async def catches():
    try:
        await fails()
    except ValueError:
        return helper()


async def numbers(n):
    for i in range(n):
        sent = yield i
        if sent:
            await Step()


async def cleaning():
    try:
        yield 1
        yield 2
    finally:
        await Step()
        helper()


async def loops():
    async for i in numbers(3):
        helper()
    return [i async for i in numbers(2)]


class Context:
    async def __aenter__(self):
        await Step()
        return self

    async def __aexit__(self, *_):
        helper()


async def managed():
    async with Context():
        await leaf(1)
        raise KeyError


def drive(coroutine):
    try:
        while True:
            coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    except KeyError:
        return "key"


@types.coroutine
def old_style():
    yield "old"
    return 2


async def awaits_old():
    return await old_style()


async def sends():
    agen = numbers(5)
    await agen.__anext__()
    await agen.asend(True)
    try:
        await agen.athrow(KeyError)
    except KeyError:
        helper()
    agen = cleaning()
    await agen.__anext__()
    await agen.aclose()


async def sleeper(n):
    for _ in range(n):
        await asyncio.sleep(0)
    return helper()


async def cancelled():
    try:
        await asyncio.sleep(100)
    except asyncio.CancelledError:
        helper()
        raise


async def main():
    results = await asyncio.gather(sleeper(3), sleeper(1), sleeper(2))
    task = asyncio.ensure_future(cancelled())
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        helper()
    try:
        await asyncio.wait_for(asyncio.sleep(10), 0.05)
    except asyncio.TimeoutError:
        results.append("late")
    async with asyncio.TaskGroup() as group:
        group.create_task(sleeper(1))
        group.create_task(sleeper(2))
    return results


print(drive(branch(3)), drive(catches()), drive(loops()), drive(managed()), drive(awaits_old()))
drive(sends())
abandoned = leaf(1)
abandoned.send(None)
abandoned.close()
abandoned = leaf(2)
abandoned.close()
abandoned = catches()
abandoned.send(None)
try:
    abandoned.throw(KeyError)
except KeyError:
    pass
del abandoned
print(asyncio.run(main()))
