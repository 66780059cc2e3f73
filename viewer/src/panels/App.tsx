// The page: waiting for a run, the reason why there is none, or the run.
import { useEffect, useMemo, useState } from "preact/hooks";
import { DARK_THEME, LIGHT_THEME } from "../colour";
import { count, setTicksPerSecond } from "../format";
import type { Progress, Run } from "../model";
import { SourceError, type Source } from "../source/source";
import { type Comparing, Navigator } from "../state/commands";
import { listenToKeys } from "../state/keys";
import { follow, followPasted, keepPlace, restore } from "../state/link";
import { followRun } from "../state/follow";
import { keepMarks } from "../state/marks";
import { LiveSource } from "../source/live";
import { type Alignment, Pair } from "../source/pair";
import { read } from "../state/url";
import { Comparison } from "./Compare";
import { Viewing } from "../state/view";
import { type Activity, activityOf } from "../timeline/activity";
import { Timeline } from "../timeline/timeline";
import { Header, Losses } from "./Header";
import { Help } from "./Help";
import { OpenedContext, useStore, useView } from "./hooks";
import { LegendBar } from "./Legend";
import { LiveProblem } from "./Live";
import { Panel } from "./Panel";
import { TimelineView } from "./Timeline";

interface Ready {
  readonly run: Run;
  readonly source: Source;
  readonly activity: Activity | null;
  readonly comparing: Comparing | null;
}

const AT_BEGIN: Alignment = { func: "", n: 1 };

/** Two runs as one; calls `show` again after each alignment. */
async function compare(sources: readonly Source[], runs: readonly Run[], show: (ready: Ready) => void): Promise<void> {
  const pair = await Pair.of(sources, runs);
  const showAligned = async (alignment: Alignment, before: Run | null) => {
    const made = await pair.aligned(alignment);
    if (before) keepPlace(made.run.parts[0].begin - before.parts[0].begin, alignment);
    show({ ...made, activity: await activityOf(made.source, made.run), comparing: { alignment, align: (next) => showAligned(next, made.run) } });
  };
  const wanted = read(location.hash).align;
  // A link made for other runs may name a call that these do not have.
  await showAligned(wanted ?? AT_BEGIN, null).catch((error: unknown) => (wanted ? showAligned(AT_BEGIN, null) : Promise.reject(error)));
}

export function App({ open }: { open: () => Promise<Source[]> }) {
  const [progress, setProgress] = useState<Progress | null>(null);
  const [opened, setOpened] = useState<Ready | null>(null);
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => {
    const show = (ready: Ready) => {
      setTicksPerSecond(ready.run.ticksPerSecond);
      document.title = `${ready.run.title} – Timeloom`;
      setOpened(ready);
    };
    open().then(async (sources) => {
      const runs = await Promise.all(sources.map((source) => source.run(setProgress)));
      if (sources.length > 1) await compare(sources, runs, show);
      else show({ run: runs[0], source: sources[0], activity: await activityOf(sources[0], runs[0]), comparing: null });
    }).catch(setError);
  }, []);
  if (error) return <Problem error={error} />;
  if (!opened) return <Waiting progress={progress} />;
  if (!(opened.source instanceof LiveSource) && !opened.run.locations.some((location) => location.events)) return <Message title={opened.run.title} words="This run has no calls." advice="Nothing was recorded: the program ended before its first call, or a filter left out all of its functions." />;
  return <RunView key={JSON.stringify(opened.comparing?.alignment)} {...opened} />;
}

/** The reason why a search has no answer, until the next search. */
function FindProblem() {
  const { findError } = useView();
  return findError && <p class="problem" role="alert"><b>{findError.message}</b> {findError.advice}</p>;
}

function Message({ title, words, advice }: { title: string; words: string; advice?: string }) {
  return <main class="message"><h1>{title}</h1><p>{words}</p>{advice && <p class="faint">{advice}</p>}</main>;
}

function Problem({ error }: { error: Error }) {
  return <Message title="Timeloom" words={error.message} advice={error instanceof SourceError ? error.advice : "Reload the page to try again."} />;
}

function Waiting({ progress }: { progress: Progress | null }) {
  const part = progress?.total ? progress.events / progress.total : null;
  return (
    <main class="message" aria-busy="true">
      <h1>Timeloom</h1>
      <p role="status">{progress?.state === "indexing" ? `Reading the run: ${count(progress.events)}${progress.total ? ` of ${count(progress.total)}` : ""} events …` : "Opening the run …"}</p>
      <progress aria-label="Reading the run" {...(part === null ? {} : { value: part })} />
    </main>
  );
}

function useDark(): [boolean, (dark: boolean) => void] {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const [chosen, choose] = useState<boolean | null>(null);
  const [preferred, setPreferred] = useState(system.matches);
  useEffect(() => system.addEventListener("change", () => setPreferred(system.matches)), []);
  const dark = chosen ?? preferred;
  document.documentElement.dataset["theme"] = dark ? "dark" : "light";
  return [dark, choose];
}

function RunView({ run: first, source, activity, comparing }: Ready) {
  const [run, setRun] = useState(first);
  const [dark, setDark] = useDark();
  const [error, setError] = useState<Error | null>(null);
  const theme = dark ? DARK_THEME : LIGHT_THEME;
  const opened = useMemo(() => {
    const viewing = new Viewing(run);
    const timeline = new Timeline(viewing, source, theme, activity, setError);
    return { source, viewing, timeline, navigator: new Navigator(viewing, source, timeline, setError) };
  }, []);
  const { help, said } = useStore(opened.viewing.store);
  useEffect(() => opened.timeline.setTheme(theme), [dark]);
  useEffect(() => {
    restore(opened.viewing, opened.navigator);
    const ends = [listenToKeys(opened.navigator), follow(opened.viewing, comparing?.alignment), keepMarks(opened.viewing, source), followPasted(opened.viewing, opened.navigator, comparing)];
    if (source instanceof LiveSource) {
      const findAgain = () => opened.navigator.find(opened.viewing.view.find);
      ends.push(followRun({ ...opened, source, activity, show: setRun, findAgain }));
    }
    return () => ends.forEach((end) => end());
  }, []);
  return (
    <OpenedContext.Provider value={{ ...opened, run, theme, comparing }}>
      <Header dark={dark} setDark={setDark} />
      <LiveProblem />
      <Losses />
      <Comparison />
      <FindProblem />
      {error && <p class="problem" role="alert"><b>{error.message}</b> {error instanceof SourceError && error.advice} <button onClick={() => (setError(null), opened.timeline.schedule())}>Try again</button></p>}
      <main class="body">
        <LegendBar />
        <TimelineView />
        <Panel />
      </main>
      {help && <Help />}
      <p class="spoken" role="status" aria-live="polite">{said}</p>
    </OpenedContext.Provider>
  );
}
