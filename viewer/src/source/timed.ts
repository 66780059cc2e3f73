// Samples in memory, and the answers about them: equal to the answers of src/view/answers/samples/timed_samples.cpp.
import { type MessageRange, NONE, type Timed } from "../model";
import { firstWhere } from "../sorted";

/** The samples of a range. REQUIRES: `all` has each sample alone. */
export function timedIn(all: Timed, { begin, end, tracks, limit, columns }: MessageRange): Timed {
  const items: (readonly [at: number, next: number])[] = [];
  for (const track of tracks ?? new Set(all.track)) {
    const place = (time: number) => firstWhere(all.count, (i) => all.track[i] > track || (all.track[i] === track && all.first[i] >= time));
    const first = place(begin), last = Math.max(first, place(end)), alone = last - first <= limit;
    const columnOf = (i: number) => (alone ? i : Math.floor(((all.first[i] - begin) * columns) / (end - begin)));
    for (let at = first, next = at; at < last; at = next) {
      while (next < last && columnOf(next) === columnOf(at)) next++;
      items.push([at, next]);
    }
  }
  const hits = items.map(([at, next]) => mostHit(all.hit.subarray(at, next)));
  const reals = (of: (at: number, next: number, item: number) => number) => Float64Array.from(items, ([at, next], item) => of(at, next, item));
  const numbers = (of: (at: number, next: number, item: number) => number) => Int32Array.from(items, ([at, next], item) => of(at, next, item));
  return {
    count: items.length, functions: all.functions, samples: reals((at, next) => next - at), first: reals((at) => all.first[at]), last: reals((_, next) => all.first[next - 1]),
    ticks: reals((at, next) => all.ticks.subarray(at, next).reduce((sum, ticks) => sum + ticks, 0)), most: reals((_, __, item) => hits[item].most), track: numbers((at) => all.track[at]),
    hit: numbers((_, __, item) => hits[item].hit), region: numbers((at, _, item) => all.region[at + hits[item].first]), line: numbers((at, next) => (next - at === 1 ? all.line[at] : 0)),
  };
}

/** The first number of those that are there most often. */
function mostHit(all: Int32Array): { hit: number; most: number; first: number } {
  const found = new Map<number, { hit: number; most: number; first: number }>();
  all.forEach((hit, first) => {
    const known = found.get(hit);
    if (known) known.most++; else found.set(hit, { hit, most: 1, first });
  });
  return [...found.values()].reduce((best, one) => (one.most > best.most ? one : best), { hit: NONE, most: 0, first: 0 });
}

/** True if the samples are ones of a run with this many regions and locations. */
export function isOfRun({ count, track, hit, region, functions }: Timed, regions: number, locations: number): boolean {
  const isIn = (value: number, from: number, end: number) => value >= from && value < end;
  for (let i = 0; i < count; i++) if (!isIn(track[i], i ? track[i - 1] : 0, locations) || !isIn(hit[i], NONE, regions + functions.length) || !isIn(region[i], NONE, regions)) return false;
  return true;
}
