// The samples of a function and the waiting for locks on its source lines, as the page shows them.
import { count, nsDuration, percent } from "../format";
import type { LineLocks, LineTime, Run } from "../model";

export interface Warm {
  readonly text: string;
  readonly title: string;
  /** Of the time of the hottest line, 0 to 1. */
  readonly share: number;
}

export interface Heat {
  readonly samples: string;
  /** The part of the time whose line is not known; empty: nothing. */
  readonly unknown: string;
  readonly lines: ReadonlyMap<number, Warm>;
}

/** null: there are no samples. */
export function heatOf(times: readonly LineTime[]): Heat | null {
  const all = times.reduce((sum, one) => sum + one.seconds, 0);
  if (!(all > 0)) return null;
  const most = Math.max(...times.map((one) => one.seconds));
  const lines = new Map<number, Warm>();
  for (const { line, samples, seconds } of times) {
    const text = percent(seconds, all);
    if (line) lines.set(line, { text, title: `${seconds.toPrecision(3)} s in ${count(samples)} samples`, share: seconds / most });
  }
  const unknown = times.find((one) => !one.line);
  return { samples: count(times.reduce((sum, one) => sum + one.samples, 0)), unknown: unknown ? percent(unknown.seconds, all) : "", lines };
}

/** An amount of the lines. */
export interface Column {
  readonly head: string;
  readonly lines: ReadonlyMap<number, Warm>;
}

/** The waiting for locks by line, and the waiting of others for the locks that a line held; without such lines none. */
export function lockColumns(locks: readonly LineLocks[]): Column[] {
  const column = (amount: "waited" | "blocked"): Column => {
    const most = Math.max(...locks.map((one) => one[amount]));
    const warm = (one: LineLocks): [number, Warm] => [one.line, {
      text: (one.at_least ? "≥ " : "") + nsDuration(one[amount] * 1e9), share: one[amount] / most,
      title: amount === "waited" ? `for locks, ${count(one.waits)} times` : `others, while this line held locks for ${nsDuration(one.held * 1e9)}`,
    }];
    return { head: amount, lines: new Map(locks.filter((one) => one[amount] > 0).map(warm)) };
  };
  return [column("waited"), column("blocked")].filter((one) => one.lines.size);
}

/** The sentence on what the lines of a function do not tell: work, other waiting and memory are known of calls, not of lines. */
export function notOnLines({ samples, memory }: Pick<Run, "samples" | "memory">, heat: Heat | null, locks = false): string {
  const times = heat ? "" : samples ? "the function itself has no samples; " : "no samples are here (timeloom run --sample 1ms has the CPU time of each line); ";
  const bytes = memory ? "the tab Memory has its bytes by call path" : "no memory is here (timeloom run --memory)";
  return `Not known by line: ${times}work and ${locks ? "other " : ""}waiting are measured for whole calls: the tab Functions has them; ${bytes}.`;
}
