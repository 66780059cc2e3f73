// Values of counters: what was fetched of them, and their drawing.
import { pixel, type Theme } from "../colour";
import type { Values } from "../model";
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

/** The values around what is shown; those of another range stay until these are there. */
export class ValuesCache {
  private readonly known = new Map<number, Known>();
  private readonly wanted = new Map<number, CounterId & { range: Range }>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private control = new AbortController();

  constructor(private readonly source: Source, private readonly changed: () => void) {}

  /** What is known of a row; asks for what is missing. */
  of(row: number, id: CounterId, range: Range): Values | null {
    const known = this.known.get(row);
    const fits = known && known.range.begin <= range.begin && known.range.end >= range.end && span(known.range) < 4 * span(range);
    if (!fits) {
      const margin = span(range) / 2;
      this.wanted.set(row, { ...id, range: { begin: Math.max(0, Math.floor(range.begin - margin)), end: Math.ceil(range.end + margin) } });
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.fetch(), QUIET);
    }
    return known?.values ?? null;
  }

  private async fetch(): Promise<void> {
    this.control.abort();
    const { signal } = (this.control = new AbortController());
    const asked = [...this.wanted].slice(0, 64);
    this.wanted.clear();
    try {
      const answers = await this.source.values(asked.map(([, { track, metric, range }]) => ({ track, metric, ...range })), signal);
      asked.forEach(([row, { range }], i) => this.known.set(row, { range, values: answers[i] }));
      this.changed();
    } catch {
      // The view has moved on, or the timeline tells the problem itself.
    }
  }
}

/** The least and the most that is seen of some values. */
export function extremes(values: Values, range: Range): [number, number] {
  let least = Infinity, most = -Infinity;
  for (let i = 0; i < values.count; i++) {
    const next = i + 1 < values.count ? values.begin[i + 1] : Infinity;
    if (next < range.begin || values.begin[i] > range.end) continue;
    least = Math.min(least, values.end[i] < range.begin ? values.last[i] : values.min[i]);
    most = Math.max(most, values.end[i] < range.begin ? values.last[i] : values.max[i]);
  }
  return [least, most];
}

/** Where a band of values is in a column of `height` pixels from the top. */
export interface Band {
  readonly top: number;
  readonly bottom: number;
}

/** The band of each of `width` columns: from the least to the most value; a value stays until the next one. */
export function bandsOf(values: Values, range: Range, width: number, height: number): (Band | null)[] {
  const [least, most] = extremes(values, range);
  const bands: (Band | null)[] = Array<Band | null>(width).fill(null);
  const scale = width / span(range), reach = most - least || 1;
  const y = (value: number) => (most === least ? height / 2 : ((most - value) / reach) * (height - 1));
  const draw = (from: number, to: number, low: number, high: number) => {
    const first = Math.max(0, Math.floor((from - range.begin) * scale)), last = Math.min(width - 1, Math.floor((to - range.begin) * scale));
    for (let x = first; x <= last; x++) {
      const band = bands[x], top = Math.round(y(high)), bottom = Math.round(y(low));
      bands[x] = band ? { top: Math.min(band.top, top), bottom: Math.max(band.bottom, bottom) } : { top, bottom };
    }
  };
  for (let i = 0; i < values.count; i++) {
    draw(values.begin[i], values.end[i], values.min[i], values.max[i]);
    const next = i + 1 < values.count ? values.begin[i + 1] : values.end[i];
    draw(values.end[i], next, values.last[i], values.last[i]);
    // The step to the next value is a line, too.
    if (i + 1 < values.count) draw(next, next, Math.min(values.last[i], values.min[i + 1]), Math.max(values.last[i], values.max[i + 1]));
  }
  return bands;
}

/** Draws the bands, and faintly what is below them. */
export function drawBands(bands: readonly (Band | null)[], buffer: Uint32Array, top: number, height: number, theme: Theme): void {
  const colour = pixel(theme.accent), below = pixel(theme.nothing), width = bands.length;
  bands.forEach((band, x) => {
    if (!band) return;
    for (let y = band.top; y < height; y++) {
      const at = (top + y) * width + x;
      if (at >= 0 && at < buffer.length) buffer[at] = y <= band.bottom + 1 ? colour : below;
    }
  });
}
