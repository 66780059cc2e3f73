// The values of a metric on a location, joined as by the server (src/view/answers/series.hpp), with bit-identical
// results.
import type { Values } from "../model";
import { firstWhere } from "../sorted";

const MOST = 4096;
/** Stretches whose values are read one by one. */
const FEW = 256;

/** Consecutive values; each is valid until the next one. */
interface Stretch {
  begin: number;
  end: number;
  min: number;
  max: number;
  last: number;
  count: number;
  /** Values times the ticks for which they were valid, and these ticks. */
  area: number;
  time: number;
}

const joined = (a: Stretch, b: Stretch): Stretch => ({
  begin: a.begin, end: b.end, min: b.min < a.min ? b.min : a.min, max: a.max < b.max ? b.max : a.max, last: b.last,
  count: a.count + b.count, area: a.area + b.area, time: a.time + b.time,
});

const meanOf = ({ count, time, area, last }: Stretch) => (count === 1 || time === 0 ? last : area / time);

/** Keeps values one by one at first. When they become many, pairs of neighbours are joined, again and again. */
class Series {
  private stretches: Stretch[] = [];
  private each = 1;

  get hasEach(): boolean {
    return this.each === 1;
  }

  add(time: number, value: number): void {
    const { stretches } = this, one = { begin: time, end: time, min: value, max: value, last: value, count: 1, area: 0, time: 0 };
    const before = stretches.at(-1);
    if (before) {
      const stayed = time - before.end;
      if (stayed > 0) before.area += before.last * stayed;
      before.time += stayed;
      if (before.count < this.each) {
        stretches[stretches.length - 1] = joined(before, one);
        return;
      }
    }
    if (stretches.length === MOST) {
      this.stretches = Array.from({ length: MOST / 2 }, (_, i) => joined(stretches[2 * i], stretches[2 * i + 1]));
      this.each *= 2;
    }
    this.stretches.push(one);
  }

  /** The stretches that touch [from, to), and one more on each side. */
  in(from: number, to: number): Stretch[] {
    const { stretches } = this;
    const first = firstWhere(stretches.length, (i) => stretches[i].end >= from), last = firstWhere(stretches.length, (i) => stretches[i].begin > to);
    return stretches.slice(Math.max(0, first - 1), last + 1);
  }
}

/** Times and values alternate. */
export class MetricValues {
  private readonly all = new Series();

  constructor(private readonly pairs: readonly number[]) {
    for (let i = 0; i < pairs.length; i += 2) this.all.add(pairs[i], pairs[i + 1]);
  }

  in(from: number, to: number): Values {
    let found = this.all.in(from, to);
    if (!this.all.hasEach && found.length && found.length <= FEW) {
      const near = new Series(), { pairs } = this, { end } = found[found.length - 1];
      for (let i = 2 * firstWhere(pairs.length / 2, (at) => pairs[2 * at] >= found[0].begin); i < pairs.length && pairs[i] <= end; i += 2) near.add(pairs[i], pairs[i + 1]);
      found = near.in(from, to);
    }
    const of = (get: (stretch: Stretch) => number) => Float64Array.from(found, get);
    return { count: found.length, begin: of((one) => one.begin), end: of((one) => one.end), min: of((one) => one.min), max: of((one) => one.max), mean: of(meanOf), last: of((one) => one.last) };
  }
}
