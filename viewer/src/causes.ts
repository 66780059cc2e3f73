// Why threads waited: docs/waiting.md. Causes are numbered as in src/core/waiting_metric.hpp.
import { percent } from "./format";
import type { Region } from "./model";

/** The words of the format, by number. */
export const CAUSES = ["unknown", "processor", "gil", "lock", "thread", "message", "io", "time"] as const;
/** For people. */
export const CAUSE_TEXTS = ["unknown", "no free processor", "gil", "lock", "thread or process", "message", "I/O", "time"] as const;

/** Ticks by cause; empty: causes are not known. */
export type ByCause = readonly number[];
export const NO_CAUSES: ByCause = [];

/** All of it of one cause. */
export const ofCause = (cause: number, ticks: number): ByCause => CAUSES.map((_, i) => (i === cause ? ticks : 0));

export function sumCauses(a: ByCause, b: ByCause): ByCause {
  if (!a.length || !b.length) return a.length ? a : b;
  return a.map((ticks, cause) => ticks + b[cause]);
}

/** The cause with the most; of equal ones, the first. */
export function mainCause(causes: ArrayLike<number>): number {
  let most = 0;
  for (let cause = 1; cause < causes.length; cause++) if (causes[cause] > causes[most]) most = cause;
  return most;
}

/** Causes by their time, without those that have none. */
export const largestFirst = (causes: ByCause): number[] => [...causes.keys()].filter((cause) => causes[cause] > 0).sort((a, b) => causes[b] - causes[a] || a - b);

/** "gil 59 %, time 41 %": the largest first, without those below 1 %; empty: none is known. */
export function causeWords(causes: ByCause): string {
  const all = causes.reduce((sum, ticks) => sum + ticks, 0);
  return largestFirst(causes).filter((cause) => causes[cause] >= 0.01 * all).map((cause) => `${CAUSE_TEXTS[cause]} ${percent(causes[cause], all)}`).join(", ");
}

/** "gil 59 %", or "gil" where it is nearly all, as in `timeloom report`; empty: none is known. */
export function mainCauseWords(causes: ByCause): string {
  const most = mainCause(causes), share = (causes[most] ?? 0) / causes.reduce((sum, ticks) => sum + ticks, 0);
  if (!(share > 0)) return "";
  return share >= 0.95 ? CAUSE_TEXTS[most] : `${CAUSE_TEXTS[most]} ${(100 * share).toFixed(0)} %`;
}

/** For what a task is suspended, from the functions around the suspension, the innermost first: of the functions of the
    event loop's library the outermost that tells it counts, as in src/core/waiting/cause_names.hpp. */
export function suspensionIn(regions: readonly Region[], around: Iterable<number>): number {
  let cause = 0;
  for (const id of around) {
    const region: Region | undefined = regions[id];
    if (!region?.loop) break;
    cause = region.suspends || cause;
  }
  return cause;
}
