// The legend: what the colours stand for, and the choice of it; a click on an entry fades all others.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { type ByCause, CAUSE_TEXTS, largestFirst } from "../causes";
import { duration, percent } from "../format";
import type { Run } from "../model";
import { causeKey, COLOURINGS, type Colouring, isWaiting, LIBRARIES, type Painting, rankKey, WAITS } from "../palette";
import { allCauses, tellsWaiting, workByRegion } from "../profile";
import { pathsOf } from "../source/source";
import { type Opened, useAnswer, useOpened, useView } from "./hooks";

const MOST = 14;
/** Characters of a name. */
const LONGEST = 24;
const TITLES: Record<Colouring, string> = { function: "function", module: "module", package: "package", kind: "kind", rank: "process" };

/** The work of each region in the whole run, and whether waiting is known, by cause where causes are. */
interface Times {
  readonly working: Float64Array;
  readonly waiting: boolean;
  readonly causes: ByCause;
}

interface Entry {
  readonly key: string;
  readonly name: string;
  readonly time: number;
}

/** Entries by time; libraries and waiting at the end. */
function entriesOf(working: Float64Array, keys: readonly string[]): Entry[] {
  const sums = new Map<string, number>();
  keys.forEach((key, region) => sums.set(key, (sums.get(key) ?? 0) + working[region]));
  return [...sums].filter(([key, time]) => !isWaiting(key) && time > 0).map(([key, time]) => ({ key, name: key || "(none)", time }))
    .sort((a, b) => Number(a.key === LIBRARIES) - Number(b.key === LIBRARIES) || b.time - a.time);
}

/** A name without the module of the program itself; the end of a long one, which tells it apart. */
function shown(name: string): string {
  if (name.startsWith("__main__.") && !name.startsWith("__main__.<")) return shown(name.slice(9));
  let from = 0;
  while (name.length - from > LONGEST && name.indexOf(".", from) > 0) from = name.indexOf(".", from) + 1;
  return from ? `…${name.slice(from)}` : name;
}

const rankEntries = ({ processes }: Run): Entry[] => processes.map(({ name, pid }, id) => ({ key: rankKey(id), name: name || `process ${pid}`, time: 0 }));

export function LegendBar() {
  const opened = useOpened(), { run, source, viewing, timeline } = opened;
  const { colouring, lit, grown } = useView();
  const { value } = useAnswer<Times>(async (signal) => {
    const [profile, paths] = await Promise.all([source.profile({ begin: 0, end: viewing.whole.end, tracks: null }, signal), pathsOf(source)]);
    return { working: workByRegion(profile, paths, run.regions), waiting: tellsWaiting(run), causes: allCauses(profile, paths, run.regions) };
  }, [source, grown], 0);
  const painting = timeline.colouring;
  // The bar is made anew only if it changes, not with each move of the view.
  return useMemo(() => bar(opened, value, painting, colouring, lit), [value, painting, colouring, lit]);
}

function bar({ run, viewing }: Opened, value: Times | null, painting: Painting, colouring: Colouring, lit: string) {
  const all = colouring === "rank" ? rankEntries(run) : value ? entriesOf(value.working, painting.keys) : [];
  const whole = value ? value.working.reduce((sum, time) => sum + time, 0) : 0;
  const own = all.filter(({ key }) => key !== LIBRARIES).slice(0, MOST), library = all.find(({ key }) => key === LIBRARIES);
  const choices = COLOURINGS.filter((word) => word !== "rank" || run.processes.length > 1);
  const button = ({ key, name, time }: Entry) => (
    <button class="plain" aria-pressed={lit === key} title={`${name}${time > 0 ? `: ${duration(time)} of work, ${percent(time, whole)}` : ""}\nA click fades all others`} onClick={() => viewing.store.set({ lit: lit === key ? "" : key })}>
      <span class="swatch" style={{ background: painting.base(key) }} />{shown(name)}
    </button>
  );
  const cause = (number: number, time: number, whole: number) => (
    <button class="plain" aria-pressed={lit === causeKey(number)} title={`waiting for: ${CAUSE_TEXTS[number]}, ${duration(time)}, ${percent(time, whole)} of all waiting\nA click fades all others`} onClick={() => viewing.store.set({ lit: lit === causeKey(number) ? "" : causeKey(number) })}>
      <span class="swatch waiting" style={{ backgroundColor: painting.base(causeKey(number)) }} />{CAUSE_TEXTS[number]}
    </button>
  );
  return (
    <section class="legendbar" aria-label="Colours">
      <label>Colours by <select value={colouring} onChange={(event) => viewing.store.set({ colouring: event.currentTarget.value as Colouring, lit: "" })}>{choices.map((word) => <option key={word} value={word}>{TITLES[word]}</option>)}</select></label>
      <ul>{own.map((entry) => <li key={entry.key}>{button(entry)}</li>)}</ul>
      {library && button(library)}
      {value?.waiting && (largestFirst(value.causes).length ? <Waits causes={value.causes} button={cause} /> : <span class="waits"><span class="swatch waiting" style={{ backgroundColor: painting.base(WAITS) }} />waiting</span>)}
    </section>
  );
}

/** The causes of waiting, the most first. */
function Waits({ causes, button }: { causes: ByCause; button: (cause: number, time: number, whole: number) => ComponentChildren }) {
  const whole = causes.reduce((sum, time) => sum + time, 0);
  return (
    <span class="waits">waiting <ul class="causes" aria-label="Causes of waiting">{largestFirst(causes).map((cause) => <li key={cause}>{button(cause, causes[cause], whole)}</li>)}</ul></span>
  );
}
