// The page in Firefox: a run from its server and inside a file, and the generated run in each of its panels.
//
// TIMELOOM_FIREFOX is the browser; scripts/pages/viewer.py records a run, and says in TIMELOOM_PAGES where it is and which
// function is the first of its report: {"server": URL, "file": PATH, "name": "…", "visits": 7}.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const DEMO = new URL("../build/demo.html", import.meta.url).href;
const { server, file, name, visits } = JSON.parse(process.env.TIMELOOM_PAGES);
const PATIENCE = 120_000;

let browser;
before(async () => { browser = await puppeteer.launch({ browser: "firefox", executablePath: process.env.TIMELOOM_FIREFOX, headless: true, timeout: PATIENCE, protocolTimeout: PATIENCE }); });
after(() => browser.close());

/** The page with rows; what it tells the console fails the test at `close`. */
async function open(address, size = { width: 1280, height: 800 }) {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE);
  const problems = [];
  page.on("console", (message) => ["error", "warn"].includes(message.type()) && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  await page.setViewport(size);
  await page.goto(address);
  await page.waitForSelector(".gutter li");
  return { page, close: async () => { assert.deepEqual(problems, []); await page.close(); } };
}

const words = (page, selector) => page.$eval(selector, (element) => element.textContent);

/** The text of the first row below a heading. */
const cell = (page, heading) => page.evaluate((wanted) => {
  const headings = [...document.querySelectorAll(".tablebox thead th")].map((one) => one.textContent.trim().toLowerCase());
  const column = headings.findIndex((one) => one.startsWith(wanted));
  return document.querySelector(".tablebox tbody tr").children[column]?.textContent ?? `no column of ${headings}`;
}, heading);

/** How many different colours the picture has. */
const colours = (page) => page.evaluate(() => {
  const canvas = document.querySelector(".pictures canvas");
  return new Set(new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size;
});

async function untilDrawn(page) {
  for (let left = 200; left > 0; left--) {
    if ((await colours(page)) > 4) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail("nothing is drawn");
}

for (const [place, address] of [["its server", server], ["a file", pathToFileURL(file).href]]) {
  test(`a run from ${place} has rows, a picture and the table of its report`, async () => {
    const { page, close } = await open(address);
    await untilDrawn(page);
    assert.match(await words(page, ".gutter"), /MainThread/);
    await page.keyboard.press("1");
    await page.waitForSelector(".tablebox tbody tr");
    assert.equal((await words(page, ".tablebox tbody th.name")).trim(), name);
    assert.equal(Number((await cell(page, "visits")).replace(/\D/g, "")), visits);
    await close();
  });
}

test("each panel is there", async () => {
  const { page, close } = await open(`${DEMO}#view=300000000-330000000&call=0,300000000,3&panel=call`);
  await untilDrawn(page);
  const names = await page.$$eval("[role=tab]", (tabs) => tabs.map((tab) => tab.textContent));
  for (const [i, name] of names.entries()) {
    await page.evaluate((at) => document.querySelectorAll("[role=tab]")[at].click(), i);
    await page.waitForFunction((at) => document.querySelectorAll("[role=tab]")[at].ariaSelected === "true", {}, i);
    await page.waitForFunction(() => document.querySelector(".panel .content > *:not(.empty), .panel .content > p")?.textContent.length > 1, {}, name);
  }
  assert.ok(names.includes("Messages") && names.includes("Flame graph"));
  await close();
});

test("the wheel zooms, a drag selects, a click chooses a call", async () => {
  const { page, close } = await open(DEMO);
  await untilDrawn(page);
  const box = await (await page.$(".overlay")).boundingBox();
  const shown = () => words(page, ".shownrange");
  const before = await shown();
  await page.mouse.move(box.x + 300, box.y + 60);
  await page.keyboard.down("Control");
  await page.mouse.wheel({ deltaY: -300 });
  await page.keyboard.up("Control");
  await page.waitForFunction((old) => document.querySelector(".shownrange").textContent !== old, {}, before);
  await page.keyboard.press("0");
  await page.mouse.move(box.x + 200, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 400, box.y + 90, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction(() => document.querySelector(".tablebox tbody th.name")?.textContent.trim() === "plate.Slab.relax");
  await page.goto(`${DEMO}#view=300000000-310000000`);
  await page.reload();
  await page.waitForSelector(".gutter li");
  await untilDrawn(page);
  await page.mouse.click(box.x + 500, box.y + 22 + 2 + 18 * 3 + 9);
  await page.waitForSelector(".call h2");
  await close();
});
