// Messages and collective operations in memory, and the answers about them: equal to the answers of
// src/view/answers/viewed_messages.cpp.
import type { Bundle, Bundled, Exchange, Gathering, Location, MessageFacts, MessageRange } from "../model";

/** All messages and operations of a run, in order of time. */
export interface Talk {
  readonly facts: MessageFacts;
  readonly messages: readonly Bundle[];
  readonly collectives: readonly Gathering[];
}

export const SILENCE: Talk = { facts: { count: 0, collectives: 0, unmatched: 0, backwards: 0, complete: true }, messages: [], collectives: [] };

interface Kind<T> {
  readonly time: (item: T) => number;
  readonly tracks: (item: T) => readonly [number, number];
  readonly touches: (item: T, begin: number, end: number) => boolean;
  readonly join: (a: T, b: T) => T;
}

const MESSAGE: Kind<Bundle> = {
  time: (one) => one.sent,
  tracks: (one) => [one.fromTrack, one.toTrack],
  touches: (one, begin, end) => Math.min(one.sent, one.received) < end && Math.max(one.sent, one.received) >= begin,
  join: (a, b) => ({
    ...(b.sent < a.sent ? b : a), count: a.count + b.count, sent: Math.min(a.sent, b.sent), lastSent: Math.max(a.lastSent, b.lastSent),
    received: Math.min(a.received, b.received), lastReceived: Math.max(a.lastReceived, b.lastReceived), bytes: a.bytes + b.bytes,
    waitedSender: a.waitedSender + b.waitedSender, waitedReceiver: a.waitedReceiver + b.waitedReceiver,
  }),
};

const GATHERING: Kind<Gathering> = {
  time: (one) => one.begin,
  tracks: (one) => [one.track, one.track],
  touches: (one, begin, end) => one.begin < end && one.end >= begin,
  join: (a, b) => ({
    ...a, count: a.count + b.count, begin: Math.min(a.begin, b.begin), end: Math.max(a.end, b.end), waited: a.waited + b.waited,
    sent: a.sent + b.sent, received: a.received + b.received,
  }),
};

interface Keyed<T> {
  column: number;
  item: T;
}

function bundled<T>(kind: Kind<T>, all: readonly T[], { begin, end, tracks, limit, columns }: MessageRange): Bundled<T> {
  const wanted = tracks?.length ? new Set(tracks) : null;
  const found = all.filter((item) => kind.touches(item, begin, end) && (!wanted || kind.tracks(item).some((track) => wanted.has(track))));
  if (found.length <= limit) return { items: found, count: found.length, complete: true };
  const columnOf = (item: T) => Math.max(0, Math.floor(Math.min(((kind.time(item) - begin) * columns) / (end - begin), columns - 1)));
  const order = (a: Keyed<T>, b: Keyed<T>) => {
    const [x, y] = [kind.tracks(a.item), kind.tracks(b.item)];
    return a.column - b.column || x[0] - y[0] || x[1] - y[1];
  };
  const joined = (items: Keyed<T>[]) => {
    items.sort(order);
    const result: Keyed<T>[] = [];
    for (const one of items) {
      const last = result.at(-1);
      if (last && order(last, one) === 0) last.item = kind.join(last.item, one.item); else result.push({ ...one });
    }
    return result;
  };
  let items = joined(found.map((item) => ({ column: columnOf(item), item })));
  for (let parts = columns; parts > 1 && items.length > limit; parts /= 2) items = joined(items.map(({ column, item }) => ({ column: column >> 1, item })));
  const complete = items.length <= limit;
  const countOf = ({ item }: Keyed<T>) => (item as { count: number }).count;
  if (!complete) items = items.sort((a, b) => countOf(b) - countOf(a)).slice(0, limit).sort(order);
  return { items: items.map(({ item }) => item), count: found.length, complete };
}

export const bundlesIn = (talk: Talk, range: MessageRange): Bundled<Bundle> => bundled(MESSAGE, talk.messages, range);
export const gatheringsIn = (talk: Talk, range: MessageRange): Bundled<Gathering> => bundled(GATHERING, talk.collectives, range);

/** The messages sent in the range, by sender and then by receiver. */
export function matrixOf(talk: Talk, locations: readonly Location[], { begin, end, tracks, limit }: MessageRange): Bundled<Exchange> {
  const wanted = tracks?.length ? new Set(tracks) : null;
  const pairs = new Map<string, Exchange>();
  let count = 0;
  for (const one of talk.messages) {
    if (one.sent < begin || one.sent >= end || (wanted && !wanted.has(one.fromTrack) && !wanted.has(one.toTrack))) continue;
    const sender = locations[one.fromTrack].process, receiver = locations[one.toTrack].process, key = `${sender} ${receiver}`;
    const before = pairs.get(key) ?? { count: 0, bytes: 0, waitedSender: 0, waitedReceiver: 0, sender, receiver };
    pairs.set(key, {
      ...before, count: before.count + 1, bytes: before.bytes + one.bytes,
      waitedSender: before.waitedSender + one.waitedSender, waitedReceiver: before.waitedReceiver + one.waitedReceiver,
    });
    count++;
  }
  const order = (a: Exchange, b: Exchange) => a.sender - b.sender || a.receiver - b.receiver;
  const all = [...pairs.values()].sort(order);
  if (all.length <= limit) return { items: all, count, complete: true };
  return { items: all.sort((a, b) => b.bytes - a.bytes).slice(0, limit).sort(order), count, complete: false };
}
