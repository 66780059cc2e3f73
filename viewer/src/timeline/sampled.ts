// Single samples below the calls of threads: the fetched data, their drawing, and the one under a point.
import { NONE, type Run, type Timed } from "../model";
import type { Source } from "../source/source";
import { firstWhere } from "../sorted";
import { type Range, span, toX } from "./scale";

const QUIET = 60;
/** Of a location with more samples in a range than this, the samples of each column of time are one item. */
const SAMPLE_COLUMNS = 4096;
/** Limit of locations in a question, by the limit of samples in an answer. */
const MOST_TRACKS = 200;
/** Distance in pixels of a sample from the pointer. */
const REACH = 4;
/** Bars are at least this part of the height. */
const LEAST = 0.4;
/** Samples that are as far apart as this, in pixels, are this wide. */
const FAR = 4, WIDE = 2;

/** The locations whose samples have room in their rows. */
export const sampledIn = (run: Run, { sampled }: Pick<Source, "sampled">): ReadonlySet<number> =>
  new Set(run.locations.flatMap(({ kind }, id) => (run.samples && sampled && kind === "thread" ? [id] : [])));

/** Samples of a range: the items of one location are from `first` to `end`. */
export interface Lane {
  readonly timed: Timed;
  readonly range: Range;
  readonly first: number;
  readonly end: number;
  /** True if each item is one sample. */
  readonly alone: boolean;
  /** The run has grown since. */
  readonly stale?: boolean;
}

/** The samples around the visible range; samples of another range stay until these arrive. */
export class SampleCache {
  private readonly lanes = new Map<number, Lane>();
  private readonly wanted = new Set<number>();
  private range: Range = { begin: 0, end: 0 };
  private timer: ReturnType<typeof setTimeout> | undefined;
  private control = new AbortController();
  private running = 0;

  constructor(private readonly source: Source, private readonly changed: () => void) {}

  /** The known samples of a location; requests missing ones. */
  of(track: number, range: Range): Lane | null {
    const lane = this.lanes.get(track);
    const fits = lane && !lane.stale && lane.range.begin <= range.begin && lane.range.end >= range.end && (lane.alone || span(lane.range) < 3 * span(range));
    if (!fits) this.ask(track, range);
    return lane ?? null;
  }

  /** The run has grown: samples are fetched again, and drawn until then if they are of the `same` rows. */
  renew(same: boolean): void {
    if (!same) this.lanes.clear();
    for (const [track, lane] of this.lanes) this.lanes.set(track, { ...lane, stale: true });
  }

  /** The fetched samples of a location. */
  known(track: number): Lane | undefined {
    return this.lanes.get(track);
  }

  /** True until all requested samples are there. */
  get busy(): boolean {
    return this.wanted.size > 0 || this.running > 0;
  }

  private ask(track: number, range: Range): void {
    const margin = span(range) / 2, wide = { begin: Math.max(0, Math.floor(range.begin - margin)), end: Math.ceil(range.end + margin) };
    if (wide.begin !== this.range.begin || wide.end !== this.range.end) this.wanted.clear();
    this.range = wide;
    this.wanted.add(track);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.fetch(), QUIET);
  }

  private async fetch(): Promise<void> {
    this.control.abort();
    const { signal } = (this.control = new AbortController());
    const tracks = [...this.wanted].sort((a, b) => a - b).slice(0, MOST_TRACKS), { range } = this;
    this.wanted.clear();
    this.running++;
    try {
      const timed = await this.source.sampled!({ ...range, tracks, limit: SAMPLE_COLUMNS, columns: SAMPLE_COLUMNS }, signal);
      for (const track of tracks) this.lanes.set(track, laneOf(timed, track, range));
      this.changed();
    } catch {
      // The view has moved on, or the timeline reports the problem.
    } finally {
      this.running--;
    }
  }
}

export function laneOf(timed: Timed, track: number, range: Range): Lane {
  const first = firstWhere(timed.count, (i) => timed.track[i] >= track), end = firstWhere(timed.count, (i) => timed.track[i] > track);
  return { timed, range, first, end, alone: timed.samples.slice(first, end).every((samples) => samples === 1) };
}

/** The time that an item stands for; none for a sample alone. */
function placeOf({ timed, range, alone }: Lane, item: number): Range {
  const time = timed.first[item];
  if (alone) return { begin: time, end: time };
  const column = span(range) / SAMPLE_COLUMNS, begin = range.begin + Math.floor((time - range.begin) / column) * column;
  return { begin, end: begin + column };
}

/** By pixel: the item with most of its samples, NONE: none; and the height, as a part of the lane's. */
export interface Bars {
  readonly items: Int32Array;
  readonly heights: Float64Array;
}

/** One tick a sample; where samples are joined, a bar is as high as the part of the time in which the thread used CPU time. */
export const sampleBarsOf = (lane: Lane, range: Range, width: number): Bars => (lane.alone ? ticksOf : sharesOf)(lane, range, width);

function ticksOf({ timed, first, end }: Lane, range: Range, width: number): Bars {
  const items = new Int32Array(width).fill(NONE), seen = timed.first.subarray(first, end).filter((time) => time >= range.begin && time < range.end).length;
  const wide = seen * FAR < width ? WIDE : 1;
  for (let item = first; item < end; item++) {
    const x = Math.floor(toX(range, width, timed.first[item]));
    if (x > -wide && x < width) items.fill(item, Math.max(0, x), x + wide);
  }
  return { items, heights: new Float64Array(width).fill(1) };
}

function sharesOf(lane: Lane, range: Range, width: number): Bars {
  const items = new Int32Array(width).fill(NONE), heights = new Float64Array(width), most = new Float64Array(width), pixel = span(range) / width;
  for (let item = lane.first; item < lane.end; item++) {
    const { begin, end } = placeOf(lane, item), ticks = lane.timed.ticks[item];
    const left = toX(range, width, begin), right = toX(range, width, end);
    for (let x = Math.max(0, Math.floor(left)); x < Math.min(width, right); x++) {
      const part = (Math.min(right, x + 1) - Math.max(left, x)) / (right - left);
      heights[x] += (part * ticks) / pixel;
      if (part * ticks >= most[x]) (most[x] = part * ticks), (items[x] = item);
    }
  }
  for (let x = 0; x < width; x++) heights[x] = Math.min(1, Math.max(LEAST, heights[x]));
  return { items, heights };
}

/** Samples, and the function that has most of them. */
export interface Hits {
  readonly samples: number;
  readonly time: number;
  readonly ticks: number;
  readonly most: number;
  /** NONE: outside all functions; functions of libraries follow the regions of the run. */
  readonly hit: number;
  readonly region: number;
  readonly line: number;
  /** Of a function of a library. */
  readonly name: string;
}

/** The item at a pixel, or the nearest. */
export function hitsAt(lane: Lane, range: Range, width: number, x: number, regions: number): Hits | null {
  const { timed } = lane;
  let best = NONE, nearest = REACH;
  for (let item = lane.first; item < lane.end; item++) {
    const { begin, end } = placeOf(lane, item), away = Math.max(toX(range, width, begin) - x, x - toX(range, width, end), 0);
    if (away < nearest) [best, nearest] = [item, away];
  }
  if (best === NONE) return null;
  const hit = timed.hit[best];
  return { samples: timed.samples[best], time: timed.first[best], ticks: timed.ticks[best], most: timed.most[best], hit, region: timed.region[best], line: timed.line[best], name: timed.functions[hit - regions] ?? "" };
}
