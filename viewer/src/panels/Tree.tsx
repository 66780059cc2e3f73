// The call tree of the selection.
import { useMemo, useState } from "preact/hooks";
import { count, duration, percent } from "../format";
import { callTree, type Node } from "../profile";
import { type Profiled, useOpened } from "./hooks";

const MOST_ROWS = 500;
/** Calls with this part of all are unfolded at first. */
const UNFOLDED_FROM = 0.05;

interface Shown {
  readonly node: Node;
  readonly id: string;
  readonly depth: number;
  readonly open: boolean;
}

function shownOf(root: Node, toggled: ReadonlySet<string>): Shown[] {
  const result: Shown[] = [];
  const walk = (nodes: readonly Node[], depth: number, prefix: string) => {
    for (const node of nodes) {
      if (result.length >= MOST_ROWS) return;
      const id = `${prefix}/${node.region}`;
      const byDefault = node.total >= root.total * UNFOLDED_FROM && depth < 40;
      const open = toggled.has(id) ? !byDefault : byDefault;
      result.push({ node, id, depth, open: open && node.children.length > 0 });
      if (open) walk(node.children, depth + 1, id);
    }
  };
  walk(root.children, 0, "");
  return result;
}

export function Tree({ data }: { data: Profiled }) {
  const { run, timeline } = useOpened();
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const root = useMemo(() => callTree(data.profile, data.paths), [data]);
  const rows = shownOf(root, toggled);
  const toggle = (id: string) => {
    const next = new Set(toggled);
    if (!next.delete(id)) next.add(id);
    setToggled(next);
  };
  const keys = (event: KeyboardEvent, row: Shown) => {
    if (event.key === (row.open ? "ArrowLeft" : "ArrowRight") && row.node.children.length) toggle(row.id);
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") moveFocus(event);
    else return;
    event.preventDefault();
  };
  if (!rows.length) return <p class="empty">No call in this stretch of time.</p>;
  return (
    <div class="tablebox" tabIndex={0} data-keys="own" role="region" aria-label="Call tree">
      <table role="treegrid" aria-label="Call tree">
        <thead><tr><th scope="col" class="number">share</th><th scope="col" class="number">total</th><th scope="col" class="number">own</th><th scope="col" class="number">visits</th><th scope="col">function</th></tr></thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id} aria-level={row.depth + 1} {...(row.node.children.length ? { "aria-expanded": row.open } : {})}>
              <td class="number share"><span class="bar" style={{ width: `${(100 * row.node.total) / root.total}%` }} /><span>{percent(row.node.total, root.total)}</span></td>
              <td class="number">{duration(row.node.total)}</td>
              <td class="number">{duration(row.node.own)}</td>
              <td class="number">{count(row.node.visits)}</td>
              <th scope="row" class="name" style={{ paddingLeft: `${8 + Math.min(row.depth, 60) * 12}px` }}>
                <button class="fold" disabled={!row.node.children.length} aria-label={row.open ? "Fold" : "Unfold"} onClick={() => toggle(row.id)} onKeyDown={(event) => keys(event, row)}>{row.node.children.length ? (row.open ? "▾" : "▸") : ""}</button>
                <span class="swatch" style={{ background: timeline.styleOf(row.node.region) }} />
                {run.regions[row.node.region]?.name ?? "(calls beyond the limit of call paths)"}
              </th>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length >= MOST_ROWS && <p class="empty">Only the first {MOST_ROWS} lines are shown. Fold some of them to see others.</p>}
    </div>
  );
}

function moveFocus(event: KeyboardEvent): void {
  const buttons = [...(event.target as HTMLElement).closest("table")!.querySelectorAll<HTMLButtonElement>("button.fold:not(:disabled)")];
  buttons[buttons.indexOf(event.target as HTMLButtonElement) + (event.key === "ArrowDown" ? 1 : -1)]?.focus();
}
