// Tables of the selection by function and by module.
import { useMemo, useState } from "preact/hooks";
import { causeWords, mainCauseWords } from "../causes";
import { count, duration, fileAndLine, percent } from "../format";
import type { ErrorsJson } from "../model";
import { byFunction, byModule, errorsByModule, estimated, ownTime, type Row, tellsWaiting, withEstimates } from "../profile";
import { BEYOND, Cell, guessed, Head, scrolled } from "./cells";
import { useEstimates, useOpened, type Profiled } from "./hooks";
import { NoRows, SoughtField, useSought } from "./Sought";

type Column = "name" | "own" | "working" | "waiting" | "total" | "visits" | "mean" | "min" | "max";

const MANY = 200;
const mean = (row: Row): number => (row.visits ? row.total / row.visits : 0);

/** Values to sort by; names ascend, numbers descend. */
const valueOf: Record<Exclude<Column, "name">, (row: Row) => number> = {
  own: (row) => row.own, working: (row) => row.own - row.waiting, waiting: (row) => row.waiting, total: (row) => row.total, visits: (row) => row.visits, mean, min: (row) => row.min, max: (row) => row.max,
};

const TITLES: Record<Column, [string, string]> = {
  own: ["own", "Time in the function itself, without what it called"],
  working: ["working", "Own time in which the thread ran"],
  waiting: ["waiting", "Own time in which the thread did not run: it waited for something or for a processor"],
  total: ["total", "Time with all that was called; a call inside a call of the same function counts once"],
  visits: ["visits", "Calls in the selection, also those that began before it"],
  mean: ["mean", "Total time of a visit"],
  min: ["min", "The shortest visit, as far as it is in the selection"],
  max: ["max", "The longest visit, as far as it is in the selection"],
  name: ["function", ""],
};

export function SumsTable({ data, by }: { data: Profiled; by: "function" | "module" }) {
  const { run, viewing } = useOpened();
  const estimates = useEstimates(data);
  const [sort, setSort] = useState<Column>("own");
  const [all, setAll] = useState(false);
  const sought = useSought();
  const nameOf = (row: Row) => (typeof row.key === "string" ? row.key : run.regions[row.key]?.name ?? BEYOND);
  const [every, errors] = useMemo(() => {
    const [list, guesses]: [Row[], Map<Row["key"], ErrorsJson>] = by === "function"
      ? [withEstimates(byFunction(data.profile, data.paths, run.regions), estimates.functions), new Map(estimates.functions.map((one) => [one.region, one]))]
      : [byModule(...estimated(data.profile, data.paths, estimates), run.regions), errorsByModule(data.paths, run.regions, estimates)];
    return [list.sort((a, b) => (sort === "name" ? nameOf(a).localeCompare(nameOf(b)) : valueOf[sort](b) - valueOf[sort](a))), guesses];
  }, [data, by, sort, estimates]);
  const rows = sought.all ? every : every.filter((row) => sought.keeps(nameOf(row), typeof row.key === "number" ? run.regions[row.key]?.file ?? "" : ""));
  const own = rows.reduce((sum, row) => sum + row.own, 0);
  const split = tellsWaiting(run);
  const whole = ownTime(data.profile);
  const head = (column: Column) => (
    <th scope="col" class={column === "name" ? "" : column === "min" || column === "max" ? "number extreme" : "number"} aria-sort={sort === column ? (column === "name" ? "ascending" : "descending") : "none"}>
      <button title={TITLES[column][1]} onClick={() => setSort(column)}>{column === "name" ? by : TITLES[column][0]}{sort === column ? (column === "name" ? " ▴" : " ▾") : ""}</button>{column === "name" && <SoughtField />}
    </th>
  );
  return (
    <div class="tablebox" {...scrolled(`Times by ${by}`)}>
      <table>
        <thead><tr><Head>share</Head>{head("own")}{split && <>{head("working")}{head("waiting")}{run.causes && <th scope="col" title="The cause of most of the waiting, with its share of it">waits for</th>}</>}{head("total")}{head("visits")}{head("mean")}{head("min")}{head("max")}{head("name")}{by === "function" && <th scope="col" class="place">place</th>}</tr></thead>
        <tbody>
          {rows.slice(0, all ? rows.length : MANY).map((row) => {
            const region = typeof row.key === "number" ? run.regions[row.key] : undefined, guess = errors.get(row.key);
            return (
              <tr key={row.key}>
                <td class="number share"><span class="bar" style={{ width: `${(100 * row.own) / whole}%` }} /><span>{percent(row.own, whole)}</span></td>
                <Cell>{guessed(row.own, guess?.own_error)}</Cell>
                {split && <><Cell>{duration(row.own - row.waiting)}</Cell><Cell>{duration(row.waiting)}</Cell>{run.causes && <td class="cause" title={causeWords(row.causes)}>{mainCauseWords(row.causes)}</td>}</>}
                <Cell>{guessed(row.total, guess?.total_error)}</Cell>
                <td class="number" title={row.cut ? `${count(row.cut)} of them go on outside the selection` : ""}>{count(row.visits)}{row.cut ? <span class="faint">*</span> : ""}</td>
                <Cell>{guess?.total_error ? "–" : duration(mean(row))}</Cell><td class="number extreme">{duration(row.visits && row.min)}</td><td class="number extreme">{duration(row.max)}</td>
                <th scope="row" class="name">
                  <Swatch region={region} />
                  {region ? <button class="link" title="Callers, callees and durations" onClick={() => viewing.chooseFunction(region.id)}>{region.name}</button> : nameOf(row)}
                </th>
                {by === "function" && <td class="faint place">{region ? fileAndLine(region.file, region.line) : ""}</td>}
              </tr>
            );
          })}
        </tbody>
      </table>
      {!rows.length && <NoRows sought={sought} />}
      {!sought.all && rows.length > 0 && <p class="empty" role="status">{count(rows.length)} of {count(every.length)} {by}s: own {duration(own)}, {percent(own, whole)} of all</p>}
      {!all && rows.length > MANY && <button class="more" onClick={() => setAll(true)}>Show all {count(rows.length)}</button>}
    </div>
  );
}

function Swatch({ region }: { region: { id: number } | undefined }) {
  const { timeline } = useOpened();
  return region ? <span class="swatch" style={{ background: timeline.styleOf(region.id) }} /> : null;
}
