// Values of counters: the fetched data, and their drawing.
import { blend, pixel, type Theme } from "../colour";
import type { Values } from "../model";
import { firstWhere } from "../sorted";
import type { Source } from "../source/source";
import { type Range, span } from "./scale";

export interface CounterId {
  readonly track: number;
  readonly metric: number;
}

interface Known {
  readonly range: Range;
  readonly values: Values;
}

const QUIET = 60;

/** The values around the visible range; values of another range stay until these arrive. */
export class ValuesCache {
  private readonly fetched = new Map<number, Known>();
  private readonly wanted = new Map<number, CounterId & { range: Range }>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private control = new AbortController();
  private running = 0;

  constructor(private readonly source: Source, private readonly changed: () => void) {}

  /** The known values of a row; requests missing ones. */
  of(row: number, id: CounterId, range: Range): Values | null {
    const known = this.fetched.get(row);
    const fits = known && known.range.begin <= range.begin && known.range.end >= range.end && span(known.range) < 4 * span(range);
    if (!fits) {
      const margin = span(range) / 2;
      this.wanted.set(row, { ...id, range: { begin: Math.max(0, Math.floor(range.begin - margin)), end: Math.ceil(range.end + margin) } });
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.fetch(), QUIET);
    }
    return known?.values ?? null;
  }

  /** The run has grown: values are fetched again, and drawn until then if they are of the `same` rows. */
  renew(same: boolean): void {
    if (!same) this.fetched.clear();
    for (const [row, { values }] of this.fetched) this.fetched.set(row, { values, range: { begin: 0, end: 0 } });
  }

  /** True until all requested values are there. */
  get busy(): boolean {
    return this.wanted.size > 0 || this.running > 0;
  }

  /** The fetched values of a row. */
  known(row: number): Values | undefined {
    return this.fetched.get(row)?.values;
  }

  private async fetch(): Promise<void> {
    this.control.abort();
    const { signal } = (this.control = new AbortController());
    const asked = [...this.wanted].slice(0, 64);
    this.wanted.clear();
    this.running++;
    try {
      const answers = await this.source.values(asked.map(([, { track, metric, range }]) => ({ track, metric, ...range })), signal);
      asked.forEach(([row, { range }], i) => this.fetched.set(row, { range, values: answers[i] }));
      this.changed();
    } catch {
      // The view has moved on, or the timeline reports the problem.
    } finally {
      this.running--;
    }
  }
}

/** The value of a counter at a time: one value, or several around it. */
export interface Measured {
  readonly min: number;
  readonly mean: number;
  readonly max: number;
}

export function measuredAt(values: Values | undefined, time: number): Measured | null {
  const place = values ? firstWhere(values.count, (i) => values.begin[i] > time) - 1 : -1;
  if (!values || place < 0) return null;
  const last = values.last[place];
  return time > values.end[place] ? { min: last, mean: last, max: last } : { min: values.min[place], mean: values.mean[place], max: values.max[place] };
}

/** The least and the largest of the visible values; null: the first value comes later. */
export function extremes(values: Values, range: Range): [number, number] | null {
  let least = Infinity, most = -Infinity;
  for (let i = 0; i < values.count; i++) {
    const next = i + 1 < values.count ? values.begin[i + 1] : Infinity;
    if (next < range.begin || values.begin[i] > range.end) continue;
    least = Math.min(least, values.end[i] < range.begin ? values.last[i] : values.min[i]);
    most = Math.max(most, values.end[i] < range.begin ? values.last[i] : values.max[i]);
  }
  return least <= most ? [least, most] : null;
}

/** The range of values in each column, in pixels from the top: from the largest to the least, and the mean over
    time. */
export interface Band {
  readonly top: number;
  readonly bottom: number;
  readonly mean: number;
}

/** The bands of some columns while values are added. */
class Bands {
  private readonly low: Float64Array;
  private readonly high: Float64Array;
  /** Values times the part of a column in which they were valid, and these parts. */
  private readonly area: Float64Array;
  private readonly time: Float64Array;

  constructor(private readonly range: Range, private readonly width: number) {
    [this.low, this.high] = [new Float64Array(width).fill(Infinity), new Float64Array(width).fill(-Infinity)];
    [this.area, this.time] = [new Float64Array(width), new Float64Array(width)];
  }

  add(from: number, to: number, low: number, high: number, mean: number): void {
    const scale = this.width / span(this.range);
    const begin = (from - this.range.begin) * scale, end = (to - this.range.begin) * scale;
    for (let x = Math.max(0, Math.floor(begin)); x <= Math.min(this.width - 1, Math.floor(end)); x++) {
      this.low[x] = Math.min(this.low[x], low);
      this.high[x] = Math.max(this.high[x], high);
      const part = Math.min(end, x + 1) - Math.max(begin, x);
      this.area[x] += part * mean;
      this.time[x] += part;
    }
  }

  list(y: (value: number) => number): (Band | null)[] {
    return Array.from({ length: this.width }, (_, x) => {
      const low = this.low[x], high = this.high[x];
      if (low > high) return null;
      const mean = this.time[x] > 0 ? this.area[x] / this.time[x] : (low + high) / 2;
      return { top: Math.round(y(high)), bottom: Math.round(y(low)), mean: Math.round(y(mean)) };
    });
  }
}

/** The band of each of `width` columns; a value is valid until the next one, and the last up to `end`. */
export function bandsOf(values: Values, range: Range, width: number, height: number, end: number): (Band | null)[] {
  const seen = extremes(values, range);
  if (!seen) return Array.from({ length: width }, () => null);
  const [least, most] = seen, reach = most - least || 1;
  const bands = new Bands(range, width);
  for (let i = 0; i < values.count; i++) {
    const last = values.last[i], after = i + 1 < values.count;
    const next = after ? values.begin[i + 1] : Math.max(values.end[i], end);
    bands.add(values.begin[i], values.end[i], values.min[i], values.max[i], values.mean[i]);
    bands.add(values.end[i], next, last, last, last);
    // The step to the next value is a line, too.
    if (after) bands.add(next, next, Math.min(last, values.min[i + 1]), Math.max(last, values.max[i + 1]), last);
  }
  return bands.list((value) => (most === least ? height / 2 : ((most - value) / reach) * (height - 1)));
}

/** The first of the columns with the largest value. */
export function highest(bands: readonly (Band | null)[]): { readonly x: number; readonly top: number } {
  const top = bands.reduce((least, band) => (band ? Math.min(least, band.top) : least), Infinity);
  return { x: bands.findIndex((band) => band?.top === top), top };
}

export const bandColour = (theme: Theme) => blend(pixel(theme.track), pixel(theme.accent), 0.45);

/** Draws bands, inside them the mean as a line, and faintly the area below. */
export function drawBands(bands: readonly (Band | null)[], buffer: Uint32Array, top: number, height: number, theme: Theme): void {
  const line = pixel(theme.accent), below = pixel(theme.nothing), inside = bandColour(theme), width = bands.length;
  bands.forEach((band, x) => {
    if (!band) return;
    for (let y = band.top; y < height; y++) {
      const at = (top + y) * width + x;
      if (at < 0 || at >= buffer.length) continue;
      buffer[at] = y === band.mean || y === band.mean + 1 ? line : y <= band.bottom + 1 ? inside : below;
    }
  });
}
