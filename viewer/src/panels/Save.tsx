// The menu of exports.
import { useRef } from "preact/hooks";
import { svgOf } from "../svg";
import { callsCsv, download, picture, tableCsv } from "../save";
import { pathsOf } from "../source/source";
import { useOpened } from "./hooks";

export function Save() {
  const { run, source, viewing, timeline } = useOpened();
  const menu = useRef<HTMLDetailsElement>(null);
  const say = (said: string) => viewing.store.set({ said });
  const act = (work: () => Promise<string>) => {
    menu.current!.open = false;
    work().then(say, (error: Error) => say(error.message));
  };
  const link = async () => {
    // The address follows the view with a short delay.
    await new Promise((resolve) => setTimeout(resolve, 350));
    await navigator.clipboard.writeText(location.href);
    return "The link is copied.";
  };
  const table = async () => {
    const scope = viewing.scope();
    const whole = { begin: Math.floor(scope.begin), end: Math.ceil(scope.end), tracks: scope.tracks };
    const profile = await source.profile(whole, new AbortController().signal);
    download("functions.csv", new Blob([tableCsv(run, profile, await pathsOf(source))], { type: "text/csv" }));
    return "The table is saved.";
  };
  const image = async () => {
    download("timeline.png", await picture(timeline, run));
    return "The picture is saved.";
  };
  const drawing = async () => {
    download("timeline.svg", new Blob([await svgOf(timeline, run)], { type: "image/svg+xml" }));
    return "The drawing is saved.";
  };
  const calls = async () => {
    download("calls.csv", new Blob([await callsCsv(timeline, source, run)], { type: "text/csv" }));
    return "The calls are saved.";
  };
  return (
    <details class="menu" ref={menu}>
      <summary aria-label="Save and share" title="Save and share">⤓</summary>
      <div>
        <button class="plain" onClick={() => act(link)}>Copy link to this view</button>
        <button class="plain" onClick={() => act(image)}>Save picture (PNG)</button>
        <button class="plain" onClick={() => act(drawing)}>Save picture (SVG)</button>
        <button class="plain" onClick={() => act(table)}>Save functions (CSV)</button>
        <button class="plain" onClick={() => act(calls)}>Save calls that are shown (CSV)</button>
      </div>
    </details>
  );
}
