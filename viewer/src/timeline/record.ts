// The picture of all rows of a layout, also of the ones outside of the window, as rectangles and words.
import type { Cache } from "./cache";
import type { ValuesCache } from "./chart";
import type { Layout, Row } from "./layout";
import type { Recorder, Renderer } from "./renderer";
import type { SampleCache } from "./sampled";
import type { Range } from "./scale";

/** Rows of a drawing, in pixels, and of one part of it. */
const MOST = 30_000, PART = 800;
/** Requests until a part of a drawing is as fine as possible: tiles, then calls. */
const MOST_TRIES = 6;
const PAUSE = 20;

export interface Recorded {
  readonly rows: readonly Row[];
  /** The number of rows that are not in the drawing. */
  readonly left: number;
  readonly height: number;
}

/** A renderer of its own, with its canvas, and the data that it draws. */
export interface Tools {
  readonly canvas: HTMLCanvasElement;
  readonly renderer: Renderer;
  readonly cache: Cache;
  readonly values: ValuesCache;
  readonly samples: SampleCache;
}

/** Rows in stretches of some hundred pixels. */
function inParts(rows: readonly Row[]): Row[][] {
  const parts: Row[][] = [];
  for (const row of rows) {
    const part = parts[parts.length - 1];
    if (part && row.y + row.height - part[0].y <= PART) part.push(row); else parts.push([row]);
  }
  return parts;
}

export async function recordAll(layout: Layout, range: Range, { canvas, renderer, cache, values, samples }: Tools, recorder: Recorder): Promise<Recorded> {
  const every = [...layout.pinned, ...layout.rows], rows = every.filter((row) => row.y + row.height <= MOST), ratio = window.devicePixelRatio || 1;
  for (const part of inParts(rows)) {
    const top = part[0].y, last = part[part.length - 1], frame = { range, rows: part, top, pinnedBottom: 0 };
    canvas.height = Math.ceil((last.y + last.height - top) * ratio);
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      renderer.paint(frame, ratio);
      cache.fetch();
      const busy = () => cache.busy || values.busy || samples.busy;
      if (!busy()) break;
      while (busy()) await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
    renderer.record(frame, { run: (x, y, w, h, colour) => recorder.run(x, y + top, w, h, colour), label: (x, y, words, colour) => recorder.label(x, y + top, words, colour) });
  }
  const last = rows[rows.length - 1];
  return { rows, left: every.length - rows.length, height: last ? last.y + last.height : 0 };
}
