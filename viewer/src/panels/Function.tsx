// One function in the selection: its callers, callees, durations and locations.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { causeWords } from "../causes";
import { count, duration, instant, nsDuration, percent, toNs } from "../format";
import { type CallRef, type EstimateJson, nameOfLocation, NONE, type Selection } from "../model";
import { type Bin, byFunction, callees, callers, histogram, type Neighbour, type Row, withEstimates } from "../profile";
import { Cell, Empty, Head, NoFunction, scrolled } from "./cells";
import { Visits } from "./Visits";
import { type Opened, type Profiled, useAnswer, useEstimates, useOpened, useProfile, useProfiles, useView } from "./hooks";

const MOST_CALLS = 10_000;
const MOST_TRACKS = 64;
const SLOWEST = 10;

export function FunctionPanel() {
  const { run } = useOpened();
  const { func } = useView();
  const { value, error, loading } = useProfile();
  const region = run.regions[func];
  if (!region) return <NoFunction />;
  if (error) return <Empty>{error.message}</Empty>;
  if (!value) return <Empty>Adding up …</Empty>;
  return <div class="function" aria-busy={loading} {...scrolled(`Function ${region.name}`)}><Sandwich data={value} func={func} /><Durations scope={value.scope} func={func} /><Places scope={value.scope} func={func} /></div>;
}

function Box({ title, children }: { title: string; children: ComponentChildren }) {
  return <section><h3>{title}</h3>{children}</section>;
}

function Sandwich({ data, func }: { data: Profiled; func: number }) {
  const { run, navigator, viewing } = useOpened();
  const region = run.regions[func], estimates = useEstimates(data).functions;
  const parts = useMemo(() => ({
    row: withEstimates(byFunction(data.profile, data.paths, run.regions), estimates).find((row) => row.key === func), in: callers(data.profile, data.paths, func), out: callees(data.profile, data.paths, func),
  }), [data, func, estimates]);
  return (
    <section>
      <h2>{region.name}</h2>
      <p class="faint">{region.file ? `${region.file}:${region.line}` : "no file known"}</p>
      {run.parts.length ? <BothSums func={func} /> : <p>{parts.row ? <Sums row={parts.row} guess={estimates.find((one) => one.region === func)} /> : "It is not called here."}</p>}
      <p class="buttons">{!run.outline && <button onClick={() => navigator.findFunction(func)}>Find its calls</button>} <button onClick={() => viewing.openPanel("source")}>Source</button></p>
      <Neighbours title="called by" list={parts.in} />
      <Neighbours title="calls" list={parts.out} />
    </section>
  );
}

function Sums({ row, guess }: { row: Row; guess?: EstimateJson | undefined }) {
  const time = (ticks: number, error = 0) => (error ? `~${duration(ticks)} ± ${duration(error)}` : duration(ticks));
  return <>{count(row.visits)} visits · total {time(row.total, guess?.total_error)} · own {time(row.own, guess?.own_error)}{row.waiting > 0 && <>, of it waiting {duration(row.waiting)}{row.causes.length > 0 && <> ({causeWords(row.causes)})</>}</>}{row.visits > 0 && !guess?.total_error && <> · mean {duration(row.total / row.visits)}</>}</>;
}

/** The sums of a function in each of two runs. */
function BothSums({ func }: { func: number }) {
  const { run } = useOpened();
  const { value } = useProfiles();
  return <>{value?.profiles.map((profile, n) => {
    const row = byFunction(profile, value.paths, run.regions).find((one) => one.key === func);
    return <p key={n}><b>{run.parts[n].letter}</b> {row ? <Sums row={row} /> : "It is not called here."}</p>;
  })}</>;
}

function Neighbours({ title, list }: { title: string; list: readonly Neighbour[] }) {
  const { run, viewing, timeline } = useOpened();
  const whole = list.reduce((sum, neighbour) => sum + neighbour.total, 0);
  return (
    <table>
      <thead><tr><th scope="col">{title}</th><Head>visits</Head><Head>total</Head><Head>share</Head></tr></thead>
      <tbody>
        {list.map(({ region, visits, total }) => (
          <tr key={region}>
            <th scope="row" class="name">{region === NONE ? "nobody: outermost" : <><span class="swatch" style={{ background: timeline.styleOf(region) }} /><button class="link" onClick={() => viewing.chooseFunction(region)}>{run.regions[region].name}</button></>}</th>
            <Cell>{count(visits)}</Cell><Cell>{duration(total)}</Cell><Cell>{percent(total, whole)}</Cell>
          </tr>
        ))}
        {!list.length && <tr><td class="faint" colSpan={4}>nothing</td></tr>}
      </tbody>
    </table>
  );
}

function Durations({ scope, func }: { scope: Selection; func: number }) {
  const { source, navigator, run } = useOpened();
  const { value, error } = useAnswer(async (signal) => {
    const search = { begin: scope.begin, end: scope.end, shortest: 0, tracks: scope.tracks, regions: [func] };
    const [all, longest] = await Promise.all([
      source.find({ ...search, order: "earliest", limit: MOST_CALLS }, signal), source.find({ ...search, order: "longest", limit: SLOWEST }, signal),
    ]);
    return { bins: histogram(all.calls.map((call) => toNs(call.end - call.begin))), calls: all.calls, complete: all.complete, longest: longest.calls };
  }, [scope, func]);
  if (error) return <Empty>{error.message}</Empty>;
  if (!value) return <Box title="durations"><Empty>…</Empty></Box>;
  return (
    <section>
      <h3>durations of calls that begin here{value.complete ? "" : `: the first ${count(MOST_CALLS)}`}</h3>
      {value.calls.length > 1 && <Visits calls={value.calls} scope={scope} func={func} complete={value.complete} />}
      <Histogram bins={value.bins} />
      <h3>the longest</h3>
      <table>
        <tbody>{value.longest.map((call: CallRef, i) => (
          <tr key={i}><Cell><button class="link" onClick={() => navigator.go(call, "")}>{duration(call.end - call.begin)}</button></Cell><Cell>{instant(call.begin, 1000)}</Cell><td class="faint">{nameOfLocation(run, call.track)}</td></tr>
        ))}</tbody>
      </table>
    </section>
  );
}

function Histogram({ bins }: { bins: readonly Bin[] }) {
  const most = bins.reduce((all, bin) => Math.max(all, bin.count), 1);
  return (
    <table class="histogram">
      <tbody>{bins.map((bin) => (
        <tr key={bin.from}><th scope="row" class="number">{nsDuration(bin.from)} –</th><td class="bars"><span class="bar" style={{ width: `${(100 * bin.count) / most}%` }} /></td><Cell>{count(bin.count)}</Cell></tr>
      ))}</tbody>
    </table>
  );
}

interface Place {
  readonly track: number;
  readonly row: Row;
}

async function placesOf({ run, source }: Opened, scope: Selection, func: number, data: Profiled, signal: AbortSignal): Promise<Place[]> {
  const tracks = (scope.tracks ?? run.locations.map((_, track) => track)).filter((track) => run.locations[track].events > 0);
  const most = [...tracks].sort((a, b) => run.locations[b].events - run.locations[a].events).slice(0, MOST_TRACKS);
  const found = await Promise.all(most.map(async (track) => {
    const profile = await source.profile({ ...scope, tracks: [track] }, signal);
    return { track, row: byFunction(profile, data.paths, run.regions).find((row) => row.key === func) };
  }));
  return found.filter((place): place is Place => place.row !== undefined).sort((a, b) => b.row.total - a.row.total);
}

function Places({ scope, func }: { scope: Selection; func: number }) {
  const opened = useOpened();
  const { value: data } = useProfile();
  const { value } = useAnswer(async (signal) => (data ? placesOf(opened, scope, func, data, signal) : []), [scope, func, data]);
  const most = value?.[0]?.row.total ?? 0, sum = (value ?? []).reduce((all, place) => all + place.row.total, 0);
  return (
    <Box title="by row">
      <table>
        <thead><tr><th scope="col">row</th><Head>visits</Head><Head>own</Head><Head>total</Head><td /></tr></thead>
        <tbody>{value?.map(({ track, row }) => (
          <tr key={track}>
            <th scope="row" class="name">{nameOfLocation(opened.run, track)}</th><Cell>{count(row.visits)}</Cell><Cell>{duration(row.own)}</Cell><Cell>{duration(row.total)}</Cell>
            <td class="bars"><span class="bar" style={{ width: `${(100 * row.total) / most}%` }} /></td>
          </tr>
        ))}</tbody>
      </table>
      {value && value.length > 1 && most > 0 && <p class="faint">Imbalance: the mean is {percent(most - sum / value.length, most)} below the most.</p>}
    </Box>
  );
}
