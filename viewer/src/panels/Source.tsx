// The source lines of a function.
import { useEffect, useRef } from "preact/hooks";
import { type Column, heatOf, lockColumns, notOnLines } from "../source/heat";
import { Empty, Head, NoFunction, scrolled } from "./cells";
import { useAnswer, useOpened, useView } from "./hooks";

export function SourcePanel() {
  const { run, source } = useOpened();
  const { func } = useView();
  const region = run.regions[func];
  const { value, error } = useAnswer(async (signal) => (region ? source.source(func, signal) : null), [func], 0);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.querySelector(".of")?.scrollIntoView({ block: "nearest" }), [value]);
  if (!region) return <NoFunction />;
  if (error) return <Empty>{error.message}</Empty>;
  if (!value) return <Empty>…</Empty>;
  if ("reason" in value) return <Empty>{value.reason}</Empty>;
  const heat = heatOf(value.times ?? []), locks = lockColumns(value.locks ?? []);
  const columns: Column[] = [...(heat ? [{ head: "samples", lines: heat.lines }] : []), ...locks];
  return (
    <div class="source" {...scrolled(`Source of ${region.name}`)} ref={box}>
      <p><b>{region.name}</b> <span class="faint">{value.file}:{value.from}</span>{value.changed && <span class="wrong"> The file was changed after this run: lines may have moved.</span>}</p>
      {heat && <p class="faint">CPU time of {heat.samples} samples in the function itself{heat.unknown && `; ${heat.unknown} of it on lines that are not known`}</p>}
      <p class="faint">{notOnLines(run, heat, locks.length > 0)}</p>
      <table>{locks.length > 0 && <thead><tr>{columns.map(({ head }) => <Head key={head}>{head}</Head>)}</tr></thead>}<tbody>
        {value.lines.map((line, i) => {
          const number = value.first + i;
          return (
            <tr key={number} class={number >= value.from && number <= value.to ? "of" : "faint"}>
              {columns.map(({ head, lines }) => {
                const warm = lines.get(number);
                return <td key={head} class="number heat" title={warm?.title} style={warm && { "--share": warm.share }}>{warm?.text}</td>;
              })}
              <th scope="row" class="number">{number}</th><td>{line || " "}</td>
            </tr>
          );
        })}
      </tbody></table>
    </div>
  );
}
