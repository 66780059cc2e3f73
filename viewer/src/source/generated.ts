// A generated run for tests and demonstrations: a solver with threads, a pool of processes, and tasks.
import { type Bundle, type Gathering, type Location, NONE, type Process, type Run, type SourceText } from "../model";
import { type Lane, LaneBuilder } from "./lane";
import { MemorySource } from "./memory";
import type { Talk } from "./messages";

/** Pseudo-random numbers from 0 to below 1, the same for equal seeds (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const NAMES: [string, string, number][] = [
  ["__main__", "<module>", 1], ["__main__", "main", 60], ["plate", "Plate.step", 31], ["plate", "Slab.relax", 39], ["plate", "Slab.measure_change", 47],
  ["plate", "Plate.exchange", 66], ["threading", "Thread.run", 1016], ["threading", "Barrier.wait", 687], ["threading", "Condition.wait", 327],
  ["numpy.lib", "pad", 12], ["numpy.lib", "stack", 40], ["json", "dumps", 183], ["json.encoder", "JSONEncoder.encode", 182],
  ["json.encoder", "_iterencode", 413], ["service", "handle", 14], ["service", "Session.fetch", 42], ["service", "render <b>page</b>", 77],
  ["multiprocessing.pool", "worker", 97], ["work", "task", 5], ["work", "factor", 11], ["importlib._bootstrap", "_find_and_load", 1022],
];

const RELAX: SourceText = {
  file: "/home/u/plate.py", first: 36, from: 39, to: 42, changed: true,
  lines: ["        self.step()", "", "", "    def relax(self):", "        new = self.next", "        new[1:-1] = (self.now[:-2] + self.now[2:]) / 2  # <b>no markup</b>", "        self.now, self.next = new, self.now", ""],
  times: [{ line: 40, samples: 12, seconds: 0.012 }, { line: 41, samples: 805, seconds: 0.8 }, { line: 42, samples: 9, seconds: 0.009 }],
};

/** Numbers call paths in the order of their first use. */
class PathTable {
  readonly parent: number[] = [];
  readonly region: number[] = [];
  private readonly known = new Map<string, number>();

  of(parent: number, region: number): number {
    const key = `${parent},${region}`;
    let path = this.known.get(key);
    if (path === undefined) {
      this.known.set(key, (path = this.parent.length));
      this.parent.push(parent);
      this.region.push(region);
    }
    return path;
  }
}

/** The program of one location: its calls take time as they are made. */
export class Script {
  time: number;
  events = 0;
  private readonly lane = new LaneBuilder();
  private readonly stack: number[] = [];

  constructor(private readonly paths: PathTable, readonly begin: number, readonly chance: () => number) {
    this.time = begin;
  }

  work(ns: number): void {
    this.time += Math.max(1, Math.round(ns * (0.7 + 0.6 * this.chance())));
  }

  /** Works for a part of the time and waits for the rest. */
  wait(ns: number, part = 0.97, cause = 3): void {
    const begin = this.time;
    this.work(ns);
    const waited = Math.round((this.time - begin) * part), other = Math.floor(waited / 8);
    this.lane.wait(begin, this.time, waited - other, cause);
    this.lane.wait(begin, this.time, other, 2);
  }

  call(region: number, body: () => void): void {
    const path = this.paths.of(this.stack.length ? this.stack[this.stack.length - 1] : NONE, region);
    this.lane.enter(this.time, path, region);
    this.stack.push(path);
    body();
    this.stack.pop();
    this.lane.leave(this.time);
    this.events += 2;
  }

  /** Gives the innermost call a parameter. */
  give(parameter: number, value: number): void {
    this.lane.give(parameter, String(value));
    this.events++;
  }

  sample(metric: number, value: number): void {
    this.lane.sample(metric, this.time, value);
    this.events++;
  }

  happen(kind: "create" | "begin" | "end" | "wait", number: number): void {
    this.lane.happen({ kind, number, time: this.time });
    this.events++;
  }

  off(ns: number): void {
    this.lane.switchRecording(this.time);
    this.time += ns;
    this.lane.switchRecording(this.time);
  }

  finish(): Lane {
    return this.lane.finish(this.time);
  }
}

function solver(script: Script, steps: number): void {
  const encode = (depth: number) => script.call(13, () => {
    script.work(900);
    if (depth) encode(depth - 1);
  });
  script.call(6, () => script.call(1, () => {
    for (let step = 0; step < steps; step++) {
      script.call(2, () => {
        script.give(0, step);
        if (step % 5 === 0) script.sample(0, 1 / (1 + step / 20) + 0.01 * (step % 7));
        script.call(3, () => script.work(2.4e6));
        script.call(5, () => script.call(7, () => script.call(8, () => script.wait(9e5 * script.chance() ** 3 + 4e4))));
        for (let i = 0; i < 40; i++) script.call(9, () => (script.work(3e3), script.call(10, () => script.work(1.2e3))));
        if (step % 5 === 4) script.call(4, () => script.work(4e5));
      });
      if (step % 50 === 49) script.call(11, () => script.call(12, () => { for (let i = 0; i < 30; i++) encode(6); }));
    }
  }));
}

function worker(script: Script, chunks: number): void {
  script.call(17, () => {
    for (let chunk = 0; chunk < chunks; chunk++) {
      script.call(18, () => { for (let i = 0; i < 25; i++) script.call(19, () => script.work(9e4)); });
      if (chunk % 7 === 3) script.call(8, () => script.wait(2e7, 0.97, 6)); else script.work(5e5);
      if (chunk === 20) script.off(6e7);
    }
  });
}

function task(script: Script, number = 0): void {
  if (number) script.happen("begin", number);
  script.call(14, () => {
    script.call(15, () => script.wait(4e6, 0.7, 5));
    for (let i = 0; i < 6; i++) script.call(16, () => script.work(8e4));
  });
  if (number) script.happen("end", number);
}

/** `size` 1: some 60,000 calls in 1.6 s. */
export function generated(seed = 1, size = 1): MemorySource {
  const paths = new PathTable();
  const processes: Process[] = [];
  const locations: Location[] = [];
  const lanes: Lane[] = [];
  const chance = random(seed);
  const add = (name: string, process: number, kind: Location["kind"], begin: number, run: (script: Script) => void) => {
    const script = new Script(paths, begin, chance);
    run(script);
    const lane = script.finish();
    lanes.push(lane);
    locations.push({ name, process, kind, events: script.events, begin, end: script.time, depth: lane.rows });
  };
  const process = (name: string, parent: number | null, ending: string) =>
    processes.push({ name, pid: 4200 + processes.length, host: "vm", command: "python3 plate.py", parent, ending }) - 1;

  const main = process("plate.py", null, "");
  add("MainThread", main, "thread", 0, (script) => script.call(0, () => {
    script.call(20, () => script.work(6e7));
    solver(script, 280 * size);
  }));
  for (let i = 1; i < 4; i++) add(`Thread-${i} (solve)`, main, "thread", 6.2e7 + i * 3e5, (script) => solver(script, 270 * size));
  for (let i = 0; i < 2; i++) {
    const pool = process(`ForkPoolWorker-${i + 1}`, main, i ? "killed by SIGKILL" : "");
    add("MainThread", pool, "thread", 3e8 + i * 2e7, (script) => worker(script, (i ? 60 : 160) * size));
  }
  const service = process("service.py", null, "");
  add("MainThread", service, "thread", 1e8, (script) => script.call(0, () => { for (let i = 0; i < 300 * size; i++) {
    if (i < 40 * size) script.happen("create", i + 1);
    task(script);
    if (i >= 40 && i < 40 + 40 * size) script.happen("wait", i - 39);
    script.work(2e5);
  } }));
  for (let i = 0; i < 40 * size; i++) add(`Task-${i + 1}`, service, "task", 1.2e8 + i * 3e7, (script) => task(script, i + 1));
  const ranks = [0, 1, 2, 3];
  return new MemorySource(description(processes, locations), { parent: Int32Array.from(paths.parent), region: Int32Array.from(paths.region) }, lanes, { 3: RELAX }, talkOf(lanes, ranks));
}

/** In each step every location sends its results to the next one, which waits for them; all meet at every tenth
    step. */
function talkOf(lanes: readonly Lane[], tracks: readonly number[]): Talk {
  const steps = tracks.map((track) => Array.from(lanes[track].region).flatMap((region, call) => (region === 2 ? [call] : [])));
  const messages: Bundle[] = [], collectives: Gathering[] = [];
  for (let step = 0; step + 1 < Math.min(...steps.map((calls) => calls.length)); step++) {
    tracks.forEach((track, i) => {
      const to = tracks[(i + 1) % tracks.length];
      const sent = lanes[track].end[steps[i][step]], received = Math.max(sent + 30_000, lanes[to].begin[steps[(i + 1) % tracks.length][step + 1]] + 400_000);
      messages.push({ count: 1, sent, lastSent: sent, received, lastReceived: received, bytes: 8 * (100 + step), waitedSender: 0, waitedReceiver: step % 3 ? 0 : 20_000, fromTrack: track, toTrack: to, communicator: 0, tag: 7 });
    });
    if (step % 10 !== 9) continue;
    const begins = tracks.map((track, i) => lanes[track].end[steps[i][step]] - 400_000), last = Math.max(...begins);
    tracks.forEach((track, i) => collectives.push({ count: 1, begin: begins[i], end: last + 20_000, waited: last - begins[i], sent: 8, received: 8, track, communicator: 0, kind: 11, operation: (step - 9) / 10 }));
  }
  messages.sort((a, b) => a.sent - b.sent || a.fromTrack - b.fromTrack);
  collectives.sort((a, b) => a.begin - b.begin || a.track - b.track);
  return { messages, collectives, facts: { count: messages.length, collectives: collectives.length, unmatched: 0, backwards: 0, complete: true } };
}

function description(processes: Process[], locations: Location[]): Run {
  const events = locations.reduce((sum, location) => sum + location.events, 0);
  return {
    title: "plate.py -n 1000", facts: ["vm", "2026-11-23 08:14:02", `${events.toLocaleString("en")} events`], losses: ["12 events could not be recorded"],
    ticksPerSecond: 1e9, length: Math.max(...locations.map((location) => location.end)), events, secondsPerEvent: 3e-8, waiting: true, causes: true,
    regions: NAMES.map(([module, name, line], id) => ({ id, cause: name.endsWith("wait") ? 3 : 0, suspends: 0, loop: false, name: `${module}.${name}`, module, file: `/home/u/${module.replaceAll(".", "/")}.py`, line, idle: name.endsWith("wait"), suspended: false, kind: "function", called: true, waits: false })),
    processes, locations, markers: [{ time: 5.2e8, track: 0, text: "residual below 1e-3" }], marks: [], parts: [], metrics: [{ name: "residual", unit: "K", description: "of the plate", type: "double" }], parameters: ["timeloom::step"], communicators: ["MPI_COMM_WORLD"],
  };
}
