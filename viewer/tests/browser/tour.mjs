// A tour of a run in the browser for bench/view.py: how long the page takes to answer what a hand does.
//
// usage: node tour.mjs < ADDRESS
//
// Prints JSON: ms to the first complete picture, the steps of the tour, and the memory of the page in MB. Of each step, `answered`
// are the ms from the event to the picture with which all is there, `busy` those in which handlers and drawing ran. The tour
// is made twice: at first the page has nothing of what it comes to, then all that it keeps. `processors` are the ms of processor
// time that the page took for each turn.
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { showPage } from "./drawn.mjs";

const ZOOMS = 40, MOVES = 30, PAGES = 100;
const ROW = 22;

/** Runs before the page: counts what it waits for, and the time that its handlers and its drawing take. */
function watch() {
  const frames = new Set(), asked = new Set();
  const state = (globalThis.tour = { busy: 0, last: 0, depth: 0 });
  const timed = (run) => (...words) => {
    const begin = performance.now();
    state.depth++;
    try {
      return run(...words);
    } finally {
      // Components are drawn in microtasks that were queued meanwhile.
      if (--state.depth === 0) queueMicrotask(() => (state.last = performance.now(), state.busy += state.last - begin));
    }
  };
  const { requestAnimationFrame: request, cancelAnimationFrame: cancel, fetch: ask } = globalThis;
  globalThis.requestAnimationFrame = (draw) => {
    const id = request((time) => (frames.delete(id), timed(draw)(time)));
    frames.add(id);
    return id;
  };
  globalThis.cancelAnimationFrame = (id) => (frames.delete(id), cancel(id));
  globalThis.fetch = async (...words) => {
    const mine = {};
    asked.add(mine);
    try {
      const answer = await ask(...words);
      const body = await answer.arrayBuffer();
      return new Response(body, { status: answer.status, headers: answer.headers });
    } finally {
      asked.delete(mine);
    }
  };
  const pause = () => new Promise((resolve) => setTimeout(resolve, 0));
  /** Until nothing is on its way, twice in succession: an answer is read before it is drawn. */
  state.settled = async () => {
    for (let quiet = 0; quiet < 2;) {
      await pause();
      quiet = frames.size + asked.size ? 0 : quiet + 1;
    }
  };
  state.step = async (act) => {
    state.busy = 0;
    const begin = performance.now();
    timed(act)();
    await state.settled();
    return { answered: state.last - begin, busy: state.busy };
  };
}

/** The tour, in the page. */
async function walk({ zooms, moves, pages, row }) {
  const { step } = globalThis.tour, steps = [];
  const overlay = document.querySelector("canvas.overlay"), scroller = document.querySelector(".scroller");
  const { left, top, width } = overlay.getBoundingClientRect();
  const wheel = (options) => overlay.dispatchEvent(new WheelEvent("wheel", { bubbles: true, cancelable: true, clientX: left + width * 0.37, clientY: top + 40, ...options }));
  const key = (name) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
  const add = async (kind, act) => steps.push({ kind, ...(await step(act)) });
  for (let i = 0; i < zooms; i++) await add("zoom in", () => wheel({ ctrlKey: true, deltaY: -100 }));
  for (let i = 0; i < zooms / 2; i++) await add("zoom out", () => wheel({ ctrlKey: true, deltaY: 100 }));
  for (let i = 0; i < moves; i++) await add("move", () => wheel({ shiftKey: true, deltaY: width / 5 }));
  await add("everything", () => key("0"));
  const scroll = (to) => {
    scroller.scrollTop = to;
    scroller.dispatchEvent(new Event("scroll"));
  };
  for (let i = 1; i <= pages && scroller.scrollTop + scroller.clientHeight < scroller.scrollHeight; i++) await add("scroll", () => scroll(i * 10 * row));
  await add("scroll", () => scroll(0));
  return steps;
}

const address = readFileSync(0, "utf8").trim();
const browser = await chromium.launch({ executablePath: process.env.TIMELOOM_CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
page.setDefaultTimeout(120_000);
const problems = [];
page.on("pageerror", (error) => problems.push(error.message));
const session = await page.context().newCDPSession(page);
const memory = async () => {
  const { usedSize, backingStorageSize } = await session.send("Runtime.getHeapUsage");
  return (usedSize + backingStorageSize) / 1e6;
};
/** ms of the page's main thread, whatever else the machine does. */
const processor = async () => (await session.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value * 1000;

await session.send("Performance.enable", { timeDomain: "threadTicks" });
await page.addInitScript(watch);
await showPage(page);
await page.goto(address);
await page.waitForSelector(".gutter li");
await page.evaluate(() => globalThis.tour.settled());
const first = await page.evaluate(() => globalThis.tour.last);
const options = { zooms: ZOOMS, moves: MOVES, pages: PAGES, row: ROW };
const started = await processor();
const cold = await page.evaluate(walk, options);
const [most, between] = [await memory(), await processor()];
const warm = await page.evaluate(walk, options);
const processors = { cold: between - started, warm: (await processor()) - between };
const peak = Math.max(most, await memory());
await session.send("HeapProfiler.collectGarbage");
console.log(JSON.stringify({ first, cold, warm, processors, peak, held: await memory(), problems }));
await browser.close();
