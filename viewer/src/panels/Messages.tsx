// The data sent between processes in the selection, the waiting for each other, and the single messages.
import { useState } from "preact/hooks";
import { bytes, collectiveName, count, duration, instant } from "../format";
import { type Bundle, type Exchange, type Gathering, nameOfLocation, type Run } from "../model";
import { around } from "../timeline/scale";
import { same } from "../timeline/talk";
import { useAnswer, useOpened, useStore, useView } from "./hooks";

const MOST_PAIRS = 1000;
const MOST_MESSAGES = 200;
const COLUMNS = 32;
/** The largest number of processes for a matrix; with more, pairs are a list. */
const MOST_OF_MATRIX = 24;

const WORDS = { bytes: "bytes", count: "messages", waited: "waiting" } as const;
type What = keyof typeof WORDS;

const valueOf = (pair: Exchange, what: What) => (what === "waited" ? pair.waitedReceiver + pair.waitedSender : pair[what]);
const textOf = (value: number, what: What) => (what === "bytes" ? bytes(value) : what === "count" ? count(value) : duration(value));
const about = (pair: Exchange) => `${count(pair.count)} messages, ${bytes(pair.bytes)}, receivers waited ${duration(pair.waitedReceiver)}, senders ${duration(pair.waitedSender)}`;

export function MessagesPanel() {
  const { source, viewing, timeline } = useOpened();
  const { selection, range } = useView();
  const { side } = useStore(timeline.known);
  const { value, error, loading } = useAnswer(async (signal) => {
    const { begin, end, tracks } = viewing.scope();
    const question = { begin: Math.floor(begin), end: Math.ceil(end), tracks, columns: COLUMNS, limit: MOST_MESSAGES };
    const [matrix, messages, collectives] = await Promise.all([source.matrix({ ...question, limit: MOST_PAIRS }, signal), source.messages(question, signal), source.collectives(question, signal)]);
    return { matrix, messages, collectives };
  }, [selection, selection ? null : range]);
  if (error) return <p class="empty">{error.message}</p>;
  if (!value || !side) return <p class="empty">Adding up …</p>;
  if (!side.messages.count && !side.messages.collectives) return <p class="empty">This run has no messages between processes.</p>;
  const { unmatched, backwards, complete } = side.messages;
  return (
    <div class="messages" aria-busy={loading} tabIndex={0} data-keys="own" role="region" aria-label="Messages">
      <section>
        <h2>Sent by whom to whom</h2>
        {value.matrix.items.length ? <Matrix pairs={value.matrix.items} /> : <p class="faint">No message was sent here.</p>}
        {!value.matrix.complete && <p class="faint">These are the pairs with the most bytes.</p>}
        {!complete && <p class="wrong">The run has too many messages for all of them to be shown: these are the first of each row.</p>}
        {complete && unmatched > 0 && <p class="faint">{count(unmatched)} in the run were sent and never received, or the other way round.</p>}
        {backwards > 0 && <p class="wrong">{count(backwards)} in the run were received before they were sent: the clocks differ.</p>}
      </section>
      <section>
        <h2>{count(value.messages.count)} message{value.messages.count === 1 ? "" : "s"}{value.messages.count > value.messages.items.length ? ", of neighbours together" : ""}</h2>
        <List messages={value.messages.items} />
      </section>
      <section>
        <h2>{count(value.collectives.count)} visit{value.collectives.count === 1 ? "" : "s"} to collective operations</h2>
        <Collectives visits={value.collectives.items} />
      </section>
    </div>
  );
}

const nameOf = (run: Run, process: number) => run.processes[process]?.name ?? `process ${process}`;

/** For a process with a single location, the name of the process is sufficient. */
function shortName(run: Run, track: number): string {
  const { process } = run.locations[track];
  const alone = !run.parts.length && run.locations.filter((other) => other.process === process).length === 1;
  return alone ? nameOf(run, process) : nameOfLocation(run, track);
}

function Matrix({ pairs }: { pairs: readonly Exchange[] }) {
  const { run } = useOpened();
  const [what, choose] = useState<What>("bytes");
  const most = Math.max(1, ...pairs.map((pair) => valueOf(pair, what)));
  const processes = [...new Set(pairs.flatMap((pair) => [pair.sender, pair.receiver]))].sort((a, b) => a - b);
  const strength = (pair: Exchange) => `linear-gradient(to top, var(--bar) ${(100 * valueOf(pair, what)) / most}%, transparent 0)`;
  return (
    <>
      <select aria-label="Value of the matrix" value={what} onChange={(event) => choose(event.currentTarget.value as What)}>
        {(Object.keys(WORDS) as What[]).map((word) => <option key={word} value={word}>{WORDS[word]}</option>)}
      </select>
      {processes.length <= MOST_OF_MATRIX ? (
        <table class="matrix">
          <thead><tr><th scope="col">from ↓ to →</th>{processes.map((to) => <th key={to} scope="col" class="number">{nameOf(run, to)}</th>)}</tr></thead>
          <tbody>{processes.map((from) => (
            <tr key={from}>
              <th scope="row">{nameOf(run, from)}</th>
              {processes.map((to) => {
                const pair = pairs.find((one) => one.sender === from && one.receiver === to);
                return pair ? <td key={to} class="number" title={about(pair)} style={{ background: strength(pair) }}>{textOf(valueOf(pair, what), what)}</td> : <td key={to} class="number faint">–</td>;
              })}
            </tr>
          ))}</tbody>
        </table>
      ) : (
        <table class="matrix">
          <thead><tr><th scope="col">from</th><th scope="col">to</th><th scope="col" class="number">{WORDS[what]}</th></tr></thead>
          <tbody>{[...pairs].sort((a, b) => valueOf(b, what) - valueOf(a, what)).map((pair) => (
            <tr key={`${pair.sender} ${pair.receiver}`} title={about(pair)}><th scope="row">{nameOf(run, pair.sender)}</th><td>{nameOf(run, pair.receiver)}</td><td class="number">{textOf(valueOf(pair, what), what)}</td></tr>
          ))}</tbody>
        </table>
      )}
    </>
  );
}

function List({ messages }: { messages: readonly Bundle[] }) {
  const { run, viewing } = useOpened();
  const { message: chosen } = useView();
  const scope = viewing.scope(), step = (scope.end - scope.begin) / 10_000;
  const show = (one: Bundle) => {
    viewing.store.set({ message: one });
    const { begin, end } = viewing.view.range, first = Math.min(one.sent, one.received), last = Math.max(one.lastSent, one.lastReceived);
    if (first < begin || last > end) viewing.show(around(first, Math.max(last, first + 1), viewing.whole));
  };
  if (!messages.length) return null;
  return (
    <table>
      <thead><tr><th scope="col" class="number">sent</th><th scope="col">from</th><th scope="col">to</th><th scope="col" class="number">on its way</th><th scope="col" class="number">bytes</th><th scope="col" class="number">tag</th><th scope="col" class="number" title="The receiver, for a late sender">waited</th></tr></thead>
      <tbody>{messages.map((one, i) => (
        <tr key={i} class={chosen && same(chosen, one) ? "chosen" : ""}>
          <td class="number"><button class="link" onClick={() => show(one)}>{instant(one.sent, step)}</button></td>
          <td>{shortName(run, one.fromTrack)}</td><td>{shortName(run, one.toTrack)}</td>
          <td class="number">{one.count > 1 ? `${count(one.count)} messages` : duration(one.received - one.sent)}</td>
          <td class="number">{bytes(one.bytes)}</td><td class="number">{one.count > 1 ? "" : one.tag}</td><td class="number">{one.waitedReceiver ? duration(one.waitedReceiver) : ""}</td>
        </tr>
      ))}</tbody>
    </table>
  );
}

function Collectives({ visits }: { visits: readonly Gathering[] }) {
  const { run } = useOpened();
  const rows = new Map<string, Gathering>();
  for (const one of [...visits].sort((a, b) => a.track - b.track || a.kind - b.kind)) {
    const name = `${one.track} ${one.count > 1 ? "" : one.kind}`, before = rows.get(name);
    rows.set(name, before ? { ...before, count: before.count + one.count, waited: before.waited + one.waited, sent: before.sent + one.sent, received: before.received + one.received } : one);
  }
  if (!rows.size) return null;
  return (
    <table>
      <thead><tr><th scope="col">row</th><th scope="col">operation</th><th scope="col" class="number">visits</th><th scope="col" class="number">waited</th><th scope="col" class="number">sent</th><th scope="col" class="number">received</th></tr></thead>
      <tbody>{[...rows].map(([name, one]) => (
        <tr key={name}><th scope="row">{shortName(run, one.track)}</th><td>{name.endsWith(" ") ? "several" : collectiveName(one.kind)}</td><td class="number">{count(one.count)}</td>
          <td class="number">{duration(one.waited)}</td><td class="number">{bytes(one.sent)}</td><td class="number">{bytes(one.received)}</td></tr>
      ))}</tbody>
    </table>
  );
}
