// The waiting part of the time: the height of the striped, paler part of a call.
import { blend, type Pixel } from "../colour";
import { COLUMNS, NONE, type TileKey } from "../model";
import type { Piece } from "./cache";
import { type Range, span } from "./scale";

const STRIPE = 6;
/** Share of the background colour, in the stripes and between them. */
const PALE = 0.74, PALER = 0.42;

/** By pixel: the waiting share of the time covered by calls, from 0 to 1. */
export function waitingOf(found: readonly (readonly [TileKey, readonly Piece[]])[], range: Range, width: number): Float32Array {
  const shares = new Float32Array(width), perPixel = span(range) / width;
  for (const [slot, pieces] of found) {
    const size = 4 ** slot.level * COLUMNS;
    for (const { key, tile } of pieces) {
      const column = 4 ** key.level, offset = key.index * COLUMNS;
      const begin = Math.max(slot.index * size, offset * column), end = Math.min((slot.index + 1) * size, (offset + COLUMNS) * column);
      const left = Math.max(0, Math.ceil((begin - range.begin) / perPixel - 0.5)), right = Math.min(width, Math.ceil((end - range.begin) / perPixel - 0.5));
      for (let x = left; x < right; x++) {
        const first = Math.max(0, Math.floor((range.begin + x * perPixel) / column) - offset);
        const last = Math.min(COLUMNS - 1, Math.max(first, Math.ceil((range.begin + (x + 1) * perPixel) / column) - 1 - offset));
        let waiting = 0, cover = 0;
        for (let c = first; c <= last; c++) (waiting += tile.waiting[c]), (cover += tile.cover[c]);
        shares[x] = waiting > 0 ? Math.min(1, waiting / Math.max(waiting, cover)) : 0;
      }
    }
  }
  return shares;
}

/** By pixel: the line of a row with the innermost visible call. */
export class Innermost {
  readonly line: Int16Array;

  constructor(width: number) {
    this.line = new Int16Array(width).fill(NONE);
  }

  /** REQUIRES: lines come from the outermost inwards. The pixel after a call is its gap. */
  add(line: number, regions: Int32Array): void {
    for (let x = 0; x < regions.length; x++) if (regions[x] !== NONE || (x > 0 && regions[x - 1] !== NONE)) this.line[x] = line;
  }
}

/** The colour of a pixel in waiting time. */
export const paler = (colour: Pixel, background: Pixel, x: number, y: number): Pixel => blend(colour, background, (x + 2 * STRIPE - (y % STRIPE)) % STRIPE < 2 ? PALE : PALER);

/** The same without stripes, for drawings. */
export const pale = (colour: Pixel, background: Pixel): Pixel => blend(colour, background, PALER);
