import assert from "node:assert/strict";
import { test } from "node:test";
import { setTicksPerSecond } from "../src/format";
import type { CallRef } from "../src/model";
import { dotsOf, heightOf, nearestDot, roundDurations, wordsAt } from "../src/timeline/scatter";

setTicksPerSecond(1e9);
const call = (begin: number, length: number): CallRef => ({ track: 0, depth: 0, begin, end: begin + length, region: 1 });
const calls = [call(100, 10), call(200, 1000), call(900, 100)];
const near = (found: number, wanted: number) => assert.ok(Math.abs(found - wanted) < 1e-9, `${found} is not ${wanted}`);

test("dots lie at their time, or at the number of their visit", () => {
  assert.deepEqual([...dotsOf(calls, "time", { begin: 0, end: 1000 }).x], [0.1, 0.2, 0.9]);
  assert.deepEqual([...dotsOf(calls, "visit", { begin: 0, end: 1000 }).x], [0, 0.5, 1]);
  assert.deepEqual([...dotsOf([calls[0]], "visit", { begin: 0, end: 1000 }).x], [0]);
});

test("ten times the duration is the same step everywhere", () => {
  const { y, lowest, highest } = dotsOf(calls, "time", { begin: 0, end: 1000 });
  near(y[0] - y[2], y[2] - y[1]);
  assert.ok(y[1] > 0 && y[0] < 1);
  near(heightOf(lowest, { lowest, highest }), 1);
  near(heightOf(highest, { lowest, highest }), 0);
});

test("durations that hardly differ do not fill the height", () => {
  const { y } = dotsOf([call(0, 1000), call(1, 1010), call(2, 0)].slice(0, 2), "time", { begin: 0, end: 10 });
  assert.ok(Math.abs(y[0] - y[1]) < 0.02);
  const { y: empty } = dotsOf([call(0, 0), call(1, 0)], "time", { begin: 0, end: 10 });
  assert.ok([...empty].every((height) => height >= 0 && height <= 1));
});

test("round durations are few", () => {
  assert.deepEqual(roundDurations(8, 1200), [10, 100, 1000]);
  assert.deepEqual(roundDurations(80, 1200), [100, 200, 500, 1000]);
  assert.deepEqual(roundDurations(1.3e6, 4e6), [1.5e6, 2e6, 3e6]);
  assert.deepEqual(roundDurations(110, 140), []);
});

test("the nearest dot is found within reach", () => {
  const dots = dotsOf(calls, "visit", { begin: 0, end: 1000 });
  const at = (i: number) => ({ x: dots.x[i] * 400, y: dots.y[i] * 100 });
  for (let i = 0; i < calls.length; i++) assert.equal(nearestDot(dots, at(i), 400, 100, 12), i);
  assert.equal(nearestDot(dots, { x: at(1).x + 8, y: at(1).y + 8 }, 400, 100, 12), 1);
  assert.equal(nearestDot(dots, { x: at(1).x + 10, y: at(1).y + 10 }, 400, 100, 12), -1);
});

test("the words of each line lie inside of the picture", () => {
  const TALL = 10;  // of a font of 11 pixels
  for (let line = 0.5; line < 120; line++) {
    const foot = wordsAt(line);
    assert.ok(foot - TALL >= 0, `${foot} at ${line}`);
    assert.ok(foot < line || foot - TALL > line, `the line at ${line} goes through its words at ${foot}`);
  }
});
