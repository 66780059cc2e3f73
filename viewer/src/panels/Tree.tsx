// The call tree of the selection.
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { count, duration, percent } from "../format";
import { callTree, estimated, type Node, pruned, tellsWaiting } from "../profile";
import { BEYOND, Empty, guessed, Head, scrolled } from "./cells";
import { type Profiled, useEstimates, useOpened } from "./hooks";
import { NoRows, SoughtField, useSought } from "./Sought";

const MOST_ROWS = 500;
/** Calls with at least this share of the total are unfolded at first. */
const UNFOLDED_FROM = 0.05;

interface Shown<N extends Node> {
  readonly node: N;
  readonly id: string;
  readonly depth: number;
  readonly open: boolean;
}

/** `through`: nodes that are unfolded at first because they contain search results. */
function shownOf<N extends Node>(root: N, toggled: ReadonlySet<string>, through: ReadonlySet<Node>): Shown<N>[] {
  const result: Shown<N>[] = [];
  const walk = (nodes: readonly N[], depth: number, prefix: string) => {
    for (const node of nodes) {
      if (result.length >= MOST_ROWS) return;
      const id = `${prefix}/${node.region}`;
      const byDefault = through.has(node) || node.total >= root.total * UNFOLDED_FROM && depth < 40;
      const open = toggled.has(id) ? !byDefault : byDefault;
      result.push({ node, id, depth, open: open && node.children.length > 0 });
      if (open) walk(node.children as N[], depth + 1, id);
    }
  };
  walk(root.children as N[], 0, "");
  return result;
}

/** The call tree of one profile. */
export function ProfileTree({ data }: { data: Profiled }) {
  const { run } = useOpened();
  const split = tellsWaiting(run);
  const estimates = useEstimates(data);
  const root = useMemo(() => callTree(...estimated(data.profile, data.paths, estimates), run.regions, estimates), [data, estimates]);
  return <Tree root={root} heads={["total", "own", ...(split ? ["waiting"] : []), "visits"]}
    cells={(node) => [guessed(node.total, node.guess?.total_error), guessed(node.own, node.guess?.own_error), ...(split ? [duration(node.waiting)] : []), count(node.visits)]} />;
}

interface Props<N extends Node> {
  root: N;
  heads: readonly string[];
  /** A cell for each column head. */
  cells: (node: N) => ComponentChildren[];
}

/** REQUIRES: children of a node have its type. */
export function Tree<N extends Node>({ root, heads, cells }: Props<N>) {
  const { run, timeline } = useOpened();
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const sought = useSought();
  const { root: left, through } = useMemo(() => {
    const keep = (region: number) => sought.keeps(run.regions[region]?.name ?? "", run.regions[region]?.file ?? "");
    return sought.all ? { root, through: new Set<Node>() } : pruned(root, keep);
  }, [root, sought]);
  const rows = shownOf(left, toggled, through);
  const toggle = (id: string) => {
    const next = new Set(toggled);
    if (!next.delete(id)) next.add(id);
    setToggled(next);
  };
  const keys = (event: KeyboardEvent, row: Shown<N>) => {
    if (event.key === (row.open ? "ArrowLeft" : "ArrowRight") && row.node.children.length) toggle(row.id);
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") moveFocus(event);
    else return;
    event.preventDefault();
  };
  return (
    <div class="tablebox" {...scrolled("Call tree")}>
      <table role="treegrid" aria-label="Call tree">
        <thead><tr><Head>share</Head>{heads.map((head) => <th key={head} scope="col" class="number">{head}</th>)}<th scope="col">function <SoughtField /></th></tr></thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id} aria-level={row.depth + 1} {...(row.node.children.length ? { "aria-expanded": row.open } : {})}>
              <td class="number share"><span class="bar" style={{ width: `${(100 * row.node.total) / root.total}%` }} /><span>{percent(row.node.total, root.total)}</span></td>
              {cells(row.node).map((cell, i) => <td key={heads[i]} class="number">{cell}</td>)}
              <th scope="row" class="name" style={{ paddingLeft: `${8 + Math.min(row.depth, 60) * 12}px` }}>
                <button class="fold" disabled={!row.node.children.length} aria-label={row.open ? "Fold" : "Unfold"} onClick={() => toggle(row.id)} onKeyDown={(event) => keys(event, row)}>{row.node.children.length ? (row.open ? "▾" : "▸") : ""}</button>
                <span class="swatch" style={{ background: timeline.styleOf(row.node.region) }} />
                {run.regions[row.node.region]?.name ?? BEYOND}
              </th>
            </tr>
          ))}
        </tbody>
      </table>
      {!rows.length && <NoRows sought={sought} />}
      {rows.length >= MOST_ROWS && <Empty>Only the first {MOST_ROWS} lines are shown. Fold some of them to see others.</Empty>}
    </div>
  );
}

function moveFocus(event: KeyboardEvent): void {
  const buttons = [...(event.target as HTMLElement).closest("table")!.querySelectorAll<HTMLButtonElement>("button.fold:not(:disabled)")];
  buttons[buttons.indexOf(event.target as HTMLButtonElement) + (event.key === "ArrowDown" ? 1 : -1)]?.focus();
}
