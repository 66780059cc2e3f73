// The calls that were found.
import { useState } from "preact/hooks";
import { count, duration, instant } from "../format";
import { nameOfLocation } from "../model";
import { useOpened, useView } from "./hooks";

const MANY = 200;

export function Hits() {
  const { run, navigator } = useOpened();
  const { found, hit, find } = useView();
  const [all, setAll] = useState(false);
  if (!found) return <p class="empty">Type above what to find: a part of a name or of a file, a /regular expression/, a duration such as “&gt; 50 ms”, or a name and a duration. Press Enter.</p>;
  if (!found.calls.length) return <p class="empty">No call is like “{find}”.</p>;
  const shown = all ? found.calls : found.calls.slice(0, MANY);
  return (
    <div class="tablebox" tabIndex={0} data-keys="own" role="region" aria-label="Hits">
      {!found.complete && <p class="empty">These are the first {count(found.calls.length)}. Select a shorter stretch of time for others.</p>}
      <table>
        <thead><tr><th scope="col" class="number">begin</th><th scope="col" class="number">duration</th><th scope="col">function</th><th scope="col">row</th></tr></thead>
        <tbody>
          {shown.map((call, i) => (
            <tr key={i} class={i === hit ? "chosen" : ""} aria-current={i === hit}>
              <td class="number">{instant(call.begin, 1000)}</td>
              <td class="number">{duration(call.end - call.begin)}</td>
              <th scope="row" class="name"><button class="link" onClick={() => navigator.showHit(i)}>{run.regions[call.region]?.name ?? "call"}</button></th>
              <td class="faint">{nameOfLocation(run, call.track)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {!all && found.calls.length > MANY && <button class="more" onClick={() => setAll(true)}>Show all {count(found.calls.length)}</button>}
    </div>
  );
}
