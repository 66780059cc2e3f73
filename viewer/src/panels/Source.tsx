// The source lines of a function.
import { useEffect, useRef } from "preact/hooks";
import { useAnswer, useOpened, useView } from "./hooks";

export function SourcePanel() {
  const { run, source } = useOpened();
  const { func } = useView();
  const region = run.regions[func];
  const { value, error } = useAnswer(async (signal) => (region ? source.source(func, signal) : null), [func], 0);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.querySelector(".of")?.scrollIntoView({ block: "nearest" }), [value]);
  if (!region) return <p class="empty">Choose a function: by its name in the tab Functions, or by a click on one of its calls.</p>;
  if (error) return <p class="empty">{error.message}</p>;
  if (!value) return <p class="empty">…</p>;
  if ("reason" in value) return <p class="empty">{value.reason}</p>;
  return (
    <div class="source" tabIndex={0} data-keys="own" role="region" aria-label={`Source of ${region.name}`} ref={box}>
      <p><b>{region.name}</b> <span class="faint">{value.file}:{value.from}</span>{value.changed && <span class="wrong"> The file was changed after this run: lines may have moved.</span>}</p>
      <table><tbody>
        {value.lines.map((line, i) => {
          const number = value.first + i;
          return <tr key={number} class={number >= value.from && number <= value.to ? "of" : "faint"}><th scope="row" class="number">{number}</th><td>{line || " "}</td></tr>;
        })}
      </tbody></table>
    </div>
  );
}
