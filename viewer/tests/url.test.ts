import assert from "node:assert/strict";
import { test } from "node:test";
import { type Link, read, write } from "../src/state/url";

const full: Link = {
  range: { begin: 100, end: 2 ** 53 - 1 }, selection: { begin: 5, end: 9, tracks: [0, 7] }, call: { track: 3, time: 12, depth: 4 }, instant: { track: 2, time: 77 },
  func: "a.b<c>", panel: "flame", filter: "Thread & co, 100 %", sort: "activity", only: "/^app\\./", pinned: [1, 0x80000000], open: [2], folded: [0, 0x80000001], rows: "all", colours: "module", lit: "a.b", moved: [3, 0, 0x80000001, 2], messages: "off", times: "day", find: "/^a\\.b#c=1$/ > 5 ms",
};

test("what a link says is read again", () => {
  assert.deepEqual(read("#" + write(full)), full);
  assert.deepEqual(read(write({ selection: { begin: 0, end: 1, tracks: null } })), { selection: { begin: 0, end: 1, tracks: null } });
  assert.equal(write({}), "");
});

test("nonsense in a link is ignored", () => {
  for (const text of ["#view=9-3", "#view=a-b", "#view=1", "#call=1,2", "#held=1", "#pinned=x", "#unknown=1", "#%zz", "#view=-5-3", "#call=1,2,NaN"]) {
    assert.deepEqual(read(text), {}, text);
  }
});

test("a token is not part of a link", () => {
  assert.deepEqual(read("#t=secret&view=1-2"), { range: { begin: 1, end: 2 } });
  assert.ok(!write(read("#t=secret&find=x")).includes("secret"));
});
