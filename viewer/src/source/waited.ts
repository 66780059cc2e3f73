// Waiting within a stretch of time: it counts as spread evenly, as in src/view/index/waited.hpp.

/** Waiting of one cause. The causes of a stretch follow each other. */
export interface Waited {
  readonly begin: number;
  readonly end: number;
  readonly ticks: number;
  /** The cause of the same stretch before this one; null: there is none. */
  readonly before: Waited | null;
  /** The ticks of the stretch that the causes before leave. */
  readonly room: number;
}

/** ticks * part / whole, rounded down; exact, as on the server. */
function share(ticks: number, part: number, whole: number): number {
  const product = ticks * part;
  return product <= Number.MAX_SAFE_INTEGER ? Math.floor(product / whole) : Number((BigInt(ticks) * BigInt(part)) / BigInt(whole));
}

/** The ticks of the stretch up to `time` that a cause and all causes before it leave. */
function left(waited: Waited | null, time: number, begin: number): number {
  if (!waited) return time - begin;
  const room = left(waited.before, time, begin);
  return waited.ticks === 0 ? room : room - share(waited.ticks, room, waited.room);
}

/** The part in [from, to), which are whole numbers. */
export function waitedIn(waited: Waited, from: number, to: number): number {
  const { begin, end, ticks, before } = waited;
  const first = Math.max(from, begin), last = Math.min(to, end);
  if (first >= last || ticks === 0) return 0;
  if (first === begin && last === end) return ticks;
  const until = (time: number) => left(before, time, begin) - left(waited, time, begin);
  return until(last) - until(first);
}
