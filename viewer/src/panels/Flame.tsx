// The flame graph of the selection: all calls of a path merged, the longest on the left.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type ByCause, causeWords, largestFirst, NO_CAUSES } from "../causes";
import { pixel, textOver } from "../colour";
import { bytes, count, duration, percent, shortName } from "../format";
import { AMOUNTS, AT_INSTANT, type GpuTimes, type Memory, NONE, type Run, type Sampled } from "../model";
import { isLibrary } from "../palette";
import { callTree, causesBelow, gpuProfile, inverted, merged, type Node, tellsWaiting, waitingBelow, type Weight, weighted, without } from "../profile";
import { type Box, boxesOf } from "../timeline/flame";
import { shortened } from "../timeline/renderer";
import { between, striped } from "../timeline/waiting";
import { BEYOND, Empty, scrolled } from "./cells";
import { type Opened, type Profiled, useAnswer, useOpened, useView } from "./hooks";
import { SoughtField, useSought } from "./Sought";

const LINE = 19;

/** The time on GPUs is the time of the work that a call has started; a number: bytes of AMOUNTS. */
type Width = Weight | "gpu" | "sampled" | "samples" | number;

/** The widths that a run has. */
function widthsOf(run: Run, atInstant: boolean): [Width, string][] {
  const bytes = AMOUNTS.flatMap((words, key): [Width, string][] => (key !== AT_INSTANT || atInstant ? [[key, `bytes ${words}`]] : []));
  return [["time", "time"], ...(tellsWaiting(run) ? [["work", "work"], ["waiting", "waiting"]] as [Width, string][] : []), ...(usesGpu(run) ? [["gpu", "GPU"]] as [Width, string][] : []), ...(run.samples ? [["sampled", "sampled CPU time"], ["samples", "samples"]] as [Width, string][] : []), ...(run.memory ? bytes : [])];
}

interface Choice {
  readonly weight: Width;
  readonly invert: boolean;
  readonly own: boolean;
  readonly leftHeavy: boolean;
  /** The function between its callers and its callees; NONE: none. */
  readonly between: number;
}

/** The flame graph of one profile, in the colours of the timeline. */
export function ProfileFlame({ data }: { data: Profiled }) {
  const { run, source, timeline, theme, viewing } = useOpened();
  const { instant } = useView();
  const [choice, choose] = useState<Choice>({ weight: "time", invert: false, own: false, leftHeavy: true, between: NONE });
  const { weight, invert, own, leftHeavy, between } = choice;
  const ofBytes = typeof weight === "number", sampled = weight === "sampled" || weight === "samples", sums = ofBytes || sampled || weight === "gpu";
  const { value: gpu, error, loading } = useAnswer(async (signal): Promise<GpuTimes | Memory | Sampled | null> => (ofBytes ? source.memory(viewing.memoryOf(weight), signal) : sampled ? source.samples(data.scope, signal) : sums ? source.gpu(data.scope, signal) : null), [data, weight, instant], 0);
  const size = ofBytes ? bytes : weight === "samples" ? count : duration, more = gpu && "added" in gpu ? gpu : null;
  const tree = useMemo(() => {
    const paths = more ? { parent: Int32Array.from([...data.paths.parent, ...more.added.parent]), region: Int32Array.from([...data.paths.region, ...more.added.region]) } : data.paths;
    const all = gpu ? callTree(gpuProfile(weight === "samples" ? { ...gpu, ticks: gpu.starts } : gpu, paths), paths, []) : callTree(data.profile, data.paths, run.regions);
    return weighted(own ? without(all, (region) => !run.regions[region] || isLibrary(run.regions[region])) : all, sums ? "time" : weight);
  }, [data, weight, own, gpu]);
  const below = useMemo(() => waitingBelow(tree), [tree]), causes = useMemo(() => causesBelow(tree), [tree]);
  const upside = useMemo(() => (invert ? inverted(tree) : null), [tree, invert]);
  const order = useMemo(() => (leftHeavy ? undefined : (node: Node) => run.regions[node.region]?.name ?? ""), [leftHeavy, run]);
  const because = (all: ByCause) => (causeWords(all) ? ` (${causeWords(all)})` : "");
  const estimated = gpu && "error" in gpu && gpu.error.some((one) => one > 0) ? "~" : "", visits = ofBytes ? (weight ? "blocks" : "times") : sampled ? "samples" : "visits";
  const nameOf = (region: number) => run.regions[region]?.name ?? more?.functions[region - run.regions.length] ?? BEYOND;
  const words = (node: Node) => `${estimated}${size(node.total)} (${percent(node.total, tree.total)})${node.visits > 0 ? ` · ${count(node.visits)} ${visits}` : ""}${gpu?.complete === false ? " · of the first calls only" : ofBytes ? " · whole run" : ""}`;
  const shared = {
    colourOf: (node: Node) => (node.region === NONE ? theme.nothing : run.regions[node.region] || !more ? timeline.styleOf(node.region) : timeline.colouring.styleOfHit(nameOf(node.region))),
    order, size, nameOf, sandwich: (node: Node) => choose({ ...choice, between: node.region }), controls: <Controls choice={choice} choose={choose} />,
  };
  if (sums && (error || loading)) return <div class="flame"><p class="line">{shared.controls}</p><Empty>{error?.message ?? "…"}</Empty></div>;
  if (between !== NONE) return <Sandwich tree={tree} between={between} words={words} {...shared} />;
  if (upside) return <Flame root={upside} words={words} waits={(node) => node.waiting} causes={(node) => node.causes} {...shared} />;
  const split = (node: Node) => `${words(node)} · own ${size(node.own)}${node.waiting > 0 && weight === "time" ? `, waiting ${duration(node.waiting)}${because(node.causes)}` : ""}`;
  return <Flame root={tree} words={split} waits={(node) => below.get(node) ?? 0} causes={(node) => causes.get(node) ?? NO_CAUSES} {...shared} />;
}

function Controls({ choice, choose }: { choice: Choice; choose: (choice: Choice) => void }) {
  const { run } = useOpened(), widths = widthsOf(run, useView().instant !== null);
  const box = (key: "invert" | "own" | "leftHeavy", words: string, title: string) =>
    <label title={title}><input type="checkbox" checked={choice[key]} onChange={(event) => choose({ ...choice, [key]: event.currentTarget.checked })} />{words}</label>;
  return (
    <span class="choices">
      {choice.between !== NONE && <button onClick={() => choose({ ...choice, between: NONE })}>all functions</button>}
      {widths.length > 1 && <label>width <select value={choice.weight} onChange={(event) => choose({ ...choice, weight: widths[event.currentTarget.selectedIndex][0] })}>{widths.map(([key, words]) => <option key={key} value={key}>{words}</option>)}</select></label>}
      {choice.between === NONE && box("invert", "invert", "Functions by their own time at the top, their callers below")}
      {box("own", "hide libraries", "Time of libraries counts for the functions that called them")}
      {box("leftHeavy", "left heavy", "The widest at the left; otherwise by name")}
      <SoughtField />
    </span>
  );
}

/** Calls are known, and start work on GPUs. */
const usesGpu = ({ metrics, outline }: Run): boolean => !outline && metrics.some(({ name }) => name === "gpu_time");

type Graph = Pick<Props<Node>, "size" | "nameOf" | "words" | "colourOf" | "order" | "sandwich" | "controls">;

/** A function with its callers above and its callees below, to any depth. */
function Sandwich({ tree, between, controls, ...graph }: Graph & { tree: Node; between: number }) {
  const { callers, callees, below, causes } = useMemo(() => {
    const callees = merged(tree, between);
    return { callers: inverted(tree, between).children[0] ?? callees, callees, below: waitingBelow(callees), causes: causesBelow(callees) };
  }, [tree, between]);
  return (
    <div class="sandwich">
      <Flame key={`up${between}`} root={callers} up waits={(node) => node.waiting} causes={(node) => node.causes} controls={controls} {...graph} />
      <Flame key={`down${between}`} root={callees} waits={(node) => below.get(node) ?? 0} causes={(node) => causes.get(node) ?? NO_CAUSES} {...graph} />
    </div>
  );
}

interface Props<N extends Node> {
  root: N;
  colourOf: (node: N) => string;
  words: (node: N) => string;
  /** The name of a region; absent: of the run. */
  nameOf?: (region: number) => string;
  /** A total as text; absent: a duration. */
  size?: (total: number) => string;
  /** The waiting part of a node's time. */
  waits?: (node: N) => number;
  /** The same by cause; nothing: not known. */
  causes?: (node: N) => ByCause;
  /** The root is at the bottom. */
  up?: boolean;
  /** Siblings in order of this; absent: the longest first. */
  order?: ((node: Node) => string) | undefined;
  /** Shows a function between callers and callees. */
  sandwich?: (node: Node) => void;
  controls?: ComponentChildren;
  legend?: ComponentChildren;
}

/** REQUIRES: children of a node have its type. */
export function Flame<N extends Node>({ root, colourOf, words, size = duration, nameOf: named, waits, causes, up = false, order, sandwich, controls, legend }: Props<N>) {
  const opened = useOpened();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [path, setPath] = useState<readonly number[]>([]);
  const [pointed, setPointed] = useState<Box | null>(null);
  const [width, setWidth] = useState(0);
  const sought = useSought();
  const top = descend(root, path);
  const boxes = useMemo(() => boxesOf(top, width ? 1 / width : 1, order), [top, width, order]);
  const lines = boxes.reduce((most, box) => Math.max(most, box.depth), 0) + 1;
  const placed = (depth: number) => (up ? lines - 1 - depth : depth);
  useEffect(() => {
    const observer = new ResizeObserver(() => setWidth(canvas.current?.clientWidth ?? 0));
    observer.observe(canvas.current!);
    return () => observer.disconnect();
  }, []);
  const nameOf = ({ region }: Node) => (region === NONE ? "all calls" : named?.(region) ?? opened.run.regions[region]?.name ?? BEYOND);
  const found = (node: Node) => sought.all || sought.keeps(nameOf(node), opened.run.regions[node.region]?.file ?? "");
  useEffect(() => draw(canvas.current!, boxes, opened, (box) => ({
    name: nameOf(box.node),
    y: placed(box.depth) * LINE, colour: found(box.node) ? colourOf(box.node as N) : opened.theme.nothing, pointed: box === pointed, waits: waits && found(box.node) ? waits(box.node as N) / box.node.total : 0,
    causes: causes ? causes(box.node as N) : NO_CAUSES,
  })), [boxes, pointed, width, opened.theme, sought, opened.timeline.colouring]);
  const at = (event: MouseEvent) => {
    const x = event.offsetX / width, line = Math.floor(event.offsetY / LINE);
    return boxes.find((box) => placed(box.depth) === line && x >= box.left && x < box.left + box.width) ?? null;
  };
  const zoomTo = (box: Box | null) => {
    if (!box) return;
    setPointed(null);
    setPath(box.node === top ? path.slice(0, -1) : [...path, ...pathTo(top, box.node)]);
  };
  const shown = pointed?.node ?? top;
  const sum = useMemo(() => (sought.all ? 0 : outermost(root, found)), [root, sought]);
  return (
    <div class="flame">
      <p class="line" aria-live="off">
        {path.length > 0 && <button onClick={() => setPath([])}>all</button>}
        {path.length > 0 && <button onClick={() => setPath(path.slice(0, -1))}>up</button>}
        {sandwich && path.length > 0 && top.region !== NONE && <button title="Callers above, callees below" onClick={() => sandwich(top)}>sandwich</button>}
        <b>{nameOf(shown)}</b>
        <span class="faint words">{words(shown as N)}{sum > 0 && !pointed ? ` · in boxes with this name: ${size(sum)} (${percent(sum, root.total)})` : ""}</span>
        {controls}
        {legend}
      </p>
      <div class="tablebox" {...scrolled("Flame graph. The same data are in the tab Call tree")}>
        <canvas ref={canvas} style={{ height: `${lines * LINE}px` }} aria-hidden="true"
          onMouseMove={(event) => setPointed(at(event))} onMouseLeave={() => setPointed(null)} onClick={(event) => zoomTo(at(event))} />
      </div>
    </div>
  );
}

/** The time of the outermost nodes that are found. */
function outermost(root: Node, found: (node: Node) => boolean): number {
  const nodes = [...root.children];
  let sum = 0;
  for (const node of nodes) {
    if (found(node)) sum += node.total;
    else nodes.push(...node.children);
  }
  return sum;
}

/** The node at the end of a path of regions, or the last one on it that exists. */
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

interface Look {
  readonly name: string;
  readonly y: number;
  readonly colour: string;
  readonly pointed: boolean;
  /** The waiting part, drawn above the rest. */
  readonly waits: number;
  /** Beside each other in that part, the largest first. */
  readonly causes: ByCause;
}

function draw(canvas: HTMLCanvasElement, boxes: readonly Box[], opened: Opened, look: (box: Box) => Look): void {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(canvas.clientHeight * ratio);
  const context = canvas.getContext("2d")!;
  context.scale(ratio, ratio);
  context.font = "11.5px system-ui, sans-serif";
  context.textBaseline = "middle";
  for (const box of boxes) drawBox(context, box, width, opened, look(box));
}

function drawBox(context: CanvasRenderingContext2D, box: Box, width: number, opened: Opened, { name, y, colour, pointed, waits, causes }: Look): void {
  const { run, theme } = opened, { waiting } = opened.timeline.colouring;
  const x = box.left * width, wide = box.width * width, seen = Math.max(0.6, wide - (wide > 2 ? 1 : 0)), tall = Math.round((LINE - 1) * Math.min(1, waits));
  context.fillStyle = colour;
  context.fillRect(x, y, seen, LINE - 1);
  const all = causes.reduce((sum, ticks) => sum + ticks, 0), order = all > 0 ? largestFirst(causes) : [0];
  let at = x;
  if (tall) for (const cause of order) {
    const part = all > 0 ? (seen * causes[cause]) / all : seen;
    context.fillStyle = striped(waiting[cause], theme);
    context.fillRect(at, y, part, tall);
    at += part;
  }
  if (pointed) {
    context.strokeStyle = theme.text;
    context.strokeRect(x + 0.5, y + 0.5, wide - 1.5, LINE - 2);
  }
  if (wide < 30) return;
  const region = run.regions[box.node.region];
  const text = cut(context, region ? shortName(region.name, region.module) : name, wide - 9);
  const under = new Set([...(tall < LINE - 4 ? [pixel(colour)] : []), ...(tall > 3 ? order.slice(0, 2).map((cause) => between(pixel(waiting[cause]), theme)) : [])]);
  const { colour: ink, rim } = textOver(under);
  if (rim) {
    context.strokeStyle = rim;
    context.lineWidth = 2.5;
    context.strokeText(text, x + 4, y + LINE / 2);
    context.lineWidth = 1;
  }
  context.fillStyle = ink;
  context.fillText(text, x + 4, y + LINE / 2);
}

function cut(context: CanvasRenderingContext2D, text: string, room: number): string {
  const width = context.measureText(text).width;
  return width <= room ? text : shortened(context, text, room, width);
}
