// The samples of a function on its source lines, as the page shows them.
import { count, percent } from "../format";
import type { LineTime } from "../model";

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
