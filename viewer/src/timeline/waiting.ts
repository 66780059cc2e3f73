// The waiting part of the time: the height of the striped part of a call, in the colour of waiting.
import { blend, type Pixel } from "../colour";
import { COLUMNS, type TileKey } from "../model";
import type { Piece } from "./cache";
import { type Range, span } from "./scale";

const STRIPE = 5;
/** Share of the call's colour, in the stripes and between them. */
const STRONG = 0.5, FAINT = 0.12;

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

/** The colours of waiting in a call: in the stripes, which have more of the call's colour, and between them. */
export const stripes = (waiting: Pixel, colour: Pixel): [Pixel, Pixel] => [blend(waiting, colour, STRONG), blend(waiting, colour, FAINT)];

export const inStripe = (x: number, y: number): boolean => (x + STRIPE - (y % STRIPE)) % STRIPE < 1;
