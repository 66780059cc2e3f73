// Arrows between tasks of engines, from calls in memory.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LaneBuilder } from "../src/source/lane";
import { taskLinks } from "../src/source/tasks";

const NAMES = ["n", "timeloom::key", "timeloom::needs", "timeloom::submits"];

/** A lane of calls: begin, end, and parameters with their texts. */
function lane(...calls: readonly (readonly [number, number, readonly (readonly [number, string])[]])[]) {
  const builder = new LaneBuilder();
  for (const [begin, end, given] of calls) {
    builder.enter(begin, 0, 0);
    for (const [parameter, value] of given) builder.give(parameter, value);
    builder.leave(end);
  }
  return builder.finish(100);
}

const flat = (lanes: ReturnType<typeof lane>[], ticks = 1000) => taskLinks(lanes, NAMES, ticks).map((link) => [link.fromTrack, link.from, link.toTrack, link.to]);

test("an arrow goes from the maker of a value to each taker", () => {
  const lanes = [lane([0, 3, [[1, "a"]]], [9, 10, [[1, "c"], [2, "a"], [2, "b"], [2, "x"]]]), lane([1, 4, [[0, "7"], [1, "b"]]], [11, 12, [[1, "d"], [2, "a"]]])];
  assert.deepEqual(flat(lanes), [[0, 3, 0, 9], [1, 4, 0, 9], [0, 3, 1, 11]]);
  assert.equal(taskLinks(lanes, NAMES, 1000)[0].kind, "takes");
  assert.deepEqual(taskLinks(lanes, ["n", "timeloom::key"], 1000), []);
});

test("of several runs of a task, the last that had ended has made the value", () => {
  const lanes = [lane([0, 3, [[1, "a"]]], [20, 30, [[1, "a"]]]), lane([4, 8, [[1, "a"]]]), lane([5, 6, [[1, "b"], [2, "a"]]], [10, 11, [[1, "c"], [2, "a"]]], [12, 13, [[1, "d"], [2, "d"]]])];
  assert.deepEqual(flat(lanes), [[0, 3, 2, 5], [1, 8, 2, 10]]);
});

test("requests tell which values a task takes, and clocks may differ by a millisecond", () => {
  const lanes = [lane([0, 1, [[3, "b"], [2, "a"]]]), lane([1, 5, [[1, "a"]]]), lane([4, 6, [[1, "b"]]])];
  assert.deepEqual(flat(lanes), [[1, 5, 2, 4]]);
  assert.deepEqual(flat(lanes, 999), []);
});
