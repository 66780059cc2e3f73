// Binary search, and lists by key.

/** The first of `count` places for which `holds` is true; it must stay true for all later ones. `count`: none. */
export function firstWhere(count: number, holds: (place: number) => boolean): number {
  let low = 0, high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle; else low = middle + 1;
  }
  return low;
}

/** Adds to the list of a key. */
export function addTo<Key, Value>(lists: Map<Key, Value[]>, key: Key, values: readonly Value[]): void {
  const list = lists.get(key);
  if (list) for (const value of values) list.push(value); else lists.set(key, [...values]);
}
