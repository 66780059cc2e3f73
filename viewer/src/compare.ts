// Two runs side by side: the rows of their tables and their call trees together.
import { NO_CAUSES } from "./causes";
import { NONE, type Part, type Paths, type Profile, type Run, type Selection } from "./model";
import type { Node, Row } from "./profile";

export interface RowPair {
  readonly key: number | string;
  readonly before: Row | null;
  readonly after: Row | null;
}

export interface Sums {
  visits: number;
  own: number;
  total: number;
}

/** A call path that both runs have; its sums are over both. */
export interface NodePair extends Node {
  readonly before: Sums;
  readonly after: Sums;
  readonly children: NodePair[];
}

/** Joins rows with the same key; rows of the first list come first. */
export function pairRows(before: readonly Row[], after: readonly Row[]): RowPair[] {
  const left = new Map(after.map((row) => [row.key, row]));
  const pairs: RowPair[] = before.map((row) => {
    const other = left.get(row.key) ?? null;
    left.delete(row.key);
    return { key: row.key, before: row, after: other };
  });
  return [...pairs, ...[...left.values()].map((row) => ({ key: row.key, before: null, after: row }))];
}

/** The call tree of both profiles; its root is not a function. Children: those with the most time in both runs
    first. */
export function pairTree(before: Profile, after: Profile, paths: Paths): NodePair {
  const none = (): Sums => ({ visits: 0, own: 0, total: 0 });
  const fresh = (region: number) => ({ region, visits: 0, own: 0, waiting: 0, causes: NO_CAUSES, total: 0, before: none(), after: none(), children: [] as NodePair[] });
  const root = fresh(NONE), nodes = new Map([[NONE, root]]);
  const nodeOf = (path: number) => {
    let node = nodes.get(path);
    if (!node) {
      nodes.set(path, (node = fresh(paths.region[path])));
      nodeOf(paths.parent[path]).children.push(node);
    }
    return node;
  };
  for (const [name, profile] of [["before", before], ["after", after]] as const) {
    for (let i = 0; i < profile.count; i++) {
      const node = nodeOf(profile.path[i]);
      for (const sums of [node, node[name]]) {
        sums.visits += profile.visits[i];
        sums.own += profile.own[i];
        sums.total += profile.inclusive[i];
      }
      if (paths.parent[profile.path[i]] === NONE) for (const sums of [root, root[name]]) sums.total += profile.inclusive[i];
    }
  }
  for (const node of nodes.values()) node.children.sort((a, b) => b.total - a.total || a.region - b.region);
  return root;
}

export const EMPTY_PROFILE: Profile = {
  count: 0, path: new Int32Array(), visits: new Float64Array(), cutBegin: new Float64Array(), cutEnd: new Float64Array(), own: new Float64Array(), waiting: new Float64Array(), causes: [],
  inclusive: new Float64Array(), min: new Float64Array(), max: new Float64Array(),
};

/** From -1 (only before) over 0 (the same) to 1 (only after). */
export const change = (before: number, after: number): number => (before + after > 0 ? (after - before) / (after + before) : 0);

/** The part of a selection in each run. Rows selected in one run only stand for rows with the same names in the other,
 * which may be missing. */
export function scopesOf(run: Run, selection: Selection): Selection[] {
  const chosen = run.parts.map((part) => (selection.tracks ?? tracksOf(part)).filter((track) => isIn(part, track)));
  return run.parts.map((part, n) => {
    const tracks = chosen[n].length ? chosen[n] : counterparts(run, part, run.parts[1 - n], chosen[1 - n]);
    return { begin: selection.begin, end: selection.end, tracks };
  });
}

const tracksOf = (part: Part): number[] => Array.from({ length: part.tracks }, (_, i) => part.firstTrack + i);
const isIn = (part: Part, track: number): boolean => track >= part.firstTrack && track < part.firstTrack + part.tracks;

/** Repeated names get a number: the second thread with a name matches the other run's second. */
function keysOf(run: Run, part: Part): string[] {
  const seen = new Map<string, number>();
  return tracksOf(part).map((track) => {
    const { name, process } = run.locations[track];
    const key = `${process - part.firstProcess}\n${name}`, nth = seen.get(key) ?? 0;
    seen.set(key, nth + 1);
    return `${key}\n${nth}`;
  });
}

function counterparts(run: Run, part: Part, other: Part, tracks: readonly number[]): number[] {
  const theirs = keysOf(run, other), wanted = new Set(tracks.map((track) => theirs[track - other.firstTrack]));
  return keysOf(run, part).flatMap((key, i) => (wanted.has(key) ? [part.firstTrack + i] : []));
}
