// The sums of a location by time step. They give the exact table of any range of whole steps: section 10 of
// docs/formats/view-http.md.
import { CAUSES } from "../causes";
import type { Paths, Profile, Region, Run } from "../model";
import { NONE } from "../model";
import { damaged, Varints } from "./varints";

type Column = Exclude<keyof Profile, "count" | "path" | "causes">;
/** Sums for each call path of a run. */
export type Columns = Record<Column, Float64Array>;

/** The columns that are 0 for a region that the program has not called. */
const NO_VISITS = ["visits", "cutBegin", "cutEnd", "min", "max"] as const;

/** The call paths that were entered; `causes`: their waiting by cause, or nothing. */
export function profileOf(columns: Columns, causes: readonly Float64Array[], paths: Paths, regions: readonly Region[]): Profile {
  const path = Int32Array.from(columns.visits.keys()).filter((i) => columns.visits[i] > 0);
  for (const i of path) if (regions[paths.region[i]]?.called === false) for (const name of NO_VISITS) columns[name][i] = 0;
  const picked = Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, Float64Array.from(path, (i) => values[i])]));
  return { count: path.length, path, causes: causes.map((values) => Float64Array.from(path, (i) => values[i])), ...(picked as Columns) };
}

export class Sums {
  readonly track: number;
  private readonly paths: Int32Array;
  /** The position of the calls that lie in several steps; the steps follow. */
  private readonly start: number;

  /** `step`: the length of a step, in ticks. */
  constructor(private readonly section: Uint8Array, private readonly step: number, known: Paths) {
    const head = new DataView(section.buffer, section.byteOffset, section.byteLength);
    if (section.byteLength < 8) throw damaged();
    this.track = head.getUint32(0, true);
    const nodes = head.getUint32(4, true);
    this.start = 8 + 4 * nodes;
    if (this.start > section.byteLength) throw damaged();
    this.paths = Int32Array.from({ length: nodes }, (_, node) => head.getInt32(8 + 4 * node, true));
    if (!this.paths.every((path) => path >= 0 && path < known.parent.length)) throw damaged();
  }

  /** The table of the steps that [begin, end) touches. */
  static profile(all: readonly Sums[], paths: Paths, { regions, causes: known }: Run, begin: number, end: number): Profile {
    const size = paths.parent.length, zeros = () => new Float64Array(size);
    const columns: Columns = { visits: zeros(), cutBegin: zeros(), cutEnd: zeros(), own: zeros(), waiting: zeros(), inclusive: zeros(), min: zeros().fill(Infinity), max: zeros() };
    const causes = CAUSES.map(() => zeros());
    if (begin < end) for (const sums of all) sums.add(columns, causes, Math.floor(begin / sums.step), Math.ceil(end / sums.step));
    for (let path = size - 1; path >= 0; path--) {
      columns.inclusive[path] += columns.own[path];
      if (paths.parent[path] !== NONE) columns.inclusive[paths.parent[path]] += columns.inclusive[path];
    }
    return profileOf(columns, known ? causes : [], paths, regions);
  }

  private add(columns: Columns, causes: readonly Float64Array[], first: number, end: number): void {
    const reader = new Varints(this.section, this.start);
    this.addLong(reader, columns, first * this.step, end * this.step);
    for (let step = 0; !reader.atEnd;) {
      step += reader.next();
      if (step >= end) return;
      const list = reader.take(reader.next());
      if (step >= first) this.addList(new Varints(list), columns, causes);
    }
  }

  private pathOf(node: number): number {
    const path = this.paths[node];
    if (path === undefined) throw damaged();
    return path;
  }

  /** Calls that lie in several steps. */
  private addLong(reader: Varints, columns: Columns, from: number, to: number): void {
    let begin = 0;
    for (let left = reader.next(); left > 0; left--) {
      const path = this.pathOf(reader.next());
      begin += reader.next();
      const end = begin + reader.next();
      if (begin >= to || end <= from) continue;
      const inside = Math.min(end, to) - Math.max(begin, from);
      columns.visits[path]++;
      if (begin < from) columns.cutBegin[path]++;
      if (end > to) columns.cutEnd[path]++;
      columns.min[path] = Math.min(columns.min[path], inside);
      columns.max[path] = Math.max(columns.max[path], inside);
    }
  }

  /** One number, or 0 and the causes. */
  private addWaiting(reader: Varints, path: number, columns: Columns, causes: readonly Float64Array[]): void {
    const unknown = reader.next(), bits = unknown ? 1 : reader.byte();
    for (let cause = 0; cause < causes.length; cause++) {
      if (!(bits & (1 << cause))) continue;
      const ticks = unknown || reader.next();
      columns.waiting[path] += ticks;
      causes[cause][path] += ticks;
    }
  }

  /** A list of src/view/index/path_sums.hpp: exclusive times of all calls in a step, and the calls that lie inside
      it. */
  private addList(reader: Varints, columns: Columns, causes: readonly Float64Array[]): void {
    for (let node = 0; !reader.atEnd;) {
      const head = reader.next(), form = head % 4;
      node += (head - form) / 4;
      const path = this.pathOf(node);
      columns.own[path] += reader.next();
      if (form & 2) this.addWaiting(reader, path, columns, causes);
      if (!(form & 1)) reader.next();
      const visits = form & 1 ? 1 : reader.next();
      if (!visits) continue;
      const min = reader.next(), max = form & 1 ? min : min + reader.next();
      columns.visits[path] += visits;
      columns.min[path] = Math.min(columns.min[path], min);
      columns.max[path] = Math.max(columns.max[path], max);
    }
  }
}
