// The data sent between processes in the selection, the waiting for each other, and the single messages.
import { useState } from "preact/hooks";
import { bytes, collectiveName, count, duration, instant } from "../format";
import { type Bundle, type Exchange, type Gathering, nameOfLocation, type Run } from "../model";
import { around } from "../timeline/scale";
import { same } from "../timeline/talk";
import { Cell, Empty, Head, scrolled } from "./cells";
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
  if (error) return <Empty>{error.message}</Empty>;
  if (!value || !side) return <Empty>Adding up …</Empty>;
  if (!side.messages.count && !side.messages.collectives) return <Empty>This run has no messages between processes.</Empty>;
  const { unmatched, backwards, complete } = side.messages;
  return (
    <div class="messages" aria-busy={loading} {...scrolled("Messages")}>
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
          <thead><tr><th scope="col">from</th><th scope="col">to</th><Head>{WORDS[what]}</Head></tr></thead>
          <tbody>{[...pairs].sort((a, b) => valueOf(b, what) - valueOf(a, what)).map((pair) => (
            <tr key={`${pair.sender} ${pair.receiver}`} title={about(pair)}><th scope="row">{nameOf(run, pair.sender)}</th><td>{nameOf(run, pair.receiver)}</td><Cell>{textOf(valueOf(pair, what), what)}</Cell></tr>
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
      <thead><tr><Head>sent</Head><th scope="col">from</th><th scope="col">to</th><Head>on its way</Head><Head>bytes</Head><Head>tag</Head><th scope="col" class="number" title="The receiver, for a late sender">waited</th></tr></thead>
      <tbody>{messages.map((one, i) => (
        <tr key={i} class={chosen && same(chosen, one) ? "chosen" : ""}>
          <Cell><button class="link" onClick={() => show(one)}>{instant(one.sent, step)}</button></Cell>
          <td>{shortName(run, one.fromTrack)}</td><td>{shortName(run, one.toTrack)}</td>
          <Cell>{one.count > 1 ? `${count(one.count)} messages` : duration(one.received - one.sent)}</Cell>
          <Cell>{bytes(one.bytes)}</Cell><Cell>{one.count > 1 ? "" : one.tag}</Cell><Cell>{one.waitedReceiver ? duration(one.waitedReceiver) : ""}</Cell>
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
      <thead><tr><th scope="col">row</th><th scope="col">operation</th><Head>visits</Head><Head>waited</Head><Head>sent</Head><Head>received</Head></tr></thead>
      <tbody>{[...rows].map(([name, one]) => (
        <tr key={name}><th scope="row">{shortName(run, one.track)}</th><td>{name.endsWith(" ") ? "several" : collectiveName(one.kind)}</td><Cell>{count(one.count)}</Cell>
          <Cell>{duration(one.waited)}</Cell><Cell>{bytes(one.sent)}</Cell><Cell>{bytes(one.received)}</Cell></tr>
      ))}</tbody>
    </table>
  );
}
