// Random runs, and answers by brute force to compare with.
import { type Bundle, type CallRef, COLUMNS, type Gathering, NONE, type Paths, type Run } from "../src/model";
import { CAUSES } from "../src/causes";
import { random } from "../src/source/generated";
import { type Lane, LaneBuilder } from "../src/source/lane";
import type { Talk } from "../src/source/messages";

export interface Made {
  readonly run: Run;
  readonly paths: Paths;
  readonly lanes: Lane[];
  readonly talk: Talk;
  /** What happened on each location: [time, path, region] enters, [time] leaves, [time, waited] since the one before. */
  readonly events: { time: number; enter?: { path: number; region: number }; waited?: number; cause?: number }[][];
}

export function randomRun(seed: number, locations = 3, calls = 120, regions = 6): Made {
  const chance = random(seed);
  const below = (n: number) => Math.floor(chance() * n);
  const parent: number[] = [], region: number[] = [];
  const pathOf = (outer: number, name: number) => {
    for (let path = 0; path < parent.length; path++) if (parent[path] === outer && region[path] === name) return path;
    region.push(name);
    return parent.push(outer) - 1;
  };
  const lanes: Lane[] = [], events: Made["events"] = [];
  for (let location = 0; location < locations; location++) {
    const builder = new LaneBuilder();
    const list: Made["events"][number] = [];
    const stack: number[] = [];
    let time = below(50);
    for (let entered = 0; entered < calls || stack.length;) {
      const before = time;
      time += chance() < 0.25 ? 0 : below(chance() < 0.1 ? 3000 : 20);
      if (stack.length && time > before && chance() < 0.2) {
        const waited = 1 + below(time - before);
        const other = below(waited), causes = [below(CAUSES.length), below(CAUSES.length)].sort((a, b) => a - b);
        for (const [i, ticks] of [waited - other, causes[0] === causes[1] ? 0 : other].entries()) {
          if (!ticks) continue;
          builder.wait(before, time, ticks, causes[i]);
          list.push({ time, waited: ticks, cause: causes[i] });
        }
      }
      if (entered < calls && (stack.length === 0 || (stack.length < 7 && chance() < 0.52))) {
        const path = pathOf(stack.at(-1) ?? NONE, below(regions));
        builder.enter(time, path, region[path]);
        list.push({ time, enter: { path, region: region[path] } });
        stack.push(path);
        entered++;
      } else {
        builder.leave(time);
        list.push({ time });
        stack.pop();
      }
    }
    lanes.push(builder.finish(time));
    events.push(list);
  }
  return { run: describe(lanes, regions), paths: { parent: Int32Array.from(parent), region: Int32Array.from(region) }, lanes, events, talk: randomTalk(seed, locations, Math.max(...lanes.map((lane) => lane.end[0]))) };
}

/** Messages and collective operations in the order in which a run has them. */
export function randomTalk(seed: number, locations: number, length: number, count = 60): Talk {
  const chance = random(1000 + seed);
  const below = (n: number) => Math.floor(chance() * n);
  const messages = Array.from({ length: count }, (): Bundle => {
    const sent = below(length), received = Math.max(0, sent + below(100) - 5);
    return {
      count: 1, sent, lastSent: sent, received, lastReceived: received, bytes: below(5000), waitedSender: below(3), waitedReceiver: below(50),
      fromTrack: below(locations), toTrack: below(locations), communicator: below(2), tag: below(2) ? 2 ** 32 - 1 - below(9) : below(9),
    };
  });
  const collectives = Array.from({ length: count }, (_, operation): Gathering => {
    const begin = below(length);
    return { count: 1, begin, end: begin + below(50), waited: below(20), sent: below(99), received: below(99), track: below(locations), communicator: below(2), kind: below(19), operation };
  });
  messages.sort((a, b) => a.sent - b.sent || a.fromTrack - b.fromTrack || a.toTrack - b.toTrack || a.received - b.received);
  collectives.sort((a, b) => a.begin - b.begin || a.track - b.track);
  return { messages, collectives, facts: { count, collectives: count, unmatched: below(3), backwards: 0, complete: true } };
}

function describe(lanes: readonly Lane[], regions: number): Run {
  const end = (lane: Lane) => lane.end.reduce((last, time) => Math.max(last, time), 0);
  return {
    title: "random", facts: [], losses: [], ticksPerSecond: 1e9, length: Math.max(...lanes.map(end)), events: 0, secondsPerEvent: 0, waiting: true, causes: true,
    regions: Array.from({ length: regions }, (_, id) => ({ id, cause: 0, suspends: 0, loop: false, name: `module${id % 2}.f${id}`, module: `module${id % 2}`, file: `/m${id % 2}.py`, line: id, idle: false, suspended: false, kind: "function", called: true, waits: false })),
    processes: [{ name: "p", pid: 1, host: "h", command: "c", parent: null, ending: "" }],
    locations: lanes.map((lane, id) => ({ name: `T${id}`, process: 0, kind: "thread", events: 2 * lane.count, begin: 0, end: end(lane), depth: lane.rows })),
    markers: [], marks: [], parts: [], metrics: [{ name: "m", unit: "", description: "", type: "int64" }], parameters: ["n"], communicators: ["world", ""],
  };
}

/** All calls of a run, as far as a source tells them. */
export function allCalls(made: Made): CallRef[] {
  return made.lanes.flatMap((lane, track) => Array.from({ length: lane.count }, (_, i) => ({
    track, depth: lane.depth[i], begin: lane.begin[i], end: lane.end[i], region: lane.region[i],
  })));
}

/** Own times of a stretch of a lane by region, tick by tick. */
export function ownByTick(lane: Lane, begin: number, end: number): Map<number, number> {
  const sums = new Map<number, number>();
  for (let tick = begin; tick < end; tick++) {
    let inner = NONE;
    for (let call = 0; call < lane.count; call++) {
      if (lane.begin[call] <= tick && lane.end[call] > tick && (inner === NONE || lane.depth[call] > lane.depth[inner])) inner = call;
    }
    if (inner !== NONE) sums.set(lane.region[inner], (sums.get(lane.region[inner]) ?? 0) + 1);
  }
  return sums;
}

export const cellsOf = (row: number): [number, number] => [row * COLUMNS, (row + 1) * COLUMNS];
