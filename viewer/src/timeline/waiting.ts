// The waiting part of the time: the height of the striped part of a call, in the colour of its cause.
import { CAUSES, mainCause } from "../causes";
import { blend, hex, type Pixel, pixel, type Theme } from "../colour";
import { COLUMNS, FIRST_PROCESS, type Run, type TileKey } from "../model";
import { hasSuspensions, waitingIn } from "../source/cells";
import type { Piece } from "./cache";
import { type Range, span } from "./scale";

const STRIPE = 5;
/** Share of the background between the stripes. */
const PALE = 0.4;

export interface Waiting {
  /** By pixel: the part that calls cover, and the waiting share of it, from 0 to 1. */
  readonly covers: Float32Array;
  readonly shares: Float32Array;
  /** By pixel: the cause of most of it. */
  readonly causes: Uint8Array;
}

/** The data of a slot, and the time to which they are limited, if they are. */
export type Found = readonly [slot: TileKey, pieces: readonly Piece[], part?: Range];

/** Tracks of a process or run are the mean of several: the waiting of their tiles has the suspended tasks. */
const isMean = ({ track }: TileKey): boolean => track >= FIRST_PROCESS;

export function waitingOf(found: readonly Found[], range: Range, width: number, run: Run): Waiting {
  const suspends = hasSuspensions(run);
  const covers = new Float32Array(width), shares = new Float32Array(width), causes = new Uint8Array(width), sums = new Float32Array(CAUSES.length), perPixel = span(range) / width;
  for (const [slot, pieces, part = range] of found) {
    const size = 4 ** slot.level * COLUMNS;
    for (const { key, tile } of pieces) {
      const column = 4 ** key.level, offset = key.index * COLUMNS;
      const begin = Math.max(slot.index * size, offset * column, part.begin), end = Math.min((slot.index + 1) * size, (offset + COLUMNS) * column, part.end);
      const left = Math.max(0, Math.ceil((begin - range.begin) / perPixel - 0.5)), right = Math.min(width, Math.ceil((end - range.begin) / perPixel - 0.5));
      for (let x = left; x < right; x++) {
        const first = Math.max(0, Math.floor((range.begin + x * perPixel) / column) - offset);
        const last = Math.min(COLUMNS - 1, Math.max(first, Math.ceil((range.begin + (x + 1) * perPixel) / column) - 1 - offset));
        let waiting = 0, cover = 0;
        sums.fill(0);
        for (let c = first; c <= last; c++) {
          const [part, cause] = waitingIn(tile, c, run, suspends && !isMean(slot));
          (waiting += part), (cover += tile.cover[c]), (sums[cause] += part);
        }
        causes[x] = mainCause(sums);
        covers[x] = cover / 255 / (last - first + 1);
        shares[x] = waiting > 0 ? Math.min(1, waiting / Math.max(waiting, cover)) : 0;
      }
    }
  }
  return { covers, shares, causes };
}

/** The colour of waiting between its stripes: paler than any work, whose colours may be the same. */
export const between = (waiting: Pixel, theme: Theme): Pixel => blend(waiting, pixel(theme.background), PALE);

export const inStripe = (x: number, y: number): boolean => (x + STRIPE - (y % STRIPE)) % STRIPE < 1;

const patterns = new Map<string, CanvasPattern>();

/** The stripes of a colour of waiting, to fill with. */
export function striped(colour: string, theme: Theme): CanvasPattern {
  const key = colour + theme.background, known = patterns.get(key);
  if (known) return known;
  const canvas = document.createElement("canvas"), context = canvas.getContext("2d")!;
  canvas.width = canvas.height = STRIPE;
  context.fillStyle = hex(between(pixel(colour), theme));
  context.fillRect(0, 0, STRIPE, STRIPE);
  context.fillStyle = colour;
  for (let x = 0; x < STRIPE; x++) context.fillRect(x, x, 1, 1);
  const made = context.createPattern(canvas, "repeat")!;
  patterns.set(key, made);
  return made;
}
