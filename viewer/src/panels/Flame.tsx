// The flame graph of the selection: all calls of a path merged, the longest at the left.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { textUpon } from "../colour";
import { count, duration, percent, shortName } from "../format";
import { NONE } from "../model";
import { callTree, type Node } from "../profile";
import { type Box, boxesOf } from "../timeline/flame";
import { shortened } from "../timeline/painter";
import { type Opened, type Profiled, useOpened } from "./hooks";

const LINE = 19;

export function Flame({ data }: { data: Profiled }) {
  const opened = useOpened();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [path, setPath] = useState<readonly number[]>([]);
  const [pointed, setPointed] = useState<Box | null>(null);
  const [width, setWidth] = useState(0);
  const root = useMemo(() => callTree(data.profile, data.paths), [data]);
  const top = descend(root, path);
  const boxes = useMemo(() => boxesOf(top, width ? 1 / width : 1), [top, width]);
  const lines = boxes.reduce((most, box) => Math.max(most, box.depth), 0) + 1;
  useEffect(() => {
    const observer = new ResizeObserver(() => setWidth(canvas.current?.clientWidth ?? 0));
    observer.observe(canvas.current!);
    return () => observer.disconnect();
  }, []);
  useEffect(() => draw(canvas.current!, boxes, pointed, opened), [boxes, pointed, width, opened.theme]);
  const at = (event: MouseEvent) => {
    const x = event.offsetX / width, depth = Math.floor(event.offsetY / LINE);
    return boxes.find((box) => box.depth === depth && x >= box.left && x < box.left + box.width) ?? null;
  };
  const zoomTo = (box: Box | null) => {
    if (!box) return;
    setPointed(null);
    setPath(box.node === top ? path.slice(0, -1) : [...path, ...pathTo(top, box.node)]);
  };
  const shown = pointed?.node ?? top;
  return (
    <div class="flame">
      <p class="line" aria-live="off">
        {path.length > 0 && <button onClick={() => setPath([])}>all</button>}
        {path.length > 0 && <button onClick={() => setPath(path.slice(0, -1))}>up</button>}
        <b>{nameOf(shown, opened)}</b>
        <span class="faint">{duration(shown.total)} ({percent(shown.total, root.total)}) · own {duration(shown.own)}{shown.visits > 0 && ` · ${count(shown.visits)} visits`}</span>
      </p>
      <div class="tablebox" tabIndex={0} data-keys="own" role="region" aria-label="Flame graph. The same data are in the tab Call tree">
        <canvas ref={canvas} style={{ height: `${lines * LINE}px` }} aria-hidden="true"
          onMouseMove={(event) => setPointed(at(event))} onMouseLeave={() => setPointed(null)} onClick={(event) => zoomTo(at(event))} />
      </div>
    </div>
  );
}

const nameOf = (node: Node, { run }: Opened): string => (node.region === NONE ? "all calls" : run.regions[node.region]?.name ?? "(calls beyond the limit of call paths)");

/** The node that a path of regions leads to, as far as it is there. */
function descend(root: Node, path: readonly number[]): Node {
  let node = root;
  for (const region of path) node = node.children.find((child) => child.region === region) ?? node;
  return node;
}

function pathTo(from: Node, to: Node): number[] {
  for (const child of from.children) {
    if (child === to) return [child.region];
    const rest = pathTo(child, to);
    if (rest.length) return [child.region, ...rest];
  }
  return [];
}

function draw(canvas: HTMLCanvasElement, boxes: readonly Box[], pointed: Box | null, opened: Opened): void {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(canvas.clientHeight * ratio);
  const context = canvas.getContext("2d")!;
  context.scale(ratio, ratio);
  context.font = "11.5px system-ui, sans-serif";
  context.textBaseline = "middle";
  for (const box of boxes) drawBox(context, box, width, box === pointed, opened);
}

function drawBox(context: CanvasRenderingContext2D, box: Box, width: number, pointed: boolean, opened: Opened): void {
  const { run, timeline, theme } = opened;
  const x = box.left * width, wide = box.width * width, y = box.depth * LINE;
  const colour = box.node.region === NONE ? theme.nothing : timeline.styleOf(box.node.region);
  context.fillStyle = colour;
  context.fillRect(x, y, Math.max(0.6, wide - (wide > 2 ? 1 : 0)), LINE - 1);
  if (pointed) {
    context.strokeStyle = theme.text;
    context.strokeRect(x + 0.5, y + 0.5, wide - 1.5, LINE - 2);
  }
  if (wide < 30) return;
  const region = run.regions[box.node.region];
  const text = cut(context, region ? shortName(region.name, region.module) : nameOf(box.node, opened), wide - 9);
  context.fillStyle = textUpon(colour);
  context.fillText(text, x + 4, y + LINE / 2);
}

function cut(context: CanvasRenderingContext2D, text: string, room: number): string {
  const width = context.measureText(text).width;
  return width <= room ? text : shortened(context, text, room, width);
}
