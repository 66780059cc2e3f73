// Many locations in one line: the number of active ones over time, for folded folders of tasks.
import { blend, type Pixel } from "../colour";
import type { Location } from "../model";
import { type Range, span } from "./scale";

/** The number of locations present in each of `width` columns of a range. */
export function crowd(locations: readonly Location[], members: readonly number[], range: Range, width: number): Float64Array {
  const changes = new Float64Array(width + 1);
  const scale = width / span(range);
  for (const id of members) {
    const { begin, end } = locations[id];
    if (end < range.begin || begin > range.end) continue;
    const first = Math.max(0, Math.floor((begin - range.begin) * scale));
    const last = Math.min(width - 1, Math.max(first, Math.ceil((end - range.begin) * scale) - 1));
    if (first >= width) continue;
    changes[first]++;
    changes[last + 1]--;
  }
  for (let x = 1; x < width; x++) changes[x] += changes[x - 1];
  return changes.subarray(0, width);
}

/** Draws the numbers: the larger, the stronger the colour. */
export function drawCrowd(pixels: Uint32Array, counts: Float64Array, background: Pixel, colour: Pixel): void {
  const most = counts.reduce((all, count) => Math.max(all, count), 1);
  for (let x = 0; x < counts.length; x++) if (counts[x]) pixels[x] = blend(background, colour, 0.25 + (0.75 * counts[x]) / most);
}
