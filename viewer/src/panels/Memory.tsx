// The memory of call paths: allocated, or held at the peak, at the end, at an instant.
import { useMemo, useState } from "preact/hooks";
import { bytes, count, instant as time, percent } from "../format";
import { AMOUNTS, AT_INSTANT, type Memory, type Paths } from "../model";
import { callersOf, largestFirst } from "../profile";
import { pathsOf } from "../source/source";
import { span } from "../timeline/scale";
import { BEYOND, Cell, Empty, Head, scrolled } from "./cells";
import { useAnswer, useOpened, useView } from "./hooks";
import { NoRows, SoughtField, useSought } from "./Sought";

const MANY = 200, MOST_CALLERS = 12;

/** Bytes that may be an estimate. */
const marked = (value: number, error: number): string => (error > 0 ? "~" : "") + bytes(value);

export function MemoryPanel() {
  const { source, viewing } = useOpened();
  const { amount, instant, grown } = useView();
  const lacks = amount === AT_INSTANT && !instant;
  const { value, error, loading } = useAnswer(async (signal) => {
    if (lacks) return null;
    const [memory, paths] = await Promise.all([source.memory(viewing.memoryOf(amount), signal), pathsOf(source)]);
    return { memory, paths };
  }, [amount, instant, grown], 0);
  return (
    <div class="flame" aria-busy={loading}>
      <p class="line"><AmountChoice /><span class="faint words">{value && !error && <Words memory={value.memory} />}</span></p>
      {error ? <Empty>{error.message}</Empty> : lacks ? <Empty>Click into the area of the memory of a process.</Empty> : value ? <Table {...value} /> : <Empty>…</Empty>}
    </div>
  );
}

function AmountChoice() {
  const { run, viewing } = useOpened();
  const { amount, instant, range } = useView();
  const choose = (next: number) => (next === AT_INSTANT && !instant && viewing.memoryTrack >= 0 ? viewing.hold(viewing.memoryTrack, (range.begin + range.end) / 2) : viewing.store.set({ amount: next }));
  const step = (by: number, words: string, sign: string) => <button aria-label={words} title={words} onClick={() => viewing.hold(instant!.track, instant!.time + (by * span(range)) / 100)}>{sign}</button>;
  return (
    <>
      <select aria-label="Bytes" value={amount} onChange={(event) => choose(Number(event.currentTarget.value))}>{AMOUNTS.map((words, key) => <option key={key} value={key}>{words}</option>)}</select>
      {amount === AT_INSTANT && instant && <>{step(-1, "Earlier", "◂")}<b>{time(instant.time, span(range) / 1000)}</b>{step(1, "Later", "▸")}{run.processes.length > 1 && run.processes[run.locations[instant.track].process]?.name}</>}
    </>
  );
}

function Words({ memory: { exact, error, live, own, outside, ticks } }: { memory: Memory }) {
  const sum = ticks.reduce((all, one) => all + one, 0), most = error.reduce((largest, one) => Math.max(largest, one), 0);
  return <>{live > 0 && `${bytes(live)} in all: `}{marked(sum, most)} by call path{own[0] > 0 && `, ${marked(...own)} by Timeloom itself`}{outside[0] > 0 && `, ${marked(...outside)} outside all regions`}{!exact && "; ~ is estimated from sampled blocks, ± one standard deviation"}</>;
}

function Table({ memory, paths }: { memory: Memory; paths: Paths }) {
  const { run, viewing, timeline } = useOpened();
  const { amount } = useView();
  const [all, setAll] = useState(false);
  const sought = useSought();
  const nameOf = (region: number) => run.regions[region]?.name ?? BEYOND;
  const { ticks, starts, error, path, exact } = memory;
  const every = useMemo(() => largestFirst(memory), [memory]);
  const shown = sought.all ? every : every.filter((i) => [paths.region[path[i]], ...callersOf(path[i], paths)].some((region) => sought.keeps(nameOf(region), run.regions[region]?.file ?? "")));
  const sum = ticks.reduce((whole, one) => whole + one, 0);
  return (
    <div class="tablebox" {...scrolled("Memory by call path")}>
      <table>
        <thead><tr><Head>share</Head><Head>bytes</Head>{!exact && <Head>±</Head>}<Head>{amount ? "blocks" : "times"}</Head><th scope="col">function, and its callers <SoughtField /></th></tr></thead>
        <tbody>
          {shown.slice(0, all ? shown.length : MANY).map((i) => {
            const region = paths.region[path[i]], rest = [...callersOf(path[i], paths)].slice(0, MOST_CALLERS).map((caller) => ` < ${nameOf(caller)}`).join("");
            return (
              <tr key={path[i]}>
                <td class="number share"><span class="bar" style={{ width: `${(100 * ticks[i]) / sum}%` }} /><span>{percent(ticks[i], sum)}</span></td>
                <Cell>{marked(ticks[i], error[i])}</Cell>{!exact && <Cell>{error[i] > 0 ? bytes(error[i]) : ""}</Cell>}<Cell>{count(starts[i])}</Cell>
                <th scope="row" class="name" title={nameOf(region) + rest}><span class="swatch" style={{ background: timeline.styleOf(region) }} /><button class="link" onClick={() => viewing.chooseFunction(region)}>{nameOf(region)}</button><span class="faint">{rest}</span></th>
              </tr>
            );
          })}
        </tbody>
      </table>
      {!shown.length && (sought.all ? <p class="empty" role="status">No block of a call path.</p> : <NoRows sought={sought} />)}
      {!all && shown.length > MANY && <button class="more" onClick={() => setAll(true)}>Show all {count(shown.length)}</button>}
    </div>
  );
}
