// Marks in links, and what is saved.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Mark } from "../src/model";
import type { Source } from "../src/source/source";
import { addMark, changeNote, keepMarks, readMarks, removeMark, writeMarks } from "../src/state/marks";
import { read, write } from "../src/state/url";
import { Viewing } from "../src/state/view";
import { randomRun } from "./random_run";

test("marks are the same after a link", () => {
  const marks = [{ time: 3, text: "a;b:c & d=e #1 ü%" }, { time: 7, text: "" }];
  const link = read(write({ marks: writeMarks(marks) }));
  assert.deepEqual(readMarks(link.marks!), marks);
  assert.deepEqual(readMarks("x;5;6:%E0;-1:a;9:ok;2:first"), [{ time: 2, text: "first" }, { time: 9, text: "ok" }]);
});

test("marks are set, noted, removed and kept", async () => {
  const kept: (readonly Mark[])[] = [];
  const source = { keep: async (marks: readonly Mark[]) => (kept.push(marks), "here") } as unknown as Source;
  globalThis.performance ??= { now: () => 0 } as Performance;
  const viewing = new Viewing({ ...randomRun(1).run, length: 1000 });
  const end = keepMarks(viewing, source);
  addMark(viewing, 700.4);
  addMark(viewing, 5000);
  addMark(viewing, 12);
  changeNote(viewing, 700, "slow");
  assert.deepEqual(viewing.view.marks, [{ time: 12, text: "" }, { time: 700, text: "slow" }, { time: 1000, text: "" }]);
  removeMark(viewing, 12);
  await new Promise((resolve) => setTimeout(resolve, 700));
  assert.deepEqual(kept, [viewing.view.marks]);
  assert.equal(viewing.view.keptAt, "here");
  end();
});
