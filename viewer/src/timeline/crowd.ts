// Many locations in one line: the number of active ones over time, for folded folders of tasks.
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

/** The height of each column's bar in a histogram of this height: the largest number fills it. */
export function barsOf(counts: Float64Array, height: number): Uint16Array {
  const most = counts.reduce((all, count) => Math.max(all, count), 1);
  return Uint16Array.from(counts, (count) => (count ? Math.max(2, Math.round((count * height) / most)) : 0));
}
