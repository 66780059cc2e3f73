// Two runs: the bar that shows their alignment, and the table of differences.
import { useMemo, useState } from "preact/hooks";
import { changeColour, textUpon } from "../colour";
import { change, type NodePair, pairRows, pairTree, type RowPair } from "../compare";
import { count, duration, fileAndLine, signed, times } from "../format";
import { byFunction, byModule, type Row, tellsWaiting } from "../profile";
import { BEYOND, Cell, Head, scrolled } from "./cells";
import { Flame } from "./Flame";
import { type ProfiledPair, useOpened } from "./hooks";
import { NoRows, SoughtField, useSought } from "./Sought";
import { Tree } from "./Tree";

const MANY = 200;

/** The names of the runs, and the point at which they are aligned. */
export function Comparison() {
  const { run, comparing } = useOpened();
  const [problem, setProblem] = useState("");
  if (!comparing) return null;
  const { alignment } = comparing;
  const align = (func: string, n: number) => comparing.align({ func, n }).then(() => setProblem(""), (error: Error) => setProblem(error.message));
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    void align(String(form.get("func") ?? "").trim(), Number(form.get("n")) || 1);
  };
  return (
    <section class="comparison" aria-label="Two runs">
      {run.parts.map((part) => <p key={part.letter} title={part.facts.join(" · ")}><b>{part.letter}</b> {part.title} <span class="faint">{duration(part.length)}</span></p>)}
      <form onSubmit={submit}>
        <label>aligned at call <input name="n" type="number" min="1" max="10000" value={alignment.n} aria-label="Which call" /></label>
        <label>of <input name="func" value={alignment.func} placeholder="the start of the run" list="functions" aria-label="Function at whose call the runs are aligned; empty: at their starts" /></label>
        <button>Align</button>
        {alignment.func && <button type="button" onClick={() => void align("", 1)}>at the start</button>}
      </form>
      <datalist id="functions">{run.regions.slice(0, 2000).map((region) => <option key={region.id} value={region.name} />)}</datalist>
      {problem && <p class="wrong" role="alert">{problem}</p>}
    </section>
  );
}

type Amount = "own" | "working" | "waiting" | "total" | "visits";
type Column = Amount | "name";

const sideOf = (row: Row | null) => (row ? { ...row, working: row.own - row.waiting } : { own: 0, working: 0, waiting: 0, total: 0, visits: 0 });
const valueOf = (pair: RowPair, column: Amount): number => Math.abs(sideOf(pair.after)[column] - sideOf(pair.before)[column]);

export function PairTable({ data, by }: { data: ProfiledPair; by: "function" | "module" }) {
  const { run, viewing, timeline, theme } = useOpened();
  const split = tellsWaiting(run);
  const [sort, setSort] = useState<Column>(split ? "working" : "own");
  const [all, setAll] = useState(false);
  const sought = useSought();
  const nameOf = (key: number | string) => (typeof key === "string" ? key : run.regions[key]?.name ?? BEYOND);
  const every = useMemo(() => {
    const [before, after] = data.profiles.map((profile) => (by === "function" ? byFunction(profile, data.paths, run.regions) : byModule(profile, data.paths, run.regions)));
    return pairRows(before, after).sort((a, b) => (sort === "name" ? nameOf(a.key).localeCompare(nameOf(b.key)) : valueOf(b, sort) - valueOf(a, sort)));
  }, [data, by, sort]);
  const rows = sought.all ? every : every.filter(({ key }) => sought.keeps(nameOf(key), typeof key === "number" ? run.regions[key]?.file ?? "" : ""));
  const head = (column: Column, words: string, title: string, span = 1) => (
    <th scope="col" colSpan={span} class={column === "name" ? "" : "number"} aria-sort={sort === column ? (column === "name" ? "ascending" : "descending") : "none"}>
      <button title={title} onClick={() => setSort(column)}>{words}{sort === column ? (column === "name" ? " ▴" : " ▾") : ""}</button>{column === "name" && <SoughtField />}
    </th>
  );
  const difference = (pair: RowPair, column: Amount) => {
    const [before, after] = [sideOf(pair.before)[column], sideOf(pair.after)[column]];
    const colour = changeColour(theme, change(before, after));
    return <td class="number" title={`A ${duration(before)}, B ${duration(after)}`}><span class="change" style={{ background: colour, color: textUpon(colour) }}>{signed(after - before)}</span></td>;
  };
  const cells = (pair: RowPair, column: Amount) => <>
    <td class="number extreme">{duration(sideOf(pair.before)[column])}</td><td class="number extreme">{duration(sideOf(pair.after)[column])}</td>{difference(pair, column)}
  </>;
  return (
    <div class="tablebox" {...scrolled(`Differences by ${by}`)}>
      <table>
        <thead><tr>
          <th scope="col" class="number extreme">A own</th><th scope="col" class="number extreme">B own</th>{head("own", "B − A", "Own time in B less that in A; the largest difference first")}
          <Head>ratio</Head>
          {split && <>{head("working", "B − A working", "Own time in which the thread ran")}{head("waiting", "B − A waiting", "Own time in which it did not")}</>}
          <th scope="col" class="number extreme">A total</th><th scope="col" class="number extreme">B total</th>{head("total", "B − A total", "With all that was called")}
          {head("visits", "visits", "Calls in A and in B; sorted by their difference", 2)}{head("name", by, "")}{by === "function" && <th scope="col" class="place">place</th>}
        </tr></thead>
        <tbody>
          {rows.slice(0, all ? rows.length : MANY).map((pair) => {
            const region = typeof pair.key === "number" ? run.regions[pair.key] : undefined;
            return (
              <tr key={pair.key}>
                {cells(pair, "own")}
                <Cell>{times(sideOf(pair.before).own, sideOf(pair.after).own)}</Cell>
                {split && <>{difference(pair, "working")}{difference(pair, "waiting")}</>}
                {cells(pair, "total")}
                <Cell>{count(sideOf(pair.before).visits)}</Cell><Cell>{count(sideOf(pair.after).visits)}</Cell>
                <th scope="row" class="name">
                  {region && <span class="swatch" style={{ background: timeline.styleOf(region.id) }} />}
                  {region ? <button class="link" title="Callers, callees and durations" onClick={() => viewing.chooseFunction(region.id)}>{region.name}</button> : nameOf(pair.key)}
                </th>
                {by === "function" && <td class="faint place">{region ? fileAndLine(region.file, region.line) : ""}</td>}
              </tr>
            );
          })}
        </tbody>
      </table>
      {!rows.length && <NoRows sought={sought} />}
      {!all && rows.length > MANY && <button class="more" onClick={() => setAll(true)}>Show all {count(rows.length)}</button>}
    </div>
  );
}

const differ = (node: NodePair): string => `A ${duration(node.before.total)} · B ${duration(node.after.total)} · ${signed(node.after.total - node.before.total)} (${times(node.before.total, node.after.total)})`;

/** Boxes as wide as both runs together; their colours show the difference. */
export function PairFlame({ data }: { data: ProfiledPair }) {
  const { theme } = useOpened();
  const root = useMemo(() => pairTree(data.profiles[0], data.profiles[1], data.paths), [data]);
  return <Flame root={root} colourOf={(node) => changeColour(theme, change(node.before.total, node.after.total))} words={(node) => `${differ(node)} · own ${signed(node.after.own - node.before.own)}`} legend={<Legend />} />;
}

function Legend() {
  const { theme } = useOpened();
  return (
    <span class="legend">
      {([[-1, "only A"], [-0.5, "less in B"], [0, "the same"], [0.5, "more in B"], [1, "only B"]] as const).map(([value, words]) =>
        <span key={words}><span class="swatch" style={{ background: changeColour(theme, value) }} />{words}</span>)}
    </span>
  );
}

export function PairTree({ data }: { data: ProfiledPair }) {
  const { theme } = useOpened();
  const root = useMemo(() => pairTree(data.profiles[0], data.profiles[1], data.paths), [data]);
  return (
    <Tree root={root} heads={["A total", "B total", "B − A", "A visits", "B visits"]} cells={(node) => {
      const colour = changeColour(theme, change(node.before.total, node.after.total));
      return [duration(node.before.total), duration(node.after.total), <span class="change" style={{ background: colour, color: textUpon(colour) }}>{signed(node.after.total - node.before.total)}</span>, count(node.before.visits), count(node.after.visits)];
    }} />
  );
}
