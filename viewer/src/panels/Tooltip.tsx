// The text beside the pointer.
import { causeWords } from "../causes";
import { bytes, collectiveName, count, duration, fileAndLine, instant, measuredText, percent } from "../format";
import { type CallDetails, nameOfLocation, type Run } from "../model";
import type { Measured } from "../timeline/chart";
import type { Hit } from "../timeline/hit";
import type { Hits } from "../timeline/sampled";
import type { Spoken } from "../timeline/talk";
import { useOpened, useStore } from "./hooks";

export function Tooltip() {
  const { run, timeline } = useOpened();
  const { hit, details, spoken, x, y } = useStore(timeline.pointed);
  if (!spoken && (!hit || (hit.region < 0 && !hit.measured))) return null;
  const wide = timeline.width;
  const side = x > wide * 0.6 ? { right: `${wide - x + 14}px` } : { left: `${x + 14}px` };
  const up = y > 0.55 * (timeline.shownHeight || 1);
  return (
    <div class="tooltipbox" aria-hidden="true">
      <div class="tooltip" style={{ ...side, ...(up ? { bottom: `${timeline.shownHeight - y + 12}px` } : { top: `${y + 16}px` }) }}>
        {spoken ? <SpokenWords spoken={spoken} run={run} /> : hit!.measured ? <ValueWords hit={hit!} measured={hit!.measured} run={run} /> : <HitWords hit={hit!} details={details} run={run} />}
      </div>
    </div>
  );
}

function SpokenWords({ spoken, run }: { spoken: Spoken; run: Run }) {
  const between = (communicator: number) => run.communicators[communicator] || "a communicator without a name";
  if ("gathering" in spoken) {
    const { kind, count: visits, begin, end, waited, sent, received, communicator } = spoken.gathering;
    return (
      <>
        <b>{visits > 1 ? `${count(visits)} visits to collective operations` : collectiveName(kind)}</b>
        <div>{duration(end - begin)}{waited > 0 && <> · waited {duration(waited)}</>}</div>
        <div class="faint">{bytes(sent)} sent, {bytes(received)} received, {between(communicator)}</div>
      </>
    );
  }
  if ("hits" in spoken) return <HitsWords {...spoken.hits} run={run} />;
  const { message } = spoken;
  return (
    <>
      <b>{message.count > 1 ? `${count(message.count)} messages` : "message"}, {bytes(message.bytes)}</b>
      <div>{nameOfLocation(run, message.fromTrack)} → {nameOfLocation(run, message.toTrack)}</div>
      {message.count === 1 && <div>{message.received < message.sent ? `received ${duration(message.sent - message.received)} before it was sent: clocks differ` : `${duration(message.received - message.sent)} on its way`}</div>}
      {message.waitedReceiver > 0 && <div>the receiver waited {duration(message.waitedReceiver)} for a late sender</div>}
      {message.waitedSender > 0 && <div>the sender waited {duration(message.waitedSender)} for a late receiver</div>}
      {message.count === 1 && <div class="faint">tag {message.tag}, {between(message.communicator)}</div>}
    </>
  );
}

function HitsWords({ samples, time, ticks, most, hit, region, line, name, run }: Hits & { run: Run }) {
  const of = (id: number) => run.regions[id], words = of(hit)?.name ?? (name || "outside of functions"), around = of(region), at = of(hit) ?? around;
  return (
    <>
      <b>{words}</b>
      {around && around !== of(hit) && <div>in {around.name}</div>}
      {at?.file && <div class="faint">{fileAndLine(at.file, line || at.line)}</div>}
      <div>{samples > 1 ? `${count(samples)} samples, ${most < samples ? `${count(most)} of them here, ` : ""}` : `sample at ${instant(time, 1000)}, `}{duration(ticks)} of CPU time</div>
    </>
  );
}

function ValueWords({ hit, measured: { min, mean, max }, run }: { hit: Hit; measured: Measured; run: Run }) {
  const { name, unit, description } = run.metrics[hit.row.metric];
  return (
    <>
      <b>{name}</b>
      <div>{min === max ? measuredText(max, unit) : `${measuredText(min, unit)} to ${measuredText(max, unit)}, mean ${measuredText(mean, unit)}`}</div>
      {description && <div class="faint">{description}</div>}
    </>
  );
}

function HitWords({ hit, details, run }: { hit: Hit; details: CallDetails | null; run: Run }) {
  const call = details ?? hit.call, sums = details?.sums;
  const region = run.regions[call?.region ?? hit.region];
  return (
    <>
      <b>{region?.name ?? "calls beyond the limit of call paths"}</b>
      {region?.file && <span class="faint"> {fileAndLine(region.file, region.line)}</span>}
      {call && <div>{duration(call.end - call.begin)}{sums && sums.waiting > 0 && <> · waiting {duration(sums.waiting)}{sums.causes.length > 0 && <> ({causeWords(sums.causes)})</>}</>}{sums && sums.calls > 0 && <> · own {duration(sums.own)} ({percent(sums.own, call.end - call.begin)})</>}</div>}
      {details && details.parameters.length > 0 && <div class="faint">{details.parameters.map((parameter) => `${parameter.name} = ${parameter.value}`).join(", ")}</div>}
      {hit.row.kind === "lane" && <div>{hit.row.name}</div>}
      {!call && <div>{hit.depth < 0 ? "most own time here" : run.outline ? "most time here" : "calls thinner than a pixel"} · {percent(hit.cover, 1)} covered</div>}
    </>
  );
}
