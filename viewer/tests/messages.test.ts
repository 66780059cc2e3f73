// Messages in a range: each, or joined; compared with brute force.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Location } from "../src/model";
import { bundlesIn, gatheringsIn, matrixOf } from "../src/source/messages";
import { randomTalk } from "./random_run";

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);

test("nothing is lost when messages are joined, and nothing outside the range is counted", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const talk = randomTalk(seed, 4, 1000, 200);
    for (const limit of [1, 7, 40, 1000]) {
      for (const tracks of [null, [2]]) {
        const range = { begin: 200, end: 700, tracks, limit, columns: 32 };
        const there = talk.messages.filter((one) => Math.min(one.sent, one.received) < 700 && Math.max(one.sent, one.received) >= 200 && (!tracks || one.fromTrack === 2 || one.toTrack === 2));
        const found = bundlesIn(talk, range);
        assert.equal(found.count, there.length);
        assert.ok(found.items.length <= limit);
        if (!found.complete) continue;
        for (const key of ["count", "bytes", "waitedSender", "waitedReceiver"] as const) assert.equal(sum(found.items.map((one) => one[key])), sum(there.map((one) => one[key])));
        for (const { fromTrack, toTrack, sent, lastSent, count } of found.items) {
          const members = there.filter((one) => one.fromTrack === fromTrack && one.toTrack === toTrack && one.sent >= sent && one.sent <= lastSent);
          assert.ok(count === 1 || members.length >= count);
        }
        const visits = gatheringsIn(talk, range);
        if (visits.complete) assert.equal(sum(visits.items.map((one) => one.count)), visits.count);
      }
    }
  }
});

test("few messages are told one by one, in the order in which they were sent", () => {
  const talk = randomTalk(5, 3, 1000);
  assert.deepEqual(bundlesIn(talk, { begin: 0, end: 2000, tracks: null, limit: 60, columns: 8 }).items, talk.messages);
  assert.deepEqual(gatheringsIn(talk, { begin: 0, end: 2000, tracks: null, limit: 60, columns: 8 }).items, talk.collectives);
});

test("the matrix counts what was sent in the range, by process", () => {
  const talk = randomTalk(9, 3, 1000);
  const locations = [0, 1, 1].map((process) => ({ process }) as Location);
  const range = { begin: 100, end: 600, tracks: null, limit: 10, columns: 1 };
  const found = matrixOf(talk, locations, range);
  for (const pair of found.items) {
    const mine = talk.messages.filter((one) => one.sent >= 100 && one.sent < 600 && locations[one.fromTrack].process === pair.sender && locations[one.toTrack].process === pair.receiver);
    assert.deepEqual([pair.count, pair.bytes, pair.waitedReceiver], [mine.length, sum(mine.map((one) => one.bytes)), sum(mine.map((one) => one.waitedReceiver))]);
  }
  assert.equal(sum(found.items.map((pair) => pair.count)), found.count);
  const most = matrixOf(talk, locations, { ...range, limit: 1 });
  assert.deepEqual([most.items[0].bytes, most.complete], [Math.max(...found.items.map((pair) => pair.bytes)), false]);
});
