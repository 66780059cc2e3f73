// The bar at the top: the name of the run, search, zoom.
import { duration, instant } from "../format";
import { span } from "../timeline/scale";
import { Save } from "./Save";
import { useOpened, useView } from "./hooks";
import { LiveBar } from "./Live";

export function Header({ dark, setDark }: { dark: boolean; setDark: (dark: boolean) => void }) {
  const { run, viewing, navigator } = useOpened();
  const { range, find, found, hit, clock } = useView();
  const step = span(range) / 1000;
  return (
    <header>
      <div class="title">
        <h1 title={run.title}>{run.title}</h1>
        <p class="faint" title={run.facts.join(" · ")}>{run.facts.join(" · ")}</p>
      </div>
      <form class="find" role="search" onSubmit={(event) => (event.preventDefault(), found?.calls.length ? navigator.nextHit(1) : navigator.find(find))}>
        <input id="find" type="search" placeholder="Find:  relax   /re.*x/   > 50 ms" aria-label="Find calls by function, by /regular expression/ or by duration, such as > 50 ms" value={find}
          onInput={(event) => viewing.store.set({ find: event.currentTarget.value, found: null, density: null, findError: null, hit: -1 })}
          onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()} />
        {found && found.calls.length > 0 && <span class="hits faint">{hit + 1 || "–"} of {found.calls.length}{found.complete ? "" : "+"}</span>}
        <button type="button" aria-label="Previous hit" title="Previous hit (Shift N)" disabled={!found?.calls.length} onClick={() => navigator.nextHit(-1)}>‹</button>
        <button type="submit" aria-label={found ? "Next hit" : "Find"} title={found ? "Next hit (N)" : "Find (Enter)"} disabled={!find}>{found ? "›" : "Find"}</button>
      </form>
      <LiveBar />
      <div class="zooming" role="group" aria-label="Zoom">
        <button class="shownrange" disabled={run.midnight === undefined} title={`The visible range. ${clock ? "Time since the start" : "Time of day"} (O)`} onClick={() => viewing.showClock(!clock)}>
          {instant(range.begin, step)} <span class="faint">+</span> {duration(span(range))}
        </button>
        <button aria-label="Zoom out" title="Zoom out (S)" onClick={() => viewing.zoomBy(2)}>−</button>
        <button aria-label="Zoom in" title="Zoom in (W)" onClick={() => viewing.zoomBy(0.5)}>+</button>
        <button aria-label="Zoom back" title="Back to the zoom before (Backspace)" onClick={() => viewing.back()}>↶</button>
        <button title="The whole run (0)" onClick={() => viewing.showAll()}>All</button>
        <Save />
        <button aria-label={dark ? "Light colours" : "Dark colours"} title={dark ? "Light colours" : "Dark colours"} onClick={() => setDark(!dark)}>{dark ? "☀" : "☾"}</button>
        <button aria-label="Keys and help" title="Keys and help (?)" onClick={() => viewing.store.set({ help: true })}>?</button>
      </div>
    </header>
  );
}

/** The lost records; never hidden. */
export function Losses() {
  const { losses } = useOpened().run;
  if (!losses.length) return null;
  return (
    <details class="losses">
      <summary><b>!</b> {losses[0]}{losses.length > 1 && `, and ${losses.length - 1} more`}</summary>
      {losses.length > 1 && <ul>{losses.map((loss) => <li key={loss}>{loss}</li>)}</ul>}
    </details>
  );
}
