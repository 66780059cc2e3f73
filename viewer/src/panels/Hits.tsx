// The calls that a search found.
import { useState } from "preact/hooks";
import { count, duration, instant } from "../format";
import { nameOfLocation } from "../model";
import { byFunction, type Row } from "../profile";
import { parseQuery, regionsOf } from "../source/match";
import { NO_CALLS, SourceError, WHERE_CALLS_ARE } from "../source/source";
import { BEYOND, Cell, Empty, Head, scrolled } from "./cells";
import { type Opened, type Profiled, useOpened, useProfile, useView } from "./hooks";

const MANY = 200;
const ADVICE = "Type above what to find: a part of a name or of a file, a /regular expression/, a duration such as “> 50 ms”, or a name and a duration. Press Enter.";

export const Hits = () => (useOpened().run.outline ? <FunctionsFound /> : <CallsFound />);

/** The functions of the selection that match the search, sorted by exclusive time. */
function functionsLike(text: string, { run }: Opened, { profile, paths }: Profiled): Row[] {
  const query = parseQuery(text);
  if (query.parameter) throw new SourceError(NO_CALLS);
  const wanted = regionsOf(query, run.regions), longer = (query.longer * run.ticksPerSecond) / 1e9;
  return byFunction(profile, paths, run.regions).filter((row) => (!wanted || wanted.includes(row.key as number)) && (!longer || row.max > longer));
}

/** For an outline, which has no calls. */
function FunctionsFound() {
  const opened = useOpened(), { run, viewing } = opened;
  const { find } = useView();
  const { value } = useProfile();
  if (!find.trim()) return <Empty>{ADVICE}</Empty>;
  if (!value) return <Empty>Adding up …</Empty>;
  let rows: Row[];
  try {
    rows = functionsLike(find, opened, value);
  } catch (error) {
    return <Empty>{(error as Error).message}</Empty>;
  }
  if (!rows.length) return <Empty>No function here is like “{find}”.</Empty>;
  return (
    <div class="tablebox" {...scrolled("Hits")}>
      <Empty>{NO_CALLS} {WHERE_CALLS_ARE} These are the functions like “{find}”.</Empty>
      <table>
        <thead><tr><Head>visits</Head><Head>own</Head><Head>total</Head><Head>longest</Head><th scope="col">function</th></tr></thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key}>
              <Cell>{count(row.visits)}</Cell><Cell>{duration(row.own)}</Cell><Cell>{duration(row.total)}</Cell><Cell>{duration(row.max)}</Cell>
              <th scope="row" class="name"><button class="link" onClick={() => viewing.chooseFunction(row.key as number)}>{run.regions[row.key as number]?.name ?? BEYOND}</button></th>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function CallsFound() {
  const { run, navigator } = useOpened();
  const { found, hit, find, findError } = useView();
  const [all, setAll] = useState(false);
  if (!found) return <Empty>{findError ? `${findError.message} ${findError.advice}` : ADVICE}</Empty>;
  if (!found.calls.length) return <Empty>No call is like “{find}”.</Empty>;
  const shown = all ? found.calls : found.calls.slice(0, MANY);
  return (
    <div class="tablebox" {...scrolled("Hits")}>
      {!found.complete && <Empty>These are the first {count(found.calls.length)}. Select a shorter stretch of time for others.</Empty>}
      <table>
        <thead><tr><Head>begin</Head><Head>duration</Head><th scope="col">function</th><th scope="col">row</th></tr></thead>
        <tbody>
          {shown.map((call, i) => (
            <tr key={i} class={i === hit ? "chosen" : ""} aria-current={i === hit}>
              <Cell>{instant(call.begin, 1000)}</Cell>
              <Cell>{duration(call.end - call.begin)}</Cell>
              <th scope="row" class="name"><button class="link" onClick={() => navigator.showHit(i)}>{run.regions[call.region]?.name ?? "call"}</button></th>
              <td class="faint">{nameOfLocation(run, call.track)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {!all && found.calls.length > MANY && <button class="more" onClick={() => setAll(true)}>Show all {count(found.calls.length)}</button>}
    </div>
  );
}
