// Tables and trees of a selection, made of its sums by call path.
import { NONE, type Paths, type Profile, type Region } from "./model";

/** The sums of a function, a module or a call path. */
export interface Row {
  /** What the sums are of: a region's number; a name of a module. */
  readonly key: number | string;
  readonly visits: number;
  /** Visits that began before the selection or go on after it. */
  readonly cut: number;
  readonly own: number;
  /** With all that was called; calls within calls of the same key count once. */
  readonly total: number;
  readonly min: number;
  readonly max: number;
}

export interface Node {
  readonly region: number;
  readonly visits: number;
  readonly own: number;
  readonly total: number;
  readonly children: Node[];
}

type Key = number | string;

/** One row for each key that `keyOf` gives a region. */
function rows(profile: Profile, paths: Paths, keyOf: (region: number) => Key): Row[] {
  const sums = new Map<Key, { -readonly [name in keyof Row]: Row[name] }>();
  for (let i = 0; i < profile.count; i++) {
    const path = profile.path[i], key = keyOf(paths.region[path]);
    let sum = sums.get(key);
    if (!sum) sums.set(key, (sum = { key, visits: 0, cut: 0, own: 0, total: 0, min: Infinity, max: 0 }));
    sum.visits += profile.visits[i];
    sum.cut += Math.max(profile.cutBegin[i], profile.cutEnd[i]);
    sum.own += profile.own[i];
    if (!hasCaller(path, key, paths, keyOf)) sum.total += profile.inclusive[i];
    sum.min = Math.min(sum.min, profile.min[i]);
    sum.max = Math.max(sum.max, profile.max[i]);
  }
  return [...sums.values()].sort((a, b) => b.own - a.own);
}

function hasCaller(path: number, key: Key, paths: Paths, keyOf: (region: number) => Key): boolean {
  for (let caller = paths.parent[path]; caller !== NONE; caller = paths.parent[caller]) if (keyOf(paths.region[caller]) === key) return true;
  return false;
}

export const byFunction = (profile: Profile, paths: Paths): Row[] => rows(profile, paths, (region) => region);

export function moduleOf(region: Region | undefined): string {
  return region ? region.module || region.file || "(no module)" : "(calls beyond the limit of call paths)";
}

export const byModule = (profile: Profile, paths: Paths, regions: readonly Region[]): Row[] => rows(profile, paths, (region) => moduleOf(regions[region]));

/** The call tree; its root is no function, and has all there is. Children: the longest first. */
export function callTree(profile: Profile, paths: Paths): Node {
  const root = { region: NONE, visits: 0, own: 0, total: 0, children: [] as Node[] };
  const nodes = new Map<number, Node & { visits: number; own: number; total: number }>([[NONE, root]]);
  const nodeOf = (path: number) => {
    let node = nodes.get(path);
    if (!node) {
      nodes.set(path, (node = { region: paths.region[path], visits: 0, own: 0, total: 0, children: [] }));
      nodeOf(paths.parent[path]).children.push(node);
    }
    return node;
  };
  for (let i = 0; i < profile.count; i++) {
    const node = nodeOf(profile.path[i]);
    node.visits += profile.visits[i];
    node.own += profile.own[i];
    node.total += profile.inclusive[i];
    if (paths.parent[profile.path[i]] === NONE) root.total += profile.inclusive[i];
  }
  for (const node of nodes.values()) node.children.sort((a, b) => b.total - a.total || a.region - b.region);
  return root;
}

/** The own times of a selection together. */
export const ownTime = (profile: Profile): number => profile.own.reduce((sum, own) => sum + own, 0);
