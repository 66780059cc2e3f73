// Tables and trees of a selection, computed from its sums by call path.
import { type ByCause, NO_CAUSES, ofCause, sumCauses, suspensionIn } from "./causes";
import { EMPTY_PROFILE } from "./compare";
import { type ErrorsJson, type EstimateJson, type EstimatesJson, type GpuTimes, NO_ESTIMATES, NONE, type Paths, type Profile, type Region, type Run } from "./model";

/** The sums of a function, a module or a call path. */
export interface Row {
  /** The subject of the sums: a region's number, or a module's name. */
  readonly key: number | string;
  readonly visits: number;
  /** Visits that started before the selection or continue after it. */
  readonly cut: number;
  readonly own: number;
  /** The part of `own` that was waiting. */
  readonly waiting: number;
  readonly causes: ByCause;
  /** Including callees; calls within calls of the same key count once. */
  readonly total: number;
  readonly min: number;
  readonly max: number;
}

export interface Node {
  readonly region: number;
  readonly visits: number;
  readonly own: number;
  /** The part of `own` that was waiting. */
  readonly waiting: number;
  readonly causes: ByCause;
  readonly total: number;
  readonly children: Node[];
  /** Present where some of it is estimated. */
  readonly guess?: ErrorsJson | undefined;
}

type Key = number | string;

/** Returns one row for each key that `keyOf` gives a region. */
function rows(profile: Profile, paths: Paths, regions: readonly Region[], keyOf: (region: number) => Key): Row[] {
  const sums = new Map<Key, { -readonly [name in keyof Row]: Row[name] }>();
  for (let i = 0; i < profile.count; i++) {
    const path = profile.path[i], key = keyOf(paths.region[path]);
    let sum = sums.get(key);
    if (!sum) sums.set(key, (sum = { key, visits: 0, cut: 0, own: 0, waiting: 0, causes: NO_CAUSES, total: 0, min: Infinity, max: 0 }));
    sum.visits += profile.visits[i];
    sum.cut += Math.max(profile.cutBegin[i], profile.cutEnd[i]);
    sum.own += profile.own[i];
    sum.waiting += waitingOf(profile, i, regions[paths.region[path]]);
    sum.causes = sumCauses(sum.causes, causesOf(profile, i, paths, regions));
    if (!hasCaller(path, key, paths, keyOf)) sum.total += profile.inclusive[i];
    sum.min = Math.min(sum.min, profile.min[i]);
    sum.max = Math.max(sum.max, profile.max[i]);
  }
  return [...sums.values()].sort((a, b) => b.own - a.own);
}

function hasCaller(path: number, key: Key, paths: Paths, keyOf: (region: number) => Key): boolean {
  for (const caller of callersOf(path, paths)) if (keyOf(caller) === key) return true;
  return false;
}

/** The waiting part of a call path's exclusive time: as measured, or derived from its name, as in `timeloom report`. */
export const waitingOf = (profile: Profile, i: number, region: Region | undefined): number => (region?.waits ? profile.own[i] : profile.waiting[i]);

/** The same by cause; empty: causes are not known. */
function causesOf(profile: Profile, i: number, paths: Paths, regions: readonly Region[]): ByCause {
  if (!profile.causes.length) return NO_CAUSES;
  const path = profile.path[i], region: Region | undefined = regions[paths.region[path]];
  if (!region?.waits) return profile.causes.map((ticks) => ticks[i]);
  return ofCause(region.suspended ? suspensionIn(regions, callersOf(path, paths)) : region.cause, profile.own[i]);
}

/** The functions around a call path, the innermost first. */
export function* callersOf(path: number, { parent, region }: Paths): Iterable<number> {
  for (let caller = parent[path]; caller !== NONE; caller = parent[caller]) yield region[caller];
}

/** The waiting of all call paths by cause. */
export function allCauses(profile: Profile, paths: Paths, regions: readonly Region[]): ByCause {
  const sums = profile.causes.map(() => 0);
  for (let i = 0; i < profile.count; i++) causesOf(profile, i, paths, regions).forEach((ticks, cause) => (sums[cause] += ticks));
  return sums;
}

/** By region: the part of its exclusive time that was work. */
export function workByRegion(profile: Profile, paths: Paths, regions: readonly Region[]): Float64Array {
  const work = new Float64Array(regions.length);
  for (let i = 0; i < profile.count; i++) {
    const region = paths.region[profile.path[i]];
    if (region >= 0) work[region] += profile.own[i] - waitingOf(profile, i, regions[region]);
  }
  return work;
}

/** True if a run distinguishes waiting from working. */
export const tellsWaiting = (run: Run): boolean => run.waiting || run.regions.some((region) => region.waits);

export const byFunction = (profile: Profile, paths: Paths, regions: readonly Region[]): Row[] => rows(profile, paths, regions, (region) => region);

export function moduleOf(region: Region | undefined): string {
  return region ? region.module || region.file || "(no module)" : "(calls beyond the limit of call paths)";
}

export const byModule = (profile: Profile, paths: Paths, regions: readonly Region[]): Row[] => rows(profile, paths, regions, (region) => moduleOf(regions[region]));

/** The call tree; its root is not a function and contains everything. Children: the longest first. */
export function callTree(profile: Profile, paths: Paths, regions: readonly Region[], { paths: guesses }: EstimatesJson = NO_ESTIMATES): Node {
  const guessOf = new Map(guesses.map((one) => [one.path, one]));
  const root: Open = { region: NONE, visits: 0, own: 0, waiting: 0, causes: NO_CAUSES, total: 0, children: [] };
  const nodes = new Map<number, Open>([[NONE, root]]);
  const nodeOf = (path: number) => {
    let node = nodes.get(path);
    if (!node) {
      nodes.set(path, (node = { region: paths.region[path], visits: 0, own: 0, waiting: 0, causes: NO_CAUSES, total: 0, children: [], guess: guessOf.get(path) }));
      nodeOf(paths.parent[path]).children.push(node);
    }
    return node;
  };
  for (let i = 0; i < profile.count; i++) {
    const node = nodeOf(profile.path[i]);
    node.visits += profile.visits[i];
    node.own += profile.own[i];
    node.waiting += waitingOf(profile, i, regions[node.region]);
    node.causes = sumCauses(node.causes, causesOf(profile, i, paths, regions));
    node.total += profile.inclusive[i];
    if (paths.parent[profile.path[i]] === NONE) root.total += profile.inclusive[i];
  }
  for (const node of nodes.values()) node.children.sort((a, b) => b.total - a.total || a.region - b.region);
  return root;
}

/** The places of a list by call path, the largest first. */
export const largestFirst = ({ ticks }: GpuTimes): number[] => Array.from(ticks.keys()).sort((a, b) => ticks[b] - ticks[a] || a - b);

/** The time on GPUs of the work that calls started, or another amount, in place of the calls' own time. */
export function gpuProfile({ path, starts, ticks }: GpuTimes, { parent }: Paths): Profile {
  const zeros = () => new Float64Array(parent.length), [visits, own, inclusive] = [zeros(), zeros(), zeros()];
  path.forEach((one, i) => ((visits[one] = starts[i]), (own[one] = inclusive[one] = ticks[i])));
  for (let one = parent.length - 1; one >= 0; one--) if (parent[one] !== NONE) inclusive[parent[one]] += inclusive[one];
  return { count: parent.length, path: Int32Array.from(parent.keys()), visits, own, inclusive, causes: [], cutBegin: zeros(), cutEnd: zeros(), waiting: zeros(), min: zeros(), max: zeros() };
}

/** A profile with the times that are estimated in part, and its call paths. */
export function estimated(profile: Profile, paths: Paths, { paths: guesses, added }: EstimatesJson): [Profile, Paths] {
  if (!guesses.length) return [profile, paths];
  const path = [...profile.path], places = new Map(path.map((one, i) => [one, i]));
  for (const one of guesses) if (!places.has(one.path)) places.set(one.path, path.push(one.path) - 1);
  const grown = (list: Float64Array) => Float64Array.from(path, (_, i) => list[i] ?? (list === profile.min ? Infinity : 0));
  const all = { ...profile, count: path.length, path: Int32Array.from(path), causes: profile.causes.map(grown) } as Profile & Record<string, unknown>;
  for (const name in all) if (all[name] instanceof Float64Array) Object.assign(all, { [name]: grown(all[name]) });
  for (const one of guesses) [all.own[places.get(one.path)!], all.inclusive[places.get(one.path)!]] = [one.own, one.total];
  return [all, { parent: Int32Array.from([...paths.parent, ...added.parent]), region: Int32Array.from([...paths.region, ...added.region]) }];
}

/** The errors of the rows by module. */
export function errorsByModule(paths: Paths, regions: readonly Region[], estimates: EstimatesJson): Map<Key, ErrorsJson> {
  const squares = estimates.paths.map((one) => ({ ...one, own: one.own_error ** 2, total: one.total_error ** 2 }));
  return new Map(byModule(...estimated(EMPTY_PROFILE, paths, { ...estimates, paths: squares }), regions).map(({ key, own, total }) => [key, { own_error: Math.sqrt(own), total_error: Math.sqrt(total) }]));
}

/** Rows by function with the times that are estimated in part, the longest own time first. */
export function withEstimates(rows: readonly Row[], estimates: readonly EstimateJson[]): Row[] {
  const known = new Map(rows.map((row) => [row.key, row]));
  for (const { region: key, own, total } of estimates) known.set(key, { visits: 0, cut: 0, waiting: 0, causes: NO_CAUSES, min: 0, max: 0, ...known.get(key), key, own, total });
  return [...known.values()].sort((a, b) => b.own - a.own);
}

export type Weight = "time" | "work" | "waiting";

const weightOf = ({ own, waiting }: Node, weight: Weight): number => (weight === "time" ? own : weight === "work" ? own - waiting : waiting);

/** Nodes from callers to callees, for walks that are not as deep as the recursion of the program. */
function inOrder(root: Node): Node[] {
  const nodes = [root];
  for (const node of nodes) nodes.push(...node.children);
  return nodes;
}

type Open = { -readonly [name in keyof Node]: Node[name] };

const byTotal = (nodes: readonly Node[]) => {
  for (const { children } of nodes) children.sort((a, b) => b.total - a.total || a.region - b.region);
};

/** The tree with totals that are sums of work or of waiting; subtrees without any are left out. */
export function weighted(root: Node, weight: Weight): Node {
  const nodes = inOrder(root), made = new Map<Node, Open>();
  for (const node of nodes.reverse()) {
    const own = weightOf(node, weight), children = node.children.map((child) => made.get(child)!).filter((child) => child.total > 0);
    const total = own + children.reduce((sum, child) => sum + child.total, 0);
    made.set(node, { ...node, own, waiting: weight === "waiting" ? own : weight === "work" ? 0 : node.waiting, causes: weight === "work" ? NO_CAUSES : node.causes, total, children });
  }
  byTotal([...made.values()]);
  return made.get(root)!;
}

/** The tree without some functions: their exclusive time goes to their callers, which get their callees. */
export function without(root: Node, hidden: (region: number) => boolean): Node {
  const result: Open = { ...root, children: [] }, places = new Map<Node, Open>([[root, result]]);
  const known = new Map<Open, Map<number, Open>>();
  for (const node of inOrder(root)) {
    const place = places.get(node)!;
    for (const child of node.children) {
      if (hidden(child.region)) {
        place.own += child.own;
        place.waiting += child.waiting;
        place.causes = sumCauses(place.causes, child.causes);
        places.set(child, place);
        continue;
      }
      places.set(child, merge(known, place, child));
    }
  }
  byTotal([...places.values()]);
  return result;
}

/** Adds a node to the one of its function among the children of `parent`. */
function merge(known: Map<Open, Map<number, Open>>, parent: Open, node: Node): Open {
  let children = known.get(parent);
  if (!children) known.set(parent, (children = new Map()));
  const there = children.get(node.region);
  if (!there) {
    const made = { ...node, children: [] };
    children.set(node.region, made);
    parent.children.push(made);
    return made;
  }
  there.visits += node.visits;
  there.own += node.own;
  there.waiting += node.waiting;
  there.causes = sumCauses(there.causes, node.causes);
  there.total += node.total;
  return there;
}

/** The tree from callees to callers: below the root each function with its exclusive time, or just `only` with its
    total, and their callers. A node's waiting is the waiting in its total. */
export function inverted(root: Node, only?: number): Node {
  const result: Open = { ...root, own: 0, waiting: 0, causes: NO_CAUSES, total: 0, visits: 0, children: [] }, known = new Map<Open, Map<number, Open>>();
  const parents = new Map<Node, Node>(), below = waitingBelow(root), causesOfAll = causesBelow(root), within = new Set<Node>();
  for (const node of inOrder(root)) {
    for (const child of node.children) parents.set(child, node);
    if (node === root || (only !== undefined && node.region !== only)) {
      if (within.has(parents.get(node)!)) within.add(node);
      continue;
    }
    // A call within a call of the same function counts once.
    const inner = only !== undefined && within.has(parents.get(node)!);
    if (only !== undefined) within.add(node);
    const time = inner ? 0 : only === undefined ? node.own : node.total, waiting = only === undefined ? node.waiting : below.get(node)!;
    if (time === 0) continue;
    const causes = only === undefined ? node.causes : causesOfAll.get(node)!;
    result.total += time;
    result.waiting += waiting;
    result.causes = sumCauses(result.causes, causes);
    let at = result;
    for (let caller: Node | undefined = node; caller && caller !== root; caller = parents.get(caller)) {
      at = merge(known, at, { ...caller, visits: caller === node ? node.visits : 0, own: caller === node ? node.own : 0, waiting, causes, total: time, children: [] });
    }
  }
  byTotal(inOrder(result));
  return result;
}

/** All that a function calls, over all of its callers; a call within a call of it counts once. */
export function merged(root: Node, region: number): Node {
  const result: Open = { region, visits: 0, own: 0, waiting: 0, causes: NO_CAUSES, total: 0, children: [] }, known = new Map<Open, Map<number, Open>>();
  const places = new Map<Node, Open>();
  for (const node of inOrder(root)) {
    const place = places.get(node);
    if (node.region === region && !place) {
      for (const key of ["visits", "own", "waiting", "total"] as const) result[key] += node[key];
      result.causes = sumCauses(result.causes, node.causes);
      places.set(node, result);
    }
    const here = places.get(node);
    if (here) for (const child of node.children) places.set(child, merge(known, here, child));
  }
  byTotal(inOrder(result));
  return result;
}

/** The waiting in a node and below it, for all nodes. */
export function waitingBelow(root: Node): ReadonlyMap<Node, number> {
  const sums = new Map<Node, number>();
  for (const node of inOrder(root).reverse()) sums.set(node, node.waiting + node.children.reduce((sum, child) => sum + sums.get(child)!, 0));
  return sums;
}

/** The same by cause. */
export function causesBelow(root: Node): ReadonlyMap<Node, ByCause> {
  const sums = new Map<Node, ByCause>();
  for (const node of inOrder(root).reverse()) sums.set(node, node.children.reduce((sum, child) => sumCauses(sum, sums.get(child)!), node.causes));
  return sums;
}

/** The part of a call tree that leads to kept nodes, and everything below them; `through`: nodes that only lead
    there. */
export function pruned<N extends Node>(root: N, keep: (region: number) => boolean): { root: N; through: ReadonlySet<Node> } {
  const through = new Set<Node>(), left = new Map<Node, N>();
  // Callers before callees, then in reverse: recursion in the program may be deeper than the browser's stack.
  const nodes: N[] = [root];
  for (const node of nodes) {
    if (node !== root && keep(node.region)) left.set(node, node);
    else for (const child of node.children) nodes.push(child as N);
  }
  for (const node of nodes.reverse()) {
    if (left.has(node)) continue;
    const children = node.children.flatMap((child) => left.get(child) ?? []);
    if (!children.length && node !== root) continue;
    const led = { ...node, children };
    left.set(node, led);
    if (node !== root) through.add(led);
  }
  return { root: left.get(root)!, through };
}

/** The sum of the exclusive times of a selection. */
export const ownTime = (profile: Profile): number => profile.own.reduce((sum, own) => sum + own, 0);

/** The callers, or callees, of a function, and the part of its time (their time) that is due to them. */
export interface Neighbour {
  readonly region: number;
  readonly visits: number;
  readonly total: number;
}

/** The functions that call `region`, with its visits and total times from there; NONE: called from nowhere, the
    outermost. */
export function callers(profile: Profile, paths: Paths, region: number): Neighbour[] {
  return neighbours(profile, (path) => {
    if (paths.region[path] !== region) return null;
    return paths.parent[path] === NONE ? NONE : paths.region[paths.parent[path]];
  });
}

/** The functions that `region` calls, with their visits and total times from there. */
export function callees(profile: Profile, paths: Paths, region: number): Neighbour[] {
  return neighbours(profile, (path) => {
    const parent = paths.parent[path];
    return parent !== NONE && paths.region[parent] === region ? paths.region[path] : null;
  });
}

function neighbours(profile: Profile, regionOf: (path: number) => number | null): Neighbour[] {
  const sums = new Map<number, { region: number; visits: number; total: number }>();
  for (let i = 0; i < profile.count; i++) {
    const region = regionOf(profile.path[i]);
    if (region === null) continue;
    const sum = sums.get(region) ?? { region, visits: 0, total: 0 };
    sum.visits += profile.visits[i];
    sum.total += profile.inclusive[i];
    sums.set(region, sum);
  }
  return [...sums.values()].sort((a, b) => b.total - a.total || a.region - b.region);
}

/** The number of durations (ns) in [from, to); bounds are 1, 2 and 5 times powers of ten. */
export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

export function histogram(durations: readonly number[]): Bin[] {
  if (!durations.length) return [];
  const edges = [0];
  const most = durations.reduce((all, time) => Math.max(all, time), 1);
  for (let power = 1; edges[edges.length - 1] <= most; power *= 10) edges.push(power, 2 * power, 5 * power);
  const counts = edges.map(() => 0);
  for (const time of durations) counts[edges.findLastIndex((edge) => edge <= time)]++;
  const first = counts.findIndex((count) => count > 0), last = counts.findLastIndex((count) => count > 0);
  return edges.slice(first, last + 1).map((from, i) => ({ from, to: edges[first + i + 1] ?? 10 * from, count: counts[first + i] }));
}
