// Waiting within a stretch of time: it counts as spread evenly, as in src/view/index/waited.hpp.

export interface Waited {
  readonly begin: number;
  readonly end: number;
  readonly ticks: number;
}

/** ticks * part / whole, rounded down; exact, as on the server. */
function share(ticks: number, part: number, whole: number): number {
  const product = ticks * part;
  return product <= Number.MAX_SAFE_INTEGER ? Math.floor(product / whole) : Number((BigInt(ticks) * BigInt(part)) / BigInt(whole));
}

/** The part in [from, to), which are whole numbers. */
export function waitedIn({ begin, end, ticks }: Waited, from: number, to: number): number {
  const first = Math.max(from, begin), last = Math.min(to, end);
  if (first >= last || ticks === 0) return 0;
  return share(ticks, last - begin, end - begin) - share(ticks, first - begin, end - begin);
}
