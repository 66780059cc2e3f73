// The list of rows from the top down, with their heights. Pixels are CSS pixels.
import { type Counter, FIRST_PROCESS, FIRST_RUN, type Location, type Part, partOf, type Run } from "../model";
import { firstWhere } from "../sorted";
import { lanesOf } from "./lanes";
import type { Sort, View } from "../state/view";

export const LINE = 18;
export const FOLDED = 22;
export const PADDING = 5;
/** Levels of calls that a row shows if it has more than MANY_LEVELS, unless all are requested, and the maximum. */
export const FEW_LEVELS = 24;
export const MANY_LEVELS = 32;
export const MOST_LEVELS = 1000;
/** The same as FEW_LEVELS and MANY_LEVELS for two runs on one screen. */
const LEVELS_OF_TWO = 10;

/** Lines of calls that are unfolded at first, over all rows. */
const FIRST_LINES = 48;

/** Rows of folders of tasks: this plus the number of the process. */
export const FIRST_FOLDER = 0xc0000000;

/** Rows of their lanes: this, plus a million for each process, plus the number of the lane. */
const FIRST_LANE = 2 ** 33;

/** Rows of counters: this, plus 65536 for each location, plus the metric. */
const FIRST_COUNTER = 2 ** 40;
const COUNTER_HEIGHT = 46;

/** Rows of folders of counters: this plus the number of the location. */
const FIRST_METRICS = 2 ** 41;
/** If a location with calls has more counters, they are in a folder. */
const FEW_COUNTERS = 3;

export interface Row {
  /** The number of the row in the data; folders have separate numbers. */
  readonly id: number;
  /** A lane has many locations, one after the other. */
  readonly kind: "process" | "folder" | "lane" | "location" | "metrics" | "counter";
  readonly name: string;
  readonly detail: string;
  readonly indent: number;
  readonly open: boolean;
  readonly canOpen: boolean;
  readonly pinned: boolean;
  /** Locations at and below the row. */
  readonly locations: readonly number[];
  /** Lines of calls; 0: one line with the innermost calls. */
  readonly lines: number;
  readonly levels: number;
  readonly few: number;
  /** For a counter: its metric. */
  readonly metric: number;
  readonly y: number;
  readonly height: number;
}

/** True if a row shows calls, or stands for rows with calls. */
export const hasCalls = ({ kind }: Row) => kind !== "counter" && kind !== "metrics";

interface Branch {
  id: number;
  kind: Row["kind"];
  name: string;
  detail: string;
  levels: number;
  /** Levels that it shows unless all are requested. */
  few: number;
  metric?: number;
  /** The time of its first activity, and the number of its events. */
  begin: number;
  events: number;
  openFirst: boolean;
  inner: Branch[];
  /** For folders: shown instead of `inner` while rows are in the order of the recording. */
  lanes?: () => Branch[];
  locations: number[];
}

const plural = (count: number, word: string) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

/** The locations that are unfolded at first: threads from the first on, until they fill about a screen; for two runs,
    some of each. */
function unfolded(run: Run): ReadonlySet<number> {
  const result = new Set<number>();
  const parts = run.parts.length ? run.parts : [{ firstTrack: 0, tracks: run.locations.length }];
  for (const { firstTrack, tracks } of parts) {
    let room = FIRST_LINES / parts.length ** 2, none = true;
    for (let id = firstTrack; id < firstTrack + tracks; id++) {
      const location = run.locations[id];
      if (location.kind !== "thread") continue;
      room -= Math.min(location.depth, FEW_LEVELS);
      if (room < 0 && !none) break;
      result.add(id);
      none = false;
    }
  }
  return result;
}

function leaf(run: Run, id: number, open: ReadonlySet<number>): Branch {
  const { name, kind, depth, begin, events } = run.locations[id];
  const two = run.parts.length > 0;
  const few = depth <= (two ? LEVELS_OF_TWO : MANY_LEVELS) ? depth : two ? LEVELS_OF_TWO : FEW_LEVELS;
  return { id, kind: "location", name, detail: kind === "task" ? "task" : "", levels: depth, few, begin, events, openFirst: open.has(id), inner: [], locations: [id] };
}

function joined(id: number, kind: Row["kind"], name: string, detail: string, openFirst: boolean, inner: Branch[]): Branch {
  return {
    id, kind, name, detail, levels: 0, few: 0, openFirst, inner,
    begin: inner.reduce((first, branch) => Math.min(first, branch.begin), Infinity),
    events: inner.reduce((sum, branch) => sum + branch.events, 0),
    locations: inner.flatMap((branch) => branch.locations),
  };
}

function folderOf(run: Run, process: number, tasks: Branch[]): Branch {
  const folder = joined(FIRST_FOLDER + process, "folder", "Tasks", plural(tasks.length, "task"), tasks.length <= 8, tasks);
  let lanes: Branch[] | undefined;
  const laneOf = (locations: number[], lane: number): Branch => {
    const only = leaf(run, locations[0], new Set());
    if (locations.length === 1) return only;
    return { ...only, id: FIRST_LANE + process * 1e6 + lane, kind: "lane", name: plural(locations.length, "task"), detail: "", levels: 0, locations };
  };
  folder.lanes = () => (lanes ??= lanesOf(run.locations, folder.locations).map(laneOf));
  return folder;
}

/** One of two runs; for a single process, its threads and tasks are direct children. */
function runOf(part: Part, n: number, trees: Branch[]): Branch {
  const inner = trees.length === 1 && trees[0].inner.every((branch) => branch.kind !== "process") ? trees[0].inner : trees;
  return joined(FIRST_RUN + n, "process", `${part.letter}: ${part.title}`, "", true, inner);
}

/** Counters below their locations; locations without calls have counters only. */
function withCounters(run: Run, branch: Branch, counters: ReadonlyMap<number, readonly Counter[]>): Branch {
  const mine = counters.get(branch.id) ?? [];
  const inner = mine.map(({ metric, values }): Branch => ({
    id: FIRST_COUNTER + branch.id * 65536 + metric, kind: "counter", name: run.metrics[metric].name, detail: run.metrics[metric].unit, metric, levels: 0, few: 0,
    begin: branch.begin, events: values, openFirst: false, inner: [], locations: [branch.id],
  }));
  if (!mine.length) return branch;
  if (mine.length <= FEW_COUNTERS) return { ...branch, inner, openFirst: branch.openFirst || branch.levels === 0 };
  const folder: Branch = { ...branch, id: FIRST_METRICS + branch.id, kind: "metrics", name: "Metrics", detail: String(mine.length), levels: 0, few: 0, openFirst: false, inner };
  return { ...branch, inner: branch.levels === 0 ? inner : [folder] };
}

/** The tree of processes with their threads and tasks; a process started by another is inside it. */
export function treeOf(run: Run, known: readonly Counter[] = []): Branch[] {
  const counters = new Map<number, Counter[]>();
  for (const counter of known) if (run.metrics[counter.metric]) counters.set(counter.track, [...(counters.get(counter.track) ?? []), counter]);
  const members = new Map<number, number[]>();
  const open = unfolded(run);
  run.locations.forEach((location, id) => {
    if (location.kind === "metrics" && !counters.has(id)) return;
    const list = members.get(location.process);
    if (list) list.push(id); else members.set(location.process, [id]);
  });
  const inside = (process: number, parents: ReadonlySet<number>): Branch[] => {
    const ids = members.get(process) ?? [];
    const of = (kind: Location["kind"]) => ids.filter((id) => run.locations[id].kind === kind).map((id) => withCounters(run, leaf(run, id, open), counters));
    const tasks = of("task");
    const folder = tasks.length > 3 ? [folderOf(run, process, tasks)] : tasks;
    const started = run.processes.flatMap((other, id) => (other.parent === process && !parents.has(id) ? [branch(id, parents)] : []));
    return [...of("thread"), ...of("metrics"), ...folder, ...started];
  };
  const branch = (id: number, parents: ReadonlySet<number>): Branch => {
    const process = run.processes[id];
    const detail = [process.pid ? `pid ${process.pid}` : "", process.ending].filter(Boolean).join(", ");
    return joined(FIRST_PROCESS + id, "process", process.name || `process ${process.pid}`, detail, run.processes.length <= 60, inside(id, new Set([...parents, id])));
  };
  const roots = run.processes.flatMap((process, id) => (process.parent === null ? [branch(id, new Set())] : []));
  const used = new Set(roots.flatMap((root) => root.locations));
  const orphans = [...members.keys()].filter((process) => members.get(process)!.some((id) => !used.has(id)));
  const trees = [...roots, ...orphans.map((process) => branch(process, new Set()))].filter((root) => root.locations.length);
  if (run.parts.length) return run.parts.map((part, n) => runOf(part, n, trees.filter((tree) => partOf(run, tree.locations[0]) === part)));
  return trees.length === 1 && trees[0].inner.every((inner) => inner.kind !== "process") ? trees[0].inner : trees;
}

/** The selected order, with moved rows at the positions that they were given. */
function ordered(branches: readonly Branch[], { sort, moved }: Pick<View, "sort" | "moved">): readonly Branch[] {
  const all = sorted(branches, sort);
  if (!moved.size || !all.some((branch) => moved.has(branch.id))) return all;
  const placed = all.filter((branch) => moved.has(branch.id)).sort((a, b) => moved.get(a.id)! - moved.get(b.id)!);
  const result = all.filter((branch) => !moved.has(branch.id));
  for (const branch of placed) result.splice(moved.get(branch.id)!, 0, branch);
  return result;
}

/** The rows with the same parent in order, including the row itself; empty: the row does not exist. */
export function siblingsOf(branches: readonly Branch[], id: number, view: View): number[] {
  const here = ordered(branches, view);
  if (here.some((branch) => branch.id === id)) return here.map((branch) => branch.id);
  for (const branch of branches) {
    const found = siblingsOf(insideOf(branch, view), id, view);
    if (found.length) return found;
  }
  return [];
}

const insideOf = (branch: Branch, view: View) => (branch.lanes && view.filter.trim() === "" && view.sort === "order" ? branch.lanes() : branch.inner);

function sorted(branches: readonly Branch[], sort: Sort): readonly Branch[] {
  if (sort === "activity") return [...branches].sort((a, b) => b.events - a.events);
  if (sort === "name") return [...branches].sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
  return branches;
}

function matches(branch: Branch, filter: string): boolean {
  return branch.name.toLowerCase().includes(filter) || branch.detail.toLowerCase().includes(filter) || branch.inner.some((inner) => matches(inner, filter));
}

export interface Layout {
  /** Rows that stay at the top; `rows` start below them. */
  readonly pinned: readonly Row[];
  readonly rows: readonly Row[];
  readonly pinnedHeight: number;
  readonly height: number;
}

/** The rows: first the pinned ones, then the unfolded part of the tree. */
export function layOut(trees: readonly Branch[], view: View): Layout {
  const rows: Row[] = [];
  const filter = view.filter.trim().toLowerCase();
  let y = 0;
  const add = (branch: Branch, indent: number, pinned: boolean) => {
    const open = view.toggled.has(branch.id) ? !branch.openFirst : branch.openFirst;
    const levels = Math.min(view.tall.has(branch.id) ? branch.levels : branch.few, MOST_LEVELS);
    const lines = branch.kind === "location" && open ? levels : 0;
    const height = branch.kind === "counter" ? COUNTER_HEIGHT : lines > 1 ? lines * LINE + PADDING : FOLDED;
    const canOpen = (branch.kind === "location" && branch.levels > 1) || branch.inner.length > 0;
    const { id, kind, name, detail, locations } = branch;
    rows.push({ id, kind, name, detail, locations, indent, open, canOpen, pinned, lines, levels: branch.levels, few: branch.few, metric: branch.metric ?? -1, y, height });
    y += height;
    return open;
  };
  const walk = (branches: readonly Branch[], indent: number, shown: boolean) => {
    for (const branch of ordered(branches, view)) {
      const named = shown || (filter !== "" && (branch.name.toLowerCase().includes(filter) || branch.detail.toLowerCase().includes(filter)));
      if (filter && !named && !matches(branch, filter)) continue;
      const open = add(branch, indent, false);
      const inner = insideOf(branch, view);
      if (inner.length && (open || (filter && !named))) walk(inner, indent + 1, named);
    }
  };
  for (const id of view.pinned) {
    const branch = search(trees, id);
    if (branch) add(branch, 0, true);
  }
  const pinned = rows.splice(0);
  const pinnedHeight = y;
  walk(trees, 0, filter === "");
  return { pinned, rows, pinnedHeight, height: y };
}

function search(branches: readonly Branch[], id: number): Branch | null {
  for (const branch of branches) {
    const found = branch.id === id ? branch : search(branch.inner, id);
    if (found) return found;
  }
  return null;
}

/** The rows that [top, bottom) touches. REQUIRES: rows are sorted from the top down. */
function touched(rows: readonly Row[], top: number, bottom: number): Row[] {
  const result: Row[] = [];
  for (let i = firstWhere(rows.length, (place) => rows[place].y + rows[place].height > top); i < rows.length && rows[i].y < bottom; i++) result.push(rows[i]);
  return result;
}

/** The rows in a window of the layout: the pinned ones last, because they lie above the others. */
export function visible(layout: Layout, top: number, height: number): Row[] {
  const below = touched(layout.rows, top + layout.pinnedHeight, top + height);
  return [...below, ...layout.pinned.map((row) => ({ ...row, y: row.y + top }))];
}

/** The top of a call's line in a row, or -1 if the row does not show its depth. */
export function lineTop(row: Row, depth: number): number {
  if (!row.lines) return row.y + 3;
  return depth < row.lines ? (row.lines > 1 ? row.y + 2 + depth * LINE : row.y + 3) : -1;
}

/** The row at a position of the layout. */
export function rowAt(rows: readonly Row[], y: number): Row | undefined {
  for (let i = rows.length - 1; i >= 0; i--) if (y >= rows[i].y && y < rows[i].y + rows[i].height) return rows[i];
  return undefined;
}
