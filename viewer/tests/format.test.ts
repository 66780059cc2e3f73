import assert from "node:assert/strict";
import { test } from "node:test";
import { count, duration, instant, parseDuration, percent, fileAndLine, originTicks, setTicksPerSecond, setTimeOfDay, shortName } from "../src/format";

test("durations have three digits and the unit that fits them", () => {
  const cases: [number, string][] = [
    [0, "0 s"], [1, "1 ns"], [999, "999 ns"], [1000, "1.00 µs"], [1234, "1.23 µs"], [999_700, "1.00 ms"], [12_345_678, "12.3 ms"],
    [1e9, "1.00 s"], [59.9e9, "59.9 s"], [61e9, "1 min 1 s"], [3661e9, "1 h 1 min"],
  ];
  for (const [ns, words] of cases) assert.equal(duration(ns), words);
});

test("instants are times of day where that is asked for", () => {
  setTimeOfDay((23 * 3600 + 59 * 60 + 58) * 1e9 + 250e6);
  assert.deepEqual([instant(0, 1e9), instant(0, 1e7), instant(1.75e9, 1e9), instant(2e9, 1e8)], ["23:59:58", "23:59:58.25", "0:00:00", "0:00:00.2"]);
  assert.equal(originTicks(), 86_398.25e9);
  setTimeOfDay(null);
  assert.deepEqual([instant(0, 1e9), originTicks()], ["0 s", 0]);
});

test("instants have the digits that tell neighbours apart", () => {
  assert.equal(instant(1.5e9, 1e8), "1.5 s");
  assert.equal(instant(1.5e9, 1), "1.500 000 000 s");
  assert.equal(instant(61.25e9, 1e7), "1:01.25");
  assert.equal(instant(3723e9, 1e9), "1:02:03");
  assert.equal(instant(0.999999999e9, 1), "0.999 999 999 s");
});

test("ticks that are no nanoseconds are converted", () => {
  setTicksPerSecond(1e6);
  try {
    assert.equal(duration(1500), "1.50 ms");
    assert.equal(instant(2_500_000, 100_000), "2.5 s");
  } finally {
    setTicksPerSecond(1e9);
  }
});

test("counts, shares, places and short names", () => {
  assert.equal(count(1234567), "1,234,567");
  assert.equal(percent(1, 8), "12.5 %");
  assert.equal(percent(1, 1e6), "< 0.1 %");
  assert.equal(percent(0, 0), "–");
  assert.equal(fileAndLine("/a/b/stencil.py", 39), "stencil.py:39");
  assert.equal(fileAndLine("", 0), "");
  assert.equal(shortName("app.core.Solver.step", "app.core"), "Solver.step");
  assert.equal(shortName("apple", "app"), "apple");
  assert.equal(shortName("json.<module>", "json"), "json.<module>");
});

test("durations are read as people write them", () => {
  assert.equal(parseDuration("50 ms"), 50e6);
  assert.equal(parseDuration("1.5us"), 1500);
  assert.equal(parseDuration("2 min"), 120e9);
  for (const nonsense of ["", "ms", "5", "5 parsec", "-1 s"]) assert.equal(parseDuration(nonsense), null);
});
