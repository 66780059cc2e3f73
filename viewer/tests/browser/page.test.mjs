// The page with its generated run in a browser: mouse, keys, tables, colours, accessibility.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { drawn, fragment, open, texts } from "./open.mjs";

const AXE = readFileSync(fileURLToPath(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url)), "utf8");

const view = async (page) => ((await fragment(page)).match(/view=(\d+)-(\d+)/) ?? []).slice(1).map(Number);

/** A pixel of the picture as "r,g,b". */
const pixel = (page, x, y) => page.evaluate(([x, y]) => {
  const canvas = document.querySelector(".pictures canvas");
  return canvas.getContext("2d").getImageData(x, y, 1, 1).data.slice(0, 3).join();
}, [x, y]);

test("rows, title and losses are there", async () => {
  const { page, close } = await open();
  assert.equal(await page.title(), "plate.py -n 1000 – Timeloom");
  assert.deepEqual((await texts(page, ".gutter .name")).slice(0, 3), ["plate.py", "MainThread", "residual"]);
  assert.match(await page.locator(".losses").innerText(), /12 events could not be recorded/);
  await close();
});

test("the wheel zooms where the pointer is, Backspace goes back", async () => {
  const { page, close } = await open();
  const box = await page.locator(".overlay").boundingBox();
  const length = 1_520_000_000;
  const at = 0.25;
  await page.mouse.move(box.x + box.width * at, box.y + 60);
  await page.keyboard.down("Control");
  for (let i = 0; i < 5; i++) await page.mouse.wheel(0, -100);
  await page.keyboard.up("Control");
  const [begin, end] = await view(page);
  assert.ok(end - begin < length * 0.2);
  const whole = await page.evaluate(() => document.querySelector(".zooming .shownrange").textContent);
  assert.match(whole, /\+/);
  // Turns of the wheel in quick succession are one step; a slow machine has several.
  for (let i = 0; i < 5; i++) await page.keyboard.press("Backspace");
  assert.deepEqual(await view(page), []);
  await close();
});

test("keys zoom, move and show everything", async () => {
  const { page, close } = await open();
  for (const key of ["w", "w", "w"]) await page.keyboard.press(key);
  const [begin, end] = await view(page);
  await page.keyboard.press("d");
  const [later, laterEnd] = await view(page);
  assert.ok(later > begin && Math.abs(laterEnd - later - (end - begin)) <= 1);
  await page.keyboard.press("0");
  assert.deepEqual(await view(page), []);
  await close();
});

test("a drag selects a range, and the table is of it", async () => {
  const { page, close } = await open();
  const box = await page.locator(".overlay").boundingBox();
  await page.mouse.move(box.x + 200, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 400, box.y + 90, { steps: 4 });
  await page.mouse.up();
  await page.waitForSelector("tbody tr");
  assert.match(await fragment(page), /select=\d+-\d+,0&panel=functions/);
  assert.equal((await texts(page, "tbody th.name"))[0], "plate.Slab.relax");
  assert.match(await page.locator(".scope").innerText(), /1 of 47 rows/);
  await page.keyboard.press("Escape");
  assert.ok(!(await fragment(page)).includes("select"));
  await close();
});

test("the table of a range has just its calls", async () => {
  const { page, close } = await open("#select=0-50000000,0&panel=functions");
  await page.waitForSelector("tbody tr");
  assert.deepEqual((await texts(page, "tbody th.name")).sort(), ["__main__.<module>", "importlib._bootstrap._find_and_load"]);
  await close();
});

test("a click chooses a call, and arrows go from call to call", async () => {
  const { page, close } = await open("#view=300000000-310000000");
  const box = await page.locator(".overlay").boundingBox();
  await page.mouse.click(box.x + 500, box.y + 22 + 2 + 18 * 3 + 9);
  await page.waitForSelector(".call h2");
  assert.equal(await page.locator(".call h2").innerText(), "plate.Plate.step");
  const first = await fragment(page);
  await page.keyboard.press("ArrowRight");
  const second = await fragment(page);
  assert.notEqual(first, second);
  await page.keyboard.press("ArrowLeft");
  assert.match(await fragment(page), new RegExp(first.match(/call=[\d,]+/)[0]));
  await page.keyboard.press("ArrowDown");
  await page.waitForFunction(() => document.querySelector(".call h2").textContent === "plate.Slab.relax");
  await page.keyboard.press("ArrowUp");
  await page.waitForFunction(() => document.querySelector(".call h2").textContent === "plate.Plate.step");
  assert.match(await page.locator(".spoken").innerText(), /plate\.Plate\.step, .*depth 4, plate\.py › MainThread/);
  await close();
});

test("the same function: next, previous, longest", async () => {
  const { page, close } = await open("#view=300000000-310000000&call=0,300000000,3&panel=call");
  await page.waitForSelector(".call h2");
  const start = (await fragment(page)).match(/call=([\d,]+)/)[1];
  await page.keyboard.press(".");
  const next = (await fragment(page)).match(/call=([\d,]+)/)[1];
  assert.notEqual(next, start);
  await page.keyboard.press(",");
  assert.equal((await fragment(page)).match(/call=([\d,]+)/)[1], start);
  await page.keyboard.press("l");
  assert.notEqual((await fragment(page)).match(/call=([\d,]+)/)[1], start);
  await close();
});

test("finding by name and duration steps through the hits", async () => {
  const { page, close } = await open();
  await page.keyboard.press("/");
  await page.keyboard.type("wait > 900 us");
  await page.keyboard.press("Enter");
  await page.waitForSelector("tbody tr");
  const durations = await texts(page, "tbody td:nth-child(2)");
  assert.ok(durations.every((text) => / ms$/.test(text) || Number.parseFloat(text) >= 900));
  await page.locator(".scroller").focus();
  await page.keyboard.press("n");
  await page.keyboard.press("n");
  await page.waitForSelector("tr.chosen:nth-child(2)");
  await page.fill("#find", "/[/");
  await page.keyboard.press("Enter");
  await page.waitForSelector("[role=alert]");
  assert.match(await page.locator("[role=alert]").innerText(), /not a regular expression/);
  await close();
});

test("names with markup are text", async () => {
  const { page, close } = await open("#panel=functions&select=0-1500000000");
  await page.waitForSelector("tbody tr");
  assert.ok((await texts(page, "tbody th.name")).includes("service.render <b>page</b>"));
  assert.equal(await page.locator("tbody b").count(), 0);
  await close();
});

test("the picture is as high as what is seen, and scrolling shows the other rows", async () => {
  const { page, close } = await open("#rows=all", { viewport: { width: 1280, height: 500 } });
  const heights = () => page.evaluate(() => [".scroller", ".gutter", ".overlay"].map((part) => document.querySelector(part).clientHeight));
  const [seen, ...drawnHeights] = await heights();
  assert.deepEqual(drawnHeights, [seen, seen]);
  const first = await texts(page, ".gutter .name");
  await page.evaluate(() => { const { scrollHeight, clientHeight } = document.querySelector(".scroller"); if (scrollHeight <= 2 * clientHeight) throw new Error("too few rows"); });
  await page.locator(".scroller").evaluate((scroller) => { scroller.scrollTop = scroller.scrollHeight; });
  await drawn(page);
  const last = await texts(page, ".gutter .name");
  assert.equal(first[0], "plate.py");
  assert.ok(!last.includes("plate.py") && last.length > 0);
  assert.deepEqual(await heights(), [seen, seen, seen]);
  const picture = await page.evaluate(() => { const { top } = document.querySelector(".pictures canvas").getBoundingClientRect(); return top - document.querySelector(".scroller").getBoundingClientRect().top; });
  assert.equal(picture, 0);
  await close();
});

test("rows fold, unfold, are filtered, sorted and pinned", async () => {
  const { page, close } = await open("", { viewport: { width: 1280, height: 1600 } });
  await page.getByRole("button", { name: "Unfold Tasks" }).click();
  await page.fill("#filter", "Task-1");
  await drawn(page);
  assert.deepEqual(await texts(page, ".gutter .name"), ["service.py", "Tasks", "Task-1", ...Array.from({ length: 10 }, (_, i) => `Task-${i + 10}`)]);
  await page.fill("#filter", "no such row");
  await page.waitForSelector("text=No row has a name like this.");
  await page.fill("#filter", "");
  await page.selectOption(".controls select", "name");
  await page.getByRole("button", { name: "Pin Thread-3 (solve) to the top" }).click();
  await page.waitForSelector(".gutter .pinned >> text=Thread-3 (solve)");
  const link = await fragment(page);
  assert.match(link, /sort=name/);
  assert.match(link, /pinned=3/);
  await close();
});

test("calls have the colours of their functions, and time without calls has none", async () => {
  const { page, close } = await open("#view=300000000-310000000");
  const y = (depth) => 22 + 2 + 18 * depth + 9;
  const outer = await pixel(page, 1000, y(0)), thread = await pixel(page, 1000, y(1)), nothing = await pixel(page, 1000, y(11));
  assert.equal(new Set([outer, thread, nothing]).size, 3);
  assert.equal(nothing, "245,246,248");
  await page.getByRole("button", { name: "Dark colours" }).click();
  await drawn(page);
  assert.equal(await pixel(page, 1000, y(11)), "26,31,36");
  await close();
});

test("a flame graph is zoomed by a click", async () => {
  const { page, close } = await open("#panel=flame&select=300000000-310000000,0");
  const canvas = page.locator(".flame canvas");
  await canvas.click({ position: { x: 100, y: 19 * 3 + 8 } });
  assert.equal(await page.locator(".flame .line b").innerText(), "__main__.main");
  await page.getByRole("button", { name: "all", exact: true }).click();
  assert.equal(await page.locator(".flame .line b").innerText(), "all calls");
  await close();
});

test("one function: callers, durations, rows", async () => {
  const { page, close } = await open("#panel=functions&select=300000000-310000000,0");
  await page.locator(".tablebox").getByRole("button", { name: "plate.Slab.relax" }).click();
  await page.waitForSelector(".histogram tr");
  assert.equal(await page.locator(".function h2").innerText(), "plate.Slab.relax");
  assert.deepEqual((await texts(page, ".function th.name")).slice(0, 1), ["plate.Plate.step"]);
  assert.match(await fragment(page), /func=plate\.Slab\.relax&panel=function/);
  await close();
});

test("one function: its calls as dots, of which a click chooses one", async () => {
  const { page, close } = await open("#panel=function&func=plate.Slab.relax&select=300000000-310000000,0");
  const chart = page.locator(".visits canvas"), words = page.locator(".visits p").last();
  await chart.scrollIntoViewIfNeeded();
  assert.equal(await words.innerText(), "A click chooses a call.");
  await chart.press("ArrowRight");
  await page.waitForFunction(() => /^chosen: visit 1 /.test([...document.querySelectorAll(".visits p")].at(-1).innerText));
  assert.match(await fragment(page), /call=/);
  await chart.press("ArrowRight");
  await page.waitForFunction(() => /^chosen: visit 2 /.test([...document.querySelectorAll(".visits p")].at(-1).innerText));
  await page.selectOption(".visits select", "visit");
  const { width, height } = await chart.boundingBox();
  let found = "";
  for (let y = 2; y < height && !/^visit 1 /.test(found); y += 5) {
    await chart.hover({ position: { x: 6, y } });
    found = await words.innerText();
    if (/^visit 1 /.test(found)) await chart.click({ position: { x: 6, y } });
  }
  await page.mouse.move(1, 1);
  await page.waitForFunction(() => /^chosen: visit 1 /.test([...document.querySelectorAll(".visits p")].at(-1).innerText));
  assert.ok(width > 100);
  await close();
});

test("the lines of a function", async () => {
  const { page, close } = await open("#panel=source&func=plate.Slab.relax");
  await page.waitForSelector(".source tr.of");
  assert.deepEqual((await texts(page, ".source tr.of th")), ["39", "40", "41", "42"]);
  assert.equal(await page.locator(".source td b").count(), 0);
  assert.match(await page.locator(".source").innerText(), /plate.py:39 *The file was changed after this run[^]*# <b>no markup<\/b>/);
  assert.match(await page.locator(".source").innerText(), /Not known by line: work and waiting are measured for whole calls/);
  await page.keyboard.press("1");
  await page.locator(".tablebox").getByRole("button", { name: "work.factor" }).click();
  await page.keyboard.press("5");
  await page.waitForSelector("text=The lines of this function were not found");
  await close();
});

test("tasks that are not there at the same time share a row, and a click chooses their outermost call", async () => {
  const { page, close } = await open("#folded=0,1,2,3");
  await page.getByRole("button", { name: "Unfold Tasks" }).click();
  await page.waitForSelector(".row.lane");
  assert.deepEqual(await texts(page, ".row.lane .name"), ["40 tasks"]);
  const [lane, overlay] = [await page.locator(".row.lane").boundingBox(), await page.locator(".overlay").boundingBox()];
  await page.mouse.click(overlay.x + (overlay.width * 0.12) / 1.52 + 2, lane.y + 10);
  await page.waitForSelector(".call h2");
  assert.equal(await page.locator(".call h2").innerText(), "service.handle");
  await page.waitForSelector(".linked tbody tr");
  assert.deepEqual(await texts(page, ".linked tbody th"), ["created by", "awaited by"]);
  await close();
});

test("a picture and a table are saved", async () => {
  const { page, close } = await open();
  for (const [name, file] of [["Save picture (PNG)", "timeline.png"], ["Save picture (SVG)", "timeline.svg"], ["Save functions (CSV)", "functions.csv"]]) {
    await page.locator(".menu summary").click();
    const [saved] = await Promise.all([page.waitForEvent("download"), page.getByText(name).click()]);
    assert.equal(saved.suggestedFilename(), file);
    assert.ok(readFileSync(await saved.path()).length > 500);
  }
  await close();
});

test("a drawing has the rows, and few calls are a table", async () => {
  const { page, close } = await open("#view=300000000-301000000&marks=300500000:here%2520%253Cb%253E");
  const saved = async (name) => {
    await page.locator(".menu summary").click();
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByText(name).click()]);
    return readFileSync(await file.path(), "utf8");
  };
  const drawing = await saved("Save picture (SVG)");
  const words = await page.evaluate((text) => [...new DOMParser().parseFromString(text, "image/svg+xml").querySelectorAll("text")].map((node) => node.textContent), drawing);
  for (const word of ["plate.py -n 1000", "MainThread", "Plate.step", "1 here <b>"]) assert.ok(words.includes(word), word);
  const [head, first] = (await saved("Save calls that are shown (CSV)")).split("\r\n");
  assert.equal(head, "row,function,depth,begin_s,duration_s");
  assert.match(first, /^plate.py › MainThread,__main__.<module>,0,0,/);
  await close();
});

test("counters are rows with their least and most values", async () => {
  const { page, close } = await open();
  await page.waitForSelector(".row.counter");
  assert.deepEqual((await texts(page, ".row.counter .name"))[0], "residual");
  await drawn(page);
  const top = await page.evaluate(() => document.querySelector(".row.counter").offsetTop);
  const colours = await Promise.all(Array.from({ length: 46 }, (_, y) => pixel(page, 300, top + y)));
  assert.ok(colours.includes("11,98,176"), colours.join(" "));
  await close();
});

test("M marks the moment, with a note that the link has", async () => {
  const { page, close } = await open();
  const box = await page.locator(".overlay").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 60);
  await page.keyboard.press("m");
  await page.waitForFunction(() => document.activeElement.matches("input"));
  await page.keyboard.type("half of it");
  await page.keyboard.press("Enter");
  assert.match(await fragment(page), /marks=7[56]\d+%3Ahalf%2520of%2520it/);
  await page.getByRole("button", { name: "Remove mark 1" }).click();
  assert.ok(!(await fragment(page)).includes("marks="));
  await close();
});

test("the call tree folds with arrows", async () => {
  const { page, close } = await open("#panel=tree&select=300000000-310000000,0");
  await page.waitForSelector("tbody tr");
  const before_ = await page.locator("tbody tr").count();
  await page.locator("tbody button.fold").first().focus();
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1);
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.locator("tbody tr").count(), before_);
  await close();
});

test("two runs: rows of both, differences, and another alignment", async () => {
  const { page, close } = await open("?two#panel=functions");
  await page.waitForSelector("tbody tr");
  assert.deepEqual((await texts(page, ".row.process .name")).slice(0, 2), ["A: plate.py -n 1000", "plate.py"]);
  assert.match(await page.locator("tbody tr").first().innerText(), /−546 ms\s+0.79 ×\s+−546 ms\s+0 s[^]*plate.Slab.relax/);
  await page.fill(".comparison [name=func]", "service.handle");
  await page.fill(".comparison [name=n]", "3");
  await page.getByRole("button", { name: "Align", exact: true }).click();
  await page.waitForSelector("text=at the start");
  assert.match(await fragment(page), /align=3,service.handle/);
  await page.fill(".comparison [name=func]", "no.such");
  await page.getByRole("button", { name: "Align", exact: true }).click();
  assert.match(await page.locator(".comparison [role=alert]").innerText(), /Run A never calls no.such/);
  await page.getByRole("tab", { name: "Flame graph" }).click();
  await page.waitForSelector(".legend");
  await close();
});

test("nothing is cut off on a small window", async () => {
  const { page, close } = await open("#panel=functions", { viewport: { width: 640, height: 400 } });
  const wide = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth, document.querySelector(".timeline").clientHeight]);
  assert.ok(wide[0] <= wide[1], "the page is wider than the window");
  assert.ok(wide[2] >= 90);
  await close();
});

test("at 200 % zoom, the causes, the rows and the names of a table can be reached", async () => {
  const width = 640, height = 400, { page, close } = await open("#panel=functions", { viewport: { width, height }, deviceScaleFactor: 2 });
  const inside = async (found) => {
    await found.scrollIntoViewIfNeeded();
    const box = await found.boundingBox();
    return box.x >= 0 && box.x + box.width <= width && box.y >= 0 && box.y + box.height <= height;
  };
  await page.waitForSelector("tbody tr");
  for (const found of await page.locator(".legendbar ul.causes button, .zooming > button:not(.shownrange)").all()) assert.ok(await inside(found), await found.innerText());
  assert.ok(await inside(page.locator(".gutter .name").first()));
  const name = page.locator("tbody th.name").nth(3);
  assert.ok(await inside(name));
  assert.ok((await name.boundingBox()).width > 120);
  assert.ok(await page.locator(".tablebox").evaluate((table) => table.clientHeight > 150), "several lines of a table are seen at once");
  await close();
});

for (const [name, link] of [["tables", "#panel=functions"], ["tree", "#panel=tree"], ["flame graph", "#panel=flame"], ["a cause", "#rows=all&lit=waiting%20lock&panel=flame"], ["a call", "#call=0,300000000,3&panel=call"], ["hits", "#find=relax"], ["a function", "#panel=function&func=plate.Slab.relax"], ["source", "#panel=source&func=plate.Slab.relax"], ["memory at an instant", "?memory#panel=memory&held=47,800000000"], ["marks", "#marks=500000000:first;900000000:second&panel=marks"], ["messages", "#panel=messages"], ["two runs", "?two#panel=functions"], ["two runs' flame graph", "?two#panel=flame"]]) {
  for (const colorScheme of ["light", "dark"]) {
    test(`axe finds nothing wrong: ${name}, ${colorScheme}`, async () => {
      const { page, close } = await open(link, { colorScheme });
      await page.waitForSelector("tbody tr, .flame canvas");
      await page.evaluate((source) => { new Function(source)(); }, AXE).catch(() => page.addScriptTag({ content: AXE }));
      const found = await page.evaluate(async () => (await globalThis.axe.run(document)).violations.map((problem) => `${problem.id}: ${problem.nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`));
      assert.deepEqual(found, []);
      await close();
    });
  }
}
