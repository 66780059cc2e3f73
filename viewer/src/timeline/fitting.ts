// Which rows are unfolded at first: all processes are there at first sight, then what fits, the busiest first.
import { type Below, heightOf, LINE } from "./layout";
import { type Branch, FIRST_IDLE } from "./tree";

/** Folders with at most this many members are unfolded if they fit. */
const SMALL = 8;

const byBusy = (branches: readonly Branch[]) => [...branches].sort((a, b) => b.busy - a.busy);
const sum = (branches: readonly Branch[], below: Below) => branches.reduce((all, branch) => all + heightOf(branch, 0, below), 0);

/** Lines that a location has at least if it is unfolded and has as many. */
const LEAST = 4;

/** The rows that are unfolded in a window of this height, with their most lines. A single location is unfolded in any; the
    others get some lines each, as long as they fit, then rows that have counters only are unfolded, then locations get all
    of their lines. */
export function fitted(trees: readonly Branch[], room: number, below: Below): ReadonlyMap<number, number> {
  const lines = new Map<number, number>(), leaves: Branch[] = [], charts: Branch[] = [];
  let left = room - sum(trees, below);
  for (let level = [...trees]; level.length;) {
    const next: Branch[] = [];
    for (const branch of byBusy(level)) {
      if (branch.kind === "location") {
        (branch.levels > 0 ? leaves : charts).push(branch);
        continue;
      }
      const large = branch.kind === "metrics" || (branch.kind === "folder" && (branch.id >= FIRST_IDLE || branch.inner.length > SMALL));
      const cost = sum(branch.inner, below);
      if (!branch.inner.length || (!branch.open && (large || cost > left))) continue;
      lines.set(branch.id, 0);
      left -= cost;
      next.push(...branch.inner);
    }
    level = next;
  }
  const unfold = (leaf: Branch, wanted: number, inner: number, anyway = false) => {
    const cost = heightOf(leaf, wanted, below) - heightOf(leaf, lines.get(leaf.id) ?? 0, below) + inner;
    if (cost > left && !anyway) return;
    lines.set(leaf.id, wanted);
    left -= cost;
  };
  const busiest = byBusy(leaves);
  busiest.forEach((leaf) => unfold(leaf, Math.min(leaf.few, LEAST), sum(leaf.inner, below), leaves.length === 1));
  for (const chart of charts) if (chart.inner.length) unfold(chart, 0, sum(chart.inner, below));
  for (const leaf of busiest) if (lines.has(leaf.id)) unfold(leaf, Math.min(leaf.few, lines.get(leaf.id)! + Math.max(0, Math.floor(left / LINE))), 0);
  return lines;
}

/** The same; two runs have half of the window each. */
export const fittedRuns = (trees: readonly Branch[], room: number, below: Below, runs: number): ReadonlyMap<number, number> =>
  runs < 2 ? fitted(trees, room, below) : new Map(trees.flatMap((tree) => [...fitted([tree], room / runs, below)]));
