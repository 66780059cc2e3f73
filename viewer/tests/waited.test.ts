import assert from "node:assert/strict";
import { test } from "node:test";
import { random } from "../src/source/generated";
import { eachWait, type Lane, LaneBuilder } from "../src/source/lane";

/** A call in [0, end) that waits for some causes, as [cause, ticks]. */
function waiting(end: number, causes: readonly (readonly [number, number])[]): Lane {
  const builder = new LaneBuilder();
  builder.enter(0, 0, 0);
  for (const [cause, ticks] of causes) builder.wait(0, end, ticks, cause);
  builder.leave(end);
  return builder.finish(end);
}

function ticksIn(lane: Lane, begin: number, end: number): number[] {
  const sums = Array.from({ length: 8 }, () => 0);
  eachWait(lane, begin, end, (wait, ticks) => (sums[wait.cause] += ticks));
  return sums;
}

test("two equal causes of a stretch take turns, as on the server", () => {
  const lane = waiting(4, [[0, 2], [1, 2]]);
  assert.deepEqual([0, 1, 2, 3].map((time) => ticksIn(lane, time, time + 1).slice(0, 2)), [[0, 1], [1, 0], [0, 1], [1, 0]]);
});

test("several causes of a stretch are never longer than a part of it, and add up", () => {
  const chance = random(4), below = (limit: number) => Math.floor(chance() * limit);
  for (let tries = 0; tries < 300; tries++) {
    const end = 1 + below(tries % 2 ? 40 : 2 ** 50), causes: [number, number][] = [];
    let left = end;
    for (let cause = 0; cause < 8; cause++) {
      const ticks = chance() < 0.4 ? below(left + 1) : 0;
      if (ticks) causes.push([cause, ticks]);
      left -= ticks;
    }
    const lane = waiting(end, causes), whole = ticksIn(lane, 0, end), sums = whole.map(() => 0);
    assert.deepEqual(causes.map(([cause]) => whole[cause]), causes.map(([, ticks]) => ticks));
    for (let at = 0; at < end;) {
      const to = Math.min(end, at + 1 + below(end - at)), part = ticksIn(lane, at, to);
      assert.ok(Math.min(...part) >= 0 && part.reduce((all, ticks) => all + ticks) <= to - at, `${part} in ${to - at}`);
      part.forEach((ticks, cause) => (sums[cause] += ticks));
      at = to;
    }
    assert.deepEqual(sums, whole);
  }
});

test("causes that are longer than their stretch are cut", () => {
  assert.deepEqual(ticksIn(waiting(10, [[2, 7], [3, 7], [6, 1]]), 0, 10), [0, 0, 7, 3, 0, 0, 0, 0]);
});
