// Converts times to pixels and back, and moves views. Times are ns since the start of the run.

export interface Range {
  readonly begin: number;
  readonly end: number;
}

/** Fewer ns than this are never shown. */
export const SHORTEST = 20;

export const span = (range: Range): number => range.end - range.begin;

/** A range of the same length, if possible, inside `whole`. */
export function clamp(range: Range, whole: Range): Range {
  const length = Math.min(Math.max(span(range), SHORTEST), Math.max(span(whole), SHORTEST));
  const begin = Math.min(Math.max(range.begin, whole.begin), Math.max(whole.begin, whole.end - length));
  return { begin, end: begin + length };
}

/** The range `factor` times as long around the time `fixed`, which keeps its place. */
export function zoom(range: Range, fixed: number, factor: number, whole: Range): Range {
  const length = Math.min(Math.max(span(range) * factor, SHORTEST), Math.max(span(whole), SHORTEST));
  const part = (fixed - range.begin) / span(range);
  const begin = fixed - part * length;
  return clamp({ begin, end: begin + length }, whole);
}

export function move(range: Range, by: number, whole: Range): Range {
  return clamp({ begin: range.begin + by, end: range.end + by }, whole);
}

/** A range that shows [begin, end) with a margin on both sides. */
export function around(begin: number, end: number, whole: Range): Range {
  const margin = Math.max((end - begin) * 0.1, SHORTEST / 4);
  return clamp({ begin: begin - margin, end: end + margin }, whole);
}

export const toX = (range: Range, width: number, time: number): number => ((time - range.begin) / span(range)) * width;

export const toTime = (range: Range, width: number, x: number): number => range.begin + (x / width) * span(range);

/** The level of tiles for a view: the widest columns, 4^level ns each, of at most two pixels. */
export function levelFor(nsPerPixel: number): number {
  const level = Math.floor(Math.log(Math.max(nsPerPixel * 2, 1)) / Math.log(4) + 1e-9);
  return Math.max(0, level);
}

/** Step of the time axis in ns, at least `smallest`: 1, 2 or 5 times a power of ten; whole minutes or hours beyond. */
export function tickStep(smallest: number): number {
  const long = [60, 120, 300, 600, 1200, 1800, 3600, 7200, 21600, 43200, 86400].map((s) => s * 1e9);
  if (smallest > 50e9) return long.find((step) => step >= smallest) ?? Math.ceil(smallest / 86400e9) * 86400e9;
  const power = 10 ** Math.floor(Math.log10(Math.max(smallest, 1)));
  const step = [1, 2, 5, 10].find((n) => n * power >= smallest * (1 - 1e-9))! * power;
  return step > 50e9 ? 60e9 : step;
}

/** The marks of the axis of a range; `ns` is the length of its time unit, `origin` the time from the point at which they
    count to the start of the run. */
export function ticks(range: Range, width: number, pixelsApart: number, ns: number, origin = 0): { step: number; times: number[] } {
  const step = tickStep((span(range) / width) * pixelsApart * ns) / ns;
  const times: number[] = [];
  for (let n = Math.ceil((range.begin + origin) / step); n * step - origin <= range.end; n++) times.push(n * step - origin);
  return { step, times };
}
