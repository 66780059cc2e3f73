// The lower part of the page: tables and graphs of the selection, one call, the hits.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { count, duration, instant } from "../format";
import { AT_INSTANT } from "../model";
import { PANELS, type Panel as Name } from "../state/view";
import { CallPanel } from "./Call";
import { Empty } from "./cells";
import { PairFlame, PairTable, PairTree } from "./Compare";
import { ProfileFlame } from "./Flame";
import { FunctionPanel } from "./Function";
import { Hits } from "./Hits";
import { type Answer, type Profiled, type ProfiledPair, useOpened, useProfile, useProfiles, useStore, useView } from "./hooks";
import { SumsTable } from "./Functions";
import { MarksPanel } from "./Marks";
import { MemoryPanel } from "./Memory";
import { MessagesPanel } from "./Messages";
import { SourcePanel } from "./Source";
import { Splitter } from "./Splitter";
import { talks } from "../timeline/talk";
import { ProfileTree } from "./Tree";

/** The height of the panel, in pixels, that is in sight when a call is chosen. */
const SEEN = 170;
const WORDS: Record<Name, string> = { call: "Call", function: "Function", functions: "Functions", modules: "Modules", tree: "Call tree", flame: "Flame graph", source: "Source", memory: "Memory", messages: "Messages", marks: "Marks", find: "Hits" };

export function Panel() {
  const { run, viewing, timeline } = useOpened();
  const { panel, panelOpen, call } = useView();
  const { side } = useStore(timeline.known);
  const panels = PANELS.filter((name) => panel === name || (name === "messages" ? talks(side) : name !== "memory" || (run.memory && !run.parts.length)));
  const box = useRef<HTMLElement>(null);
  // In a low window the panel is below the rows.
  useLayoutEffect(() => {
    if (call) window.scrollBy(0, Math.max(0, box.current!.getBoundingClientRect().top + SEEN - innerHeight));
  }, [call?.begin, call?.depth]);
  const tab = (by: number) => viewing.openPanel(panels[(panels.indexOf(panel) + by + panels.length) % panels.length]);
  const keys = (event: KeyboardEvent) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!by) return;
    event.preventDefault();
    tab(by);
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>("[aria-selected=true]")?.focus());
  };
  return (
    <section ref={box} class={`panel ${panelOpen ? "" : "closed"}`} aria-label="Details">
      {panelOpen && <Splitter of={box} />}
      <div class="tabs">
        <div role="tablist" aria-label="Details" onKeyDown={keys}>
          {panels.map((name) => (
            <button key={name} role="tab" id={`tab-${name}`} aria-controls="panel" aria-selected={panelOpen && panel === name} tabIndex={panel === name ? 0 : -1} onClick={() => viewing.openPanel(name)}>{WORDS[name]}</button>
          ))}
        </div>
        <Scope />
        <button class="plain" aria-label={panelOpen ? "Close the panel" : "Open the panel"} title="Open or close (P)" onClick={() => viewing.store.set({ panelOpen: !panelOpen })}>{panelOpen ? "▾" : "▴"}</button>
      </div>
      {panelOpen && (
        <div id="panel" class="content" role="tabpanel" aria-labelledby={`tab-${panel}`}>
          {panel === "call" ? <CallPanel /> : panel === "function" ? <FunctionPanel /> : panel === "source" ? <SourcePanel /> : panel === "memory" ? <MemoryPanel /> : panel === "messages" ? <MessagesPanel /> : panel === "marks" ? <MarksPanel /> : panel === "find" ? <Hits /> : run.parts.length ? <TwoProfiles panel={panel} /> : <OneProfile panel={panel} />}
        </div>
      )}
    </section>
  );
}

/** The time range and locations that the tables cover. */
function Scope() {
  const { run, viewing } = useOpened();
  const { selection, panel, amount } = useView();
  const { begin, end, tracks } = viewing.scope();
  const step = (end - begin) / 1000;
  const rows = run.locations.length;
  if (panel === "memory") return <p class="scope">{amount === AT_INSTANT ? "" : "the whole run"}</p>;
  return (
    <p class="scope">
      <span>{selection ? "selection" : "shown"}: {instant(begin, step)} + {duration(end - begin)}{tracks ? `, ${count(tracks.length)} of ${count(rows)} rows` : rows > 1 ? `, all ${count(rows)} rows` : ""}{run.outline ? `, in steps of ${duration(run.outline.step)}` : ""}</span>
      {selection && <button onClick={() => viewing.fit()} title="Zoom to the selection (F)">zoom</button>}
      {selection && <button onClick={() => viewing.select(null)} title="Esc">clear</button>}
    </p>
  );
}

const OneProfile = ({ panel }: { panel: Name }) => shown(useProfile(), (data) => inside(panel, data));
const TwoProfiles = ({ panel }: { panel: Name }) => shown(useProfiles(), (data) => insidePair(panel, data));

function shown<T>({ value, error, loading }: Answer<T>, draw: (data: T) => ComponentChildren) {
  if (error) return <Empty>{error.message}</Empty>;
  if (!value) return <Empty>Adding up …</Empty>;
  return <div class="profile" aria-busy={loading}>{draw(value)}</div>;
}

function inside(panel: Name, data: Profiled) {
  if (panel === "tree") return <ProfileTree data={data} />;
  if (panel === "flame") return <ProfileFlame data={data} />;
  return <SumsTable data={data} by={panel === "modules" ? "module" : "function"} />;
}

function insidePair(panel: Name, data: ProfiledPair) {
  if (panel === "tree") return <PairTree data={data} />;
  if (panel === "flame") return <PairFlame data={data} />;
  return <PairTable data={data} by={panel === "modules" ? "module" : "function"} />;
}
