// All details of one call.
import { type ByCause, CAUSE_TEXTS, largestFirst, NO_CAUSES, ofCause, suspensionIn } from "../causes";
import { bytes, count, duration, fileAndLine, instant, nsDuration, percent } from "../format";
import { type CallRef, type Link, nameOfLocation } from "../model";
import { NO_CALLS, WHERE_CALLS_ARE } from "../source/source";
import { linksIn } from "../timeline/links";
import { around } from "../timeline/scale";
import { OF_CALLS } from "../timeline/tree";
import { Cell, Empty, Head, scrolled } from "./cells";
import { useAnswer, useOpened, useStore, useView } from "./hooks";

export function CallPanel() {
  const { run, source, navigator, viewing, comparing } = useOpened();
  const { call, grown } = useView();
  const { value: details, error, loading } = useAnswer(async (signal) => (call ? source.call(call.track, call.depth, call.begin, signal) : null), [call, grown], 0);
  if (run.outline && !call) return <Empty>{NO_CALLS} {WHERE_CALLS_ARE} A click in the timeline chooses one of them, or the function.</Empty>;
  if (!call) return <Empty>Click a call in the timeline, or press Enter there.</Empty>;
  if (error) return <Empty>{error.message}</Empty>;
  const region = run.regions[call.region];
  const length = call.end - call.begin;
  // A task that is suspended neither works nor keeps a thread waiting.
  const all = !run.outline, tellsWaiting = all && run.waiting && !region?.suspended;
  const sums = details?.sums;
  const measuring = sums && run.secondsPerEvent ? 2 * sums.calls * run.secondsPerEvent * run.ticksPerSecond : 0;
  return (
    <div class="call" aria-busy={loading}>
      <div class="about">
        <h2>{region ? <button class="link" title="All calls of this function" onClick={() => viewing.chooseFunction(region.id)}>{region.name}</button> : "call"}</h2>
        <p class="faint">{region?.file ? `${region.file}:${region.line}` : "no file known"} · {nameOfLocation(run, call.track)}</p>
        <dl>
          <dt>duration</dt><dd>{duration(length)}</dd>
          {tellsWaiting && <><dt title="In all of this call: time in which its thread ran, and in which it did not">of it</dt><dd>{sums ? split(length, sums.waiting) : "…"}</dd></>}
          {details && <Causes causes={region?.suspended && run.causes ? ofCause(suspensionIn(run.regions, details.stack.map((caller) => caller.region).reverse()), length) : sums?.causes ?? NO_CAUSES} />}
          {all && <><dt>own time</dt><dd>{sums ? `${duration(sums.own)} (${percent(sums.own, length)})` : "…"}</dd></>}
          {tellsWaiting && <><dt>of it</dt><dd>{sums ? split(sums.own, sums.ownWaiting) : "…"}</dd></>}
          {sums && sums.ownWaiting < sums.waiting && <Causes causes={sums.ownCauses} />}
          <dt>begin</dt><dd>{instant(call.begin, 1)}</dd>
          <dt>end</dt><dd>{instant(call.end, 1)}</dd>
          {all && <><dt>calls inside</dt><dd>{sums ? count(sums.calls) : "…"}</dd></>}
          {measuring > 0 && <><dt title="Estimated: the calls inside times what measuring a call takes">measuring</dt><dd>≈ {duration(measuring)} ({percent(measuring, length)})</dd></>}
          {details?.parameters.map((parameter, i) => [<dt key={`n${i}`}>{parameter.name}</dt>, <dd key={`v${i}`}>{parameter.value}</dd>])}
          <Facts call={call} />
        </dl>
        {!all && <p class="faint">{NO_CALLS} Calls inside this one may be missing. {WHERE_CALLS_ARE}</p>}
        {region?.suspended && <Woken call={call} />}
        <div class="buttons">
          {all && <><button title="Previous call of this function (,)" onClick={() => navigator.step("previous")}>‹ previous</button>
            <button title="Next call of this function (.)" onClick={() => navigator.step("next")}>next ›</button>
            <button title="Longest call of this function (L)" onClick={() => navigator.step("longest")}>longest</button></>}
          <button title="Show it as wide as the window (F)" onClick={() => viewing.show({ begin: call.begin - length * 0.1, end: call.end + length * 0.1 })}>fit</button>
          <button title="A profile of its time (R)" onClick={() => navigator.selectCall()}>profile</button>
          {region && <button title="The lines of this function (5)" onClick={() => viewing.openPanel("source")}>source</button>}
          {comparing && region && <button title="This call and the same one of the other run at the same place" onClick={() => navigator.alignAt(call, comparing)}>align here</button>}
        </div>
      </div>
      <Stack stack={details?.stack ?? []} call={call} />
    </div>
  );
}

/** The waiting of a call, by cause. */
function Causes({ causes }: { causes: ByCause }) {
  const { timeline } = useOpened();
  const order = largestFirst(causes);
  if (!order.length) return null;
  return (
    <><dt>waiting for</dt><dd class="causes">{order.map((cause) => <span key={cause}><span class="swatch waiting" style={{ backgroundColor: timeline.colouring.waiting[cause] }} />{CAUSE_TEXTS[cause]} {duration(causes[cause])}</span>)}</dd></>
  );
}

const split = (time: number, waiting: number): string => `working ${duration(time - waiting)}, waiting ${duration(waiting)}`;

/** The end of a call at which its value of a metric is recorded: idle time is known only when the call ends. */
const timeOf = (name: string | undefined, { begin, end }: CallRef): number => (name === "gpu_idle_time" ? end : begin);

/** Values of metrics that belong to the call alone. */
function Facts({ call }: { call: CallRef }) {
  const { run, source, timeline } = useOpened();
  const { side } = useStore(timeline.known);
  const mine = (side?.counters ?? []).filter((counter) => counter.track === call.track && OF_CALLS.has(run.metrics[counter.metric]?.name));
  const { value } = useAnswer(async (signal) => (mine.length ? source.values(mine.map(({ track, metric }) => ({ track, metric, begin: timeOf(run.metrics[metric].name, call), end: timeOf(run.metrics[metric].name, call) + 1 })), signal) : []), [call, side], 0);
  return (
    <>{(value ?? []).map((values, i) => {
      const at = mine[i] && run.metrics[mine[i].metric] ? values.begin.indexOf(timeOf(run.metrics[mine[i].metric].name, call)) : -1;
      if (at < 0) return null;
      const { name, unit } = run.metrics[mine[i].metric];
      return <><dt>{OF_CALLS.get(name)}</dt><dd>{unit === "ns" ? nsDuration(values.last[at]) : bytes(values.last[at])}</dd></>;
    })}</>
  );
}

const MOST_ASKED = 10_000, MOST_LINKS = 100, MOST_OPEN = 1000;

/** The call that woke a suspended task. */
function Woken({ call }: { call: CallRef }) {
  const { run, source, navigator } = useOpened();
  const { value } = useAnswer(async (signal) => {
    const { links } = await source.links({ track: call.track, begin: call.begin, end: call.end, limit: MOST_LINKS }, signal);
    const wake = links.find((link) => link.kind === "wakes" && link.toTrack === call.track && call.begin <= link.to && link.to <= call.end);
    if (!wake) return { wake: null, open: [] };
    const [found] = await source.calls([{ track: wake.fromTrack, depths: MOST_OPEN, limit: MOST_OPEN, begin: wake.from, end: wake.from + 1 }], signal);
    const open = Array.from({ length: found.count }, (_, i): CallRef => ({ track: wake.fromTrack, depth: found.depth[i], begin: found.begin[i], end: found.end[i], region: found.region[i] }));
    return { wake, open: open.filter((one) => one.begin <= wake.from && wake.from <= one.end).sort((a, b) => a.depth - b.depth) };
  }, [call], 0);
  if (!value?.wake) return null;
  const { wake, open } = value, waker = open[open.length - 1];
  const name = (one: CallRef) => run.regions[one.region]?.name ?? "call";
  const place = nameOfLocation(run, wake.fromTrack);
  return (
    <p class="woken">
      Woken by {waker ? <button class="link" title="Show the call" onClick={() => navigator.go(waker, "")}>{name(waker)}</button> : place}
      {waker && open.length > 1 ? ` in ${name(open[0])}` : ""}{waker ? ` (${place})` : ""}, {duration(wake.to - wake.from)} before the task went on.
    </p>
  );
}

/** The threads and tasks that were created, awaited and woken during the call, the work on GPUs that it launched, and the
    other ends of links to its own row. */
function Linked({ call: { track, begin, end } }: { call: CallRef }) {
  const { run, source, viewing } = useOpened();
  const { value } = useAnswer((signal) => source.links({ track, begin, end, limit: MOST_ASKED }, signal), [track, begin, end], 0);
  const links = value ? linksIn(value.links, track, begin, end) : [];
  if (!value || !links.length) return null;
  const words = (link: Link) => {
    if (link.kind === "creates") return link.toTrack === track ? "created by" : "creates";
    if (link.kind === "launches") return link.toTrack === track ? "launched by" : "launches";
    if (link.kind === "takes") return link.toTrack === track && link.to === begin ? "takes the value from" : "its value goes to";
    if (link.kind === "wakes") return link.toTrack === track ? "woken by" : "wakes";
    return link.fromTrack === track ? "awaited by" : "has waited for";
  };
  return (
    <table class="linked">
      <thead><tr><th scope="col">this row</th><th scope="col">other row</th><Head>from</Head><Head>to</Head></tr></thead>
      <tbody>{links.slice(0, MOST_LINKS).map((link, i) => (
        <tr key={i}>
          <th scope="row">{words(link)}</th>
          <td><button class="link" title="Show both" onClick={() => viewing.show(around(link.from, link.to, viewing.whole))}>{nameOfLocation(run, link.toTrack === track ? link.fromTrack : link.toTrack)}</button></td>
          <Cell>{instant(link.from, 1000)}</Cell><Cell>{instant(link.to, 1000)}</Cell>
        </tr>
      ))}</tbody>
      {(!value.complete || links.length > MOST_LINKS) && <tfoot><tr><td colSpan={4} class="faint">These are not all.</td></tr></tfoot>}
    </table>
  );
}

function Stack({ stack, call }: { stack: readonly CallRef[]; call: CallRef }) {
  const { run, navigator } = useOpened();
  return (
    <div class="stack tablebox" {...scrolled("Callers")}>
      <table>
        <thead><tr><th scope="col">called by</th><Head>duration</Head><th scope="col">place</th></tr></thead>
        <tbody>
          {[...stack].reverse().map((caller) => {
            const region = run.regions[caller.region];
            return (
              <tr key={caller.depth}>
                <th scope="row" class="name"><button class="link" onClick={() => navigator.go(caller, "")}>{region?.name ?? "call"}</button></th>
                <Cell>{duration(caller.end - caller.begin)}</Cell>
                <td class="faint">{region ? fileAndLine(region.file, region.line) : ""}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {call.depth === 0 && <Empty>The outermost call of its row.</Empty>}
      <Linked call={call} />
    </div>
  );
}
