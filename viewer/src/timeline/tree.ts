// The tree of rows: processes, with their threads, tasks and counters inside.
import { type Counter, FIRST_PROCESS, FIRST_RUN, type Location, NONE, type Part, partOf, type Run } from "../model";
import { type Activity, FEW_ALIKE, worksHardly } from "./activity";
import { addTo } from "../sorted";
import { lanesOf } from "./lanes";
import type { Row } from "./layout";

/** Levels of calls that a row shows if it has more than MANY_LEVELS, unless all are requested. */
export const FEW_LEVELS = 24;
export const MANY_LEVELS = 32;
/** The same as FEW_LEVELS and MANY_LEVELS for two runs on one screen. */
const LEVELS_OF_TWO = 10;

/** Rows of folders: this plus the number of the process, or the number of the group. */
export const FIRST_FOLDER = 0xc0000000;
/** Rows of devices: this plus the number of their first stream. */
export const FIRST_DEVICE = 0xc8000000;
export const FIRST_IDLE = 0xd0000000;
export const FIRST_GROUP = 0xe0000000;

/** Rows of their lanes: this, plus a million for each folder, plus the number of the lane. */
const FIRST_LANE = 2 ** 33;
/** The folders that are groups come after the ones of processes. */
const GROUP_LANES = 500_000;

/** Rows of counters: this, plus 65536 for each location, plus the metric. */
export const FIRST_COUNTER = 2 ** 40;
/** Rows of folders of counters: this plus the number of the location. */
export const FIRST_METRICS = 2 ** 41;
/** If a location with calls has more counters, they are in a folder. */
const FEW_COUNTERS = 3;
/** Threads of OpenMP are always a group. */
const TEAM = /^lib\w*omp\w* thread \d+$/;
/** The device in the name of a stream: src/weave/gpu/gpu_waits.cpp. */
const DEVICE = /^(.*\[\d+):.*\]$/;

/** Metrics whose values belong to single calls, which the tab Call tells; by src/weave/gpu/gpu_names.hpp. */
export const OF_CALLS: ReadonlyMap<string, string> = new Map([
  ["gpu_time", "time on the GPU"], ["gpu_queue_time", "time in the queue"], ["gpu_wait_time", "waited for the GPU"], ["gpu_bytes", "bytes"],
  ["gpu_allocated", "allocated on the GPU"], ["gpu_memory_at_peak", "held at the peak"], ["gpu_memory_at_end", "never released"], ["gpu_idle_time", "GPU idle"],
]);

export interface Branch {
  id: number;
  kind: Row["kind"];
  name: string;
  detail: string;
  levels: number;
  /** Levels that it shows unless all are requested. */
  few: number;
  /** Levels beyond the first that are on its line. */
  hidden: number;
  metric?: number;
  /** The time of its first activity, and the time that it works, or the number of its events. */
  begin: number;
  busy: number;
  /** True for rows that are never folded at first. */
  open: boolean;
  /** The row that it stands below, in any order: a thread's, or its group's. */
  follows?: number;
  inner: Branch[];
  /** For folders: shown instead of `inner` while rows are in the order of the recording. */
  lanes?: () => Branch[];
  locations: number[];
}

export const byName = (a: Branch, b: Branch): number => a.name.localeCompare(b.name, "en", { numeric: true });

export const plural = (count: number, word: string) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

function joined(id: number, kind: Row["kind"], name: string, detail: string, inner: Branch[]): Branch {
  return {
    id, kind, name, detail, levels: 0, few: 0, hidden: 0, open: false, inner,
    begin: inner.reduce((first, branch) => Math.min(first, branch.begin), Infinity),
    busy: inner.reduce((sum, branch) => sum + branch.busy, 0),
    locations: inner.flatMap((branch) => branch.locations),
  };
}

/** Makes the tree of one run, or of two. */
class Trees {
  private readonly members = new Map<number, number[]>();
  private readonly counters = new Map<number, Counter[]>();
  private groups = 0;

  constructor(private readonly run: Run, known: readonly Counter[], private readonly activity: Activity | null) {
    for (const counter of known) if (run.metrics[counter.metric] && !OF_CALLS.has(run.metrics[counter.metric].name)) addTo(this.counters, counter.track, [counter]);
    run.locations.forEach((location, id) => {
      if (location.kind === "metrics" && !this.counters.has(id)) return;
      addTo(this.members, location.process, [id]);
    });
  }

  all(): Branch[] {
    const { run } = this;
    const roots = run.processes.flatMap((process, id) => (process.parent === null ? [this.process(id, new Set())] : []));
    const used = new Set(roots.flatMap((root) => root.locations));
    const orphans = [...this.members.keys()].filter((process) => this.members.get(process)!.some((id) => !used.has(id)));
    const trees = [...roots, ...orphans.map((process) => this.process(process, new Set()))].filter((root) => root.locations.length);
    if (run.parts.length) return run.parts.map((part, n) => this.part(part, n, trees.filter((tree) => partOf(run, tree.locations[0]) === part)));
    return single(trees) ? trees[0].inner : trees;
  }

  /** One of two runs; for a single process, its threads and tasks are direct children. */
  private part(part: Part, n: number, trees: Branch[]): Branch {
    return { ...joined(FIRST_RUN + n, "process", `${part.letter}: ${part.title}`, "", single(trees) ? trees[0].inner : trees), open: true };
  }

  private leaf(id: number): Branch {
    const { name, kind, depth, begin, events } = this.run.locations[id];
    const two = this.run.parts.length > 0, hidden = this.activity?.hidden[id] ?? 0, levels = depth, needed = Math.max(1, Math.min(depth, this.activity?.levels[id] ?? depth) - hidden);
    const few = needed <= (two ? LEVELS_OF_TWO : MANY_LEVELS) ? needed : two ? LEVELS_OF_TWO : FEW_LEVELS;
    return { id, kind: "location", name, detail: kind === "task" ? "task" : "", levels, few, hidden, begin, busy: this.activity?.work[id] ?? events, open: false, inner: [], locations: [id] };
  }

  /** Counters below their locations; locations without calls have counters only, and are the row of a single one. */
  private withCounters(branch: Branch): Branch {
    const mine = this.counters.get(branch.id) ?? [], { metrics } = this.run;
    const inner = mine.map(({ metric, values }): Branch => ({
      ...branch, id: FIRST_COUNTER + branch.id * 65536 + metric, kind: "counter", name: metrics[metric].name, detail: metrics[metric].unit, metric, levels: 0, few: 0, busy: values, inner: [],
    }));
    if (!mine.length) return branch;
    if (branch.levels === 0 && inner.length === 1) return { ...inner[0], name: inner[0].name === branch.name ? branch.name : `${branch.name}: ${inner[0].name}` };
    if (branch.levels === 0) return { ...branch, detail: plural(inner.length, "counter"), inner };
    if (mine.length <= FEW_COUNTERS) return { ...branch, inner };
    const folder: Branch = { ...branch, id: FIRST_METRICS + branch.id, kind: "metrics", name: "Metrics", detail: String(mine.length), levels: 0, few: 0, open: false, inner };
    return { ...branch, inner: [folder] };
  }

  /** A folder whose members share lanes; `nth`: a number of its own among all folders with lanes. */
  private folder(id: number, nth: number, name: string, word: string, inner: Branch[]): Branch {
    const folder = joined(id, "folder", name, plural(inner.length, word), inner);
    let lanes: Branch[] | undefined;
    const laneOf = (locations: number[], lane: number): Branch => {
      const only = this.leaf(locations[0]);
      if (locations.length === 1) return only;
      return { ...only, id: FIRST_LANE + nth * 1e6 + lane, kind: "lane", name: plural(locations.length, word), detail: "", levels: 0, hidden: 0, locations };
    };
    folder.lanes = () => (lanes ??= lanesOf(this.run.locations, folder.locations).map(laneOf));
    return folder;
  }

  /** Threads in order: teams and many threads alike as groups, the ones that hardly work, and feed no stream, in one folder
      at the end. */
  private threads(process: number, threads: Branch[], feeders: ReadonlySet<number>): Branch[] {
    const alike = new Map<string, Branch[]>();
    for (const thread of threads) addTo(alike, thread.name.replace(/\d+/g, "#"), [thread]);
    const grouped = new Map<Branch, Branch>();
    for (const [pattern, members] of alike) {
      if (members.length <= (TEAM.test(members[0].name) ? 1 : FEW_ALIKE)) continue;
      const nth = this.groups++;
      const group = this.folder(FIRST_GROUP + nth, GROUP_LANES + nth, pattern.replace(/#/g, "…"), "thread", members);
      for (const member of members) grouped.set(member, group);
    }
    const rows = [...new Set(threads.map((thread) => grouped.get(thread) ?? thread))];
    const most = rows.reduce((most, { kind, busy }) => (kind === "location" ? Math.max(most, busy) : most), 0);
    const idle = rows.filter((row, i) => i > 0 && this.activity && row.kind === "location" && !feeders.has(row.id) && worksHardly(row.busy, most));
    if (idle.length < 2) return rows;
    const folder = joined(FIRST_IDLE + process, "folder", "Idle threads", String(idle.length), idle);
    return [...rows.filter((row) => !idle.includes(row)), folder];
  }

  /** Streams of GPUs by device; a device with one stream is the row of this stream. */
  private devices(streams: readonly Branch[]): Branch[] {
    const devices = new Map<string, Branch[]>();
    for (const stream of [...streams].sort(byName)) addTo(devices, DEVICE.exec(stream.name)?.[1] ?? stream.name, [stream]);
    return [...devices].map(([device, inner]) => (inner.length < 2 ? inner[0] : joined(FIRST_DEVICE + inner[0].id, "folder", `${device}]`, plural(inner.length, "stream"), inner)));
  }

  private process(id: number, parents: ReadonlySet<number>): Branch {
    const process = this.run.processes[id];
    const detail = [process.pid ? `pid ${process.pid}` : "", process.ending].filter(Boolean).join(", ");
    const inner = this.inside(id, new Set([...parents, id])), name = process.name || `process ${process.pid}`;
    // A process with one thread is one row.
    if (inner.length === 1 && inner[0].kind === "location" && inner[0].levels > 0 && this.run.processes.length > 1) return { ...inner[0], name, detail };
    return joined(FIRST_PROCESS + id, "process", name, detail, inner);
  }

  private inside(process: number, parents: ReadonlySet<number>): Branch[] {
    const ids = this.members.get(process) ?? [];
    const of = (kind: Location["kind"]) => ids.filter((id) => this.run.locations[id].kind === kind).map((id) => this.withCounters(this.leaf(id)));
    const tasks = of("task");
    const folder = tasks.length > 3 ? [this.folder(FIRST_FOLDER + process, process, "Tasks", "task", tasks)] : tasks;
    const started = this.run.processes.flatMap((other, id) => (other.parent === process && !parents.has(id) ? [this.process(id, parents)] : []));
    return [...this.fed(process, of("thread"), of("stream")), ...of("metrics"), ...folder, ...started];
  }

  /** Threads, each with the streams below it that it feeds, and then the other streams. */
  private fed(process: number, threads: Branch[], streams: readonly Branch[]): Branch[] {
    const feeder = ({ id }: Branch) => this.run.locations[id].feeder ?? NONE;
    const rows = this.threads(process, threads, new Set(streams.map(feeder)));
    const below = rows.map((row) => streams.filter((stream) => row.locations.includes(feeder(stream)))), placed = new Set(below.flat());
    return [
      ...rows.flatMap((row, i) => [row, ...this.devices(below[i]).map((device) => ({ ...device, follows: row.id }))]),
      ...this.devices(streams.filter((stream) => !placed.has(stream))),
    ];
  }
}

/** True for one process without others inside: its name is the name of the run. */
const single = (trees: readonly Branch[]): boolean => trees.length === 1 && trees[0].kind === "process" && trees[0].inner.every((inner) => inner.kind !== "process");

/** The tree of processes with their threads and tasks; a process started by another is inside it. */
export const treeOf = (run: Run, known: readonly Counter[] = [], activity: Activity | null = null): Branch[] => new Trees(run, known, activity).all();
