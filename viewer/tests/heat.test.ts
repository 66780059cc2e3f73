// Samples on source lines.
import assert from "node:assert/strict";
import { test } from "node:test";
import { heatOf, lockColumns, notOnLines } from "../src/source/heat";

test("lines have shares of the function's samples, and warmth by the hottest line", () => {
  const heat = heatOf([{ line: 0, samples: 100, seconds: 0.1 }, { line: 12, samples: 600, seconds: 0.6 }, { line: 14, samples: 1300, seconds: 1.3 }]);
  assert.ok(heat);
  assert.deepEqual([heat.samples, heat.unknown], ["2,000", "5.0 %"]);
  assert.deepEqual([...heat.lines.keys()], [12, 14]);
  assert.deepEqual(heat.lines.get(14), { text: "65.0 %", title: "1.30 s in 1,300 samples", share: 1 });
  assert.equal(heat.lines.get(12)?.share, 0.6 / 1.3);
});

test("a function without samples has no heat", () => {
  assert.equal(heatOf([]), null);
  assert.equal(heatOf([{ line: 3, samples: 1, seconds: 0 }]), null);
});

test("amounts without lines are named", () => {
  const sampled = { samples: true, memory: true }, heat = heatOf([{ line: 3, samples: 1, seconds: 1 }]);
  assert.match(notOnLines({}, null), /^Not known by line: no samples are here \(timeloom run --sample 1ms .*work and waiting .*no memory is here \(timeloom run --memory\)\.$/);
  assert.match(notOnLines(sampled, null), /: the function itself has no samples; work and waiting/);
  assert.match(notOnLines(sampled, heat), /^Not known by line: work and waiting are measured for whole calls.*; the tab Memory has its bytes by call path\.$/);
});

test("lines have the waiting for locks, and the waiting of others for the ones that they held", () => {
  const [waited, blocked] = lockColumns([
    { line: 7, waits: 18, waited: 3.8, held: 0.95, blocked: 1.9 }, { line: 9, waits: 2, waited: 0.019, held: 0, blocked: 0 }, { line: 10, waits: 0, waited: 0, held: 2, blocked: 3.8, at_least: true },
  ]);
  assert.deepEqual([...waited.lines], [
    [7, { text: "3.80 s", share: 1, title: "for locks, 18 times" }], [9, { text: "19.0 ms", share: 0.019 / 3.8, title: "for locks, 2 times" }],
  ]);
  assert.deepEqual([...blocked.lines], [
    [7, { text: "1.90 s", share: 0.5, title: "others, while this line held locks for 950 ms" }], [10, { text: "≥ 3.80 s", share: 1, title: "others, while this line held locks for 2.00 s" }],
  ]);
  assert.deepEqual(lockColumns([{ line: 7, waits: 0, waited: 0, held: 1, blocked: 0 }]), []);
  assert.match(notOnLines({}, null, true), /; work and other waiting are measured/);
});
