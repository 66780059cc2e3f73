// The words beside the pointer.
import { duration, percent, place } from "../format";
import { useOpened, useStore } from "./hooks";

export function Tooltip() {
  const { run, timeline } = useOpened();
  const { hit, details, x, y } = useStore(timeline.pointed);
  if (!hit || hit.region < 0) return null;
  const call = details ?? hit.call;
  const region = run.regions[call?.region ?? hit.region];
  const wide = timeline.width;
  const side = x > wide * 0.6 ? { right: `${wide - x + 14}px` } : { left: `${x + 14}px` };
  const up = y > 0.55 * (timeline.shownHeight || 1);
  return (
    <div class="tooltipbox" aria-hidden="true">
      <div class="tooltip" style={{ ...side, ...(up ? { bottom: `${timeline.shownHeight - y + 12}px` } : { top: `${y + 16}px` }) }}>
        <b>{region?.name ?? "calls beyond the limit of call paths"}</b>
        {region?.file && <span class="faint"> {place(region.file, region.line)}</span>}
        {call && <div>{duration(call.end - call.begin)}{details && details.calls > 0 && <> · own {duration(details.own)} ({percent(details.own, details.end - details.begin)})</>}</div>}
        {details && details.parameters.length > 0 && <div class="faint">{details.parameters.map((parameter) => `${parameter.name} = ${parameter.value}`).join(", ")}</div>}
        {hit.row.kind === "lane" && <div>{hit.row.name}</div>}
        {!call && <div>{hit.depth < 0 ? "most own time here" : "calls thinner than a pixel"} · {percent(hit.cover, 1)} covered</div>}
      </div>
    </div>
  );
}
