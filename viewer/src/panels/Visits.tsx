// The calls of a function as dots: duration over time, or over the number of the visit. A click chooses a call.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { count, duration, instant, nsDuration } from "../format";
import { type CallRef, nameOfLocation, type Selection } from "../model";
import { type Dots, dotsOf, heightOf, nearestDot, type Over, wordsAt } from "../timeline/scatter";
import { type Opened, useOpened, useView } from "./hooks";

const REACH = 12, EDGE = 5;  // pixels
const MANY = 2000;  // dots that are drawn smaller

/** `calls` in order of their begins; `complete`: all of the scope. */
export function Visits({ calls, scope, func, complete }: { calls: readonly CallRef[]; scope: Selection; func: number; complete: boolean }) {
  const opened = useOpened(), { run, navigator, viewing } = opened;
  const { call } = useView();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [over, setOver] = useState<Over>("time");
  const [pointed, setPointed] = useState(-1);
  const [width, setWidth] = useState(0);
  const end = complete ? scope.end : calls.at(-1)?.begin ?? scope.end;
  const dots = useMemo(() => dotsOf(calls, over, { begin: scope.begin, end }), [calls, over, end]);
  const chosen = call && call.region === func ? calls.findIndex((one) => one.track === call.track && one.depth === call.depth && one.begin === call.begin) : -1;
  useEffect(() => {
    const observer = new ResizeObserver(() => setWidth(canvas.current?.clientWidth ?? 0));
    observer.observe(canvas.current!);
    return () => observer.disconnect();
  }, []);
  useEffect(() => draw(canvas.current!, dots, opened, func, chosen, pointed), [dots, width, chosen, pointed, opened.theme, opened.timeline.colouring]);
  const at = (event: MouseEvent) =>
    nearestDot(dots, { x: event.offsetX - EDGE, y: event.offsetY - EDGE }, width - 2 * EDGE, canvas.current!.clientHeight - 2 * EDGE, REACH);
  const choose = (i: number) => {
    if (!calls[i]) return;
    navigator.go(calls[i], "");
    viewing.openPanel("function");
  };
  const walk = (event: KeyboardEvent) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    choose(chosen < 0 ? (by > 0 ? 0 : calls.length - 1) : Math.min(Math.max(chosen + by, 0), calls.length - 1));
  };
  const shown = pointed >= 0 ? pointed : chosen;
  return (
    <div class="visits">
      <p class="choices"><label>durations over <select value={over} onChange={(event) => setOver(event.currentTarget.value as Over)}><option value="time">time</option><option value="visit">the number of the visit</option></select></label></p>
      <canvas ref={canvas} tabIndex={0} role="img" aria-label={`Durations of ${count(calls.length)} calls over ${over === "time" ? "time" : "the number of the visit"}. Arrow keys choose the call before or after`}
        onMouseMove={(event) => setPointed(at(event))} onMouseLeave={() => setPointed(-1)} onClick={(event) => choose(at(event))} onKeyDown={walk} />
      <p class="faint ends"><span>{over === "time" ? instant(scope.begin, (end - scope.begin) / 100) : "1"}</span><span>{over === "time" ? instant(end, (end - scope.begin) / 100) : count(calls.length)}</span></p>
      <p class="faint">{calls[shown] ? `${pointed >= 0 ? "" : "chosen: "}visit ${count(shown + 1)} · ${duration(calls[shown].end - calls[shown].begin)} · at ${instant(calls[shown].begin, 1000)} · ${nameOfLocation(run, calls[shown].track)}` : "A click chooses a call."}</p>
    </div>
  );
}

function draw(canvas: HTMLCanvasElement, dots: Dots, { theme, timeline }: Opened, func: number, chosen: number, pointed: number): void {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d")!;
  context.scale(ratio, ratio);
  const inner = { width: width - 2 * EDGE, height: height - 2 * EDGE };
  const labels = drawLines(context, dots, theme, width, inner.height);
  const place = (i: number): [number, number] => [EDGE + dots.x[i] * inner.width, EDGE + dots.y[i] * inner.height];
  const size = dots.x.length > MANY ? 1.5 : 2.5;
  context.fillStyle = timeline.styleOf(func);
  context.globalAlpha = 0.6;  // many dots in one place are darker
  for (let i = 0; i < dots.x.length; i++) dot(context, place(i), size);
  context.globalAlpha = 1;
  labels();
  context.fillStyle = theme.text;
  if (chosen >= 0) dot(context, place(chosen), 4);
  context.strokeStyle = theme.text;
  if (pointed >= 0) {
    context.beginPath();
    context.arc(...place(pointed), 5.5, 0, 2 * Math.PI);
    context.stroke();
  }
}

function dot(context: CanvasRenderingContext2D, [x, y]: [number, number], size: number): void {
  context.beginPath();
  context.arc(x, y, size, 0, 2 * Math.PI);
  context.fill();
}

/** Draws the lines of round durations; returns what writes their names above the dots. */
function drawLines(context: CanvasRenderingContext2D, dots: Dots, theme: Opened["theme"], width: number, height: number): () => void {
  context.font = "11px system-ui, sans-serif";
  context.strokeStyle = theme.line;
  const heights = dots.lines.map((ns) => Math.round(EDGE + heightOf(ns, dots) * height) + 0.5);
  for (const y of heights) {
    context.beginPath();
    context.moveTo(0, y);
    context.lineTo(width, y);
    context.stroke();
  }
  return () => {
    context.lineWidth = 3;
    context.strokeStyle = theme.background;
    context.fillStyle = theme.faint;
    dots.lines.forEach((ns, i) => {
      context.strokeText(nsDuration(ns), 2, wordsAt(heights[i]));
      context.fillText(nsDuration(ns), 2, wordsAt(heights[i]));
    });
    context.lineWidth = 1;
  };
}
