import assert from "node:assert/strict";
import { test } from "node:test";
import { History } from "../src/state/history";
import { clamp, levelFor, move, SHORTEST, ticks, tickStep, toTime, toX, zoom } from "../src/timeline/scale";

const whole = { begin: 0, end: 1e9 };

test("zooming keeps the place of the pointer", () => {
  const range = { begin: 2e8, end: 4e8 };
  const next = zoom(range, 2.5e8, 0.5, whole);
  assert.equal(next.end - next.begin, 1e8);
  assert.equal(toX(next, 1000, 2.5e8), toX(range, 1000, 2.5e8));
  assert.equal(toTime(next, 1000, toX(next, 1000, 2.3e8)), 2.3e8);
});

test("a view never leaves the run and never shows less than a few ticks", () => {
  assert.deepEqual(zoom({ begin: 0, end: 1e9 }, 5e8, 4, whole), whole);
  assert.deepEqual(move({ begin: 1e8, end: 2e8 }, -5e8, whole), { begin: 0, end: 1e8 });
  assert.deepEqual(move({ begin: 1e8, end: 2e8 }, 5e9, whole), { begin: 9e8, end: 1e9 });
  const closest = zoom({ begin: 500, end: 540 }, 500, 1e-9, whole);
  assert.equal(closest.end - closest.begin, SHORTEST);
  assert.deepEqual(clamp({ begin: -5, end: 3 }, { begin: 0, end: 4 }), { begin: 0, end: SHORTEST });
});

test("columns of tiles are half a pixel to two pixels wide", () => {
  for (let perPixel = 1; perPixel < 1e12; perPixel *= 1.37) {
    const pixels = 4 ** levelFor(perPixel) / perPixel;
    assert.ok(pixels <= 2 && pixels > 0.4999, `${perPixel}: ${pixels}`);
  }
  assert.equal(levelFor(0.02), 0);
});

test("steps of the axis are round", () => {
  assert.equal(tickStep(1), 1);
  assert.equal(tickStep(1.2e6), 2e6);
  assert.equal(tickStep(3e9), 5e9);
  assert.equal(tickStep(70e9), 120e9);
  assert.equal(tickStep(4000e9), 7200e9);
  const { step, times } = ticks({ begin: 1.5e8, end: 9.5e8 }, 800, 100, 1);
  assert.equal(step, 1e8);
  assert.deepEqual(times.map((time) => time / 1e8), [2, 3, 4, 5, 6, 7, 8, 9]);
  assert.deepEqual(ticks({ begin: 0, end: 3.5e8 }, 350, 100, 1, 7e7).times, [3e7, 13e7, 23e7, 33e7], "multiples since midnight");
  const slow = ticks({ begin: 0, end: 3.3e6 }, 330, 100, 300);  // ticks of 300 ns
  assert.ok(Math.abs(slow.step * 300 - 5e8) < 1e-3);
});

test("zooms are undone by gesture", () => {
  const history = new History();
  const [a, b, c] = [{ begin: 0, end: 100 }, { begin: 10, end: 50 }, { begin: 20, end: 30 }];
  assert.equal(history.back(a), null);
  history.leave(a, 1000);
  history.leave({ begin: 5, end: 70 }, 1100);  // the same turn of the wheel
  history.leave(b, 5000);
  assert.deepEqual(history.back(c), b);
  assert.deepEqual(history.back(b), a);
  assert.equal(history.back(a), null);
  assert.deepEqual(history.forward(a), b);
  history.leave(b, 9000);
  assert.equal(history.forward(c), null);
});
