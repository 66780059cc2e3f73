// The calls of a function as dots: their durations over time, or over the number of the visit.
import { type CallRef, type Selection } from "../model";
import { toNs } from "../format";

export type Over = "time" | "visit";

/** Dots at parts of the width and height, from 0 to 1; y from the top. */
export interface Dots {
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** Durations in ns at the bottom and the top of the picture; the axis is logarithmic. */
  readonly lowest: number;
  readonly highest: number;
  /** Durations in ns that get a line. */
  readonly lines: readonly number[];
}

const FEW = 3;  // lines that tell durations apart
const STEPS = [[1], [1, 2, 5], [1, 1.5, 2, 3, 5, 7]];

/** Round durations between two others: powers of ten, or finer ones if there are few of these. */
export function roundDurations(lowest: number, highest: number): number[] {
  const among = (steps: readonly number[]) => {
    const all: number[] = [];
    for (let power = 1; power <= highest; power *= 10) all.push(...steps.map((step) => step * power));
    return all.filter((time) => time >= lowest && time <= highest);
  };
  const choices = STEPS.map(among);
  return choices.find((times) => times.length >= FEW) ?? choices.at(-1)!;
}

/** The height of a duration in ns. */
export function heightOf(ns: number, { lowest, highest }: Pick<Dots, "lowest" | "highest">): number {
  return 1 - Math.log(Math.max(ns, lowest) / lowest) / Math.log(highest / lowest);
}

/** Pixels that the words of a line need above it. */
const TALL = 13;

/** The foot of the words of a line at this height: above the line, or below it where they would be cut at the top. */
export const wordsAt = (line: number): number => (line < TALL ? line + TALL - 1 : line - 3);

/** `calls` in order of their begins. */
export function dotsOf(calls: readonly CallRef[], over: Over, scope: Pick<Selection, "begin" | "end">): Dots {
  const times = calls.map((call) => Math.max(toNs(call.end - call.begin), 1));
  const least = times.reduce((all, time) => Math.min(all, time), Infinity), most = times.reduce((all, time) => Math.max(all, time), 1);
  // At least a factor of two, so that noise does not look large.
  const lowest = Math.min(least, most / 1.5) / 1.2, highest = most * 1.2;
  const length = Math.max(scope.end - scope.begin, 1), last = Math.max(calls.length - 1, 1);
  return {
    x: Float64Array.from(calls, (call, i) => (over === "time" ? (call.begin - scope.begin) / length : i / last)),
    y: Float64Array.from(times, (time) => heightOf(time, { lowest, highest })),
    lowest, highest, lines: roundDurations(lowest, highest),
  };
}

/** The dot nearest to a pixel, at most `reach` pixels away; -1: none. */
export function nearestDot({ x, y }: Dots, at: { x: number; y: number }, width: number, height: number, reach: number): number {
  let best = -1, least = reach * reach;
  for (let i = 0; i < x.length; i++) {
    const away = (x[i] * width - at.x) ** 2 + (y[i] * height - at.y) ** 2;
    if (away <= least) [best, least] = [i, away];
  }
  return best;
}
