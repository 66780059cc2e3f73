// Controls of a run that is still recorded: its state, and whether the picture follows its end.
import { duration } from "../format";
import { useOpened, useView } from "./hooks";

/** Less than this many seconds behind is as good as now. */
const NOW = 2;

const STAGES = { reading: "live", running: "live", weaving: "ended, weaving …", woven: "ended", lost: "lost" } as const;

export function LiveBar() {
  const { viewing, run } = useOpened();
  const { live, following } = useView();
  if (!live) return null;
  const seconds = (value: number) => duration(value * run.ticksPerSecond);
  const ended = live.stage === "woven", behind = live.stage === "running" && live.age > NOW;
  const about = `Read ${seconds(live.age)} ago, which took ${seconds(live.look)}. All records are read each time, and then the server pauses for three times as long, at least for a second in all.`;
  return (
    <div class="livebar" role="group" aria-label="The running program">
      <span class={`live ${live.stage}`} title={ended ? "The program has ended. This is the whole run." : about}>{STAGES[live.stage]}{behind && `, ${seconds(live.age)} behind`}</span>
      {!ended && <button aria-pressed={following} title={`${following ? "Keep the visible range" : "Follow the end of the run"} (E)`} onClick={() => viewing.toggleFollow()}>{following ? "Pause" : "Follow"}</button>}
      {!ended && <button title="Follow with the last minute (9)" onClick={() => viewing.lastMinute()}>Last minute</button>}
    </div>
  );
}

/** The reason why the run cannot be read any more. */
export function LiveProblem() {
  const { live } = useView();
  return live?.message ? <p class="problem" role="alert">{live.message}</p> : null;
}
