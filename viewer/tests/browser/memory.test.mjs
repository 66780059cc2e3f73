// Memory and samples in a browser: an instant that is clicked, its link, bytes and samples as flame graphs, estimates.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fragment, open, texts } from "./open.mjs";

const LENGTH = /in all/;
/** Milliseconds in which all ticks of a row are drawn. */
const MOST_WAITING = 20_000;

test("a click into the area of memory tells who holds it at this instant", async () => {
  const { page, close } = await open("?memory#rows=all&filter=Process+memory");
  const row = page.locator(".gutter .row", { hasText: "Process memory usage" }), area = await row.boundingBox(), rows = await page.locator(".overlay").boundingBox();
  await page.mouse.click(rows.x + rows.width / 2, area.y + area.height / 2);
  await page.waitForSelector('text="Memory" >> nth=0');
  assert.match((await texts(page, ".panel .line"))[0], LENGTH);
  const cells = await texts(page, ".panel tbody tr:first-child td");
  assert.match(cells[0], /^66\.7 %$/);
  assert.match(cells[1], /^~66\.\d MB$/);
  assert.deepEqual([cells[2], cells[3]], ["1.8 MB", "12"]);
  assert.equal(await page.locator(".panel tbody tr").count(), 2);
  const first = await fragment(page), [, time] = /held=\d+,(\d+)/.exec(first);
  await page.getByLabel("Later").click();
  const [, later] = /held=\d+,(\d+)/.exec(await fragment(page));
  assert.ok(Number(later) > Number(time));
  await close();

  const again = await open(`?memory${first}`);
  assert.deepEqual(await texts(again.page, ".panel tbody tr:first-child td"), cells);
  await again.page.getByLabel("Bytes").selectOption({ label: "allocated" });
  await again.page.waitForSelector("th:has-text('times')");
  assert.deepEqual(await texts(again.page, ".panel tbody tr:first-child td"), ["66.7 %", "60 MB", "12"]);
  await again.close();
});

test("bytes and samples are widths of the flame graph", async () => {
  const { page, close } = await open("?memory#panel=flame");
  const line = () => page.locator(".flame .line").first().innerText(), width = page.locator(".choices select");
  assert.deepEqual(await width.locator("option").allTextContents(), ["time", "work", "waiting", "sampled CPU time", "samples", "bytes allocated", "bytes held at the peak", "bytes held at the end"]);
  await width.selectOption({ label: "bytes held at the peak" });
  await page.waitForSelector("text=~180 MB");
  assert.match(await line(), /all calls\s+~180 MB \(100 %\)/);
  await width.selectOption({ label: "samples" });
  await page.waitForSelector("text=40 (100 %)");
  await width.selectOption({ label: "sampled CPU time" });
  await page.waitForSelector("text=800 ms");
  await page.getByLabel("invert").check();
  const canvas = await page.locator(".flame canvas").boundingBox();
  await page.mouse.move(canvas.x + 20, canvas.y + 28);
  assert.match(await line(), /libopenblas: dgemm_kernel\s+600 ms \(75\.0 %\) · 10 samples/);
  await close();
});

test("samples are ticks below the calls of their thread, and tell the function that they hit", async () => {
  const { page, close } = await open("?memory#rows=all&view=100000000-110000000");
  const row = await page.locator(".gutter .row", { hasText: "MainThread" }).first().boundingBox(), rows = await page.locator(".overlay").boundingBox();
  const y = row.y + row.height - 14, colours = () => page.evaluate(([at]) => {
    const canvas = document.querySelector(".pictures canvas"), ratio = canvas.width / canvas.clientWidth, line = canvas.getContext("2d").getImageData(0, Math.round(at * ratio), canvas.width, 1).data;
    return Array.from({ length: canvas.width }, (_, x) => line.slice(4 * x, 4 * x + 3).join());
  }, [y - rows.y]);
  const ticks = async () => {
    const line = await colours(), background = line.find((colour, x) => colour === line[x + 20] && colour === line[x + 40]);
    return { line, starts: line.flatMap((colour, x) => (colour !== background && (line[x - 1] ?? background) === background ? [x] : [])) };
  };
  let drawn = await ticks();
  for (const end = Date.now() + MOST_WAITING; drawn.starts.length !== 10 && Date.now() < end; drawn = await ticks()) await page.waitForTimeout(20);
  const { line, starts } = drawn;
  assert.equal(starts.length, 10, "one each millisecond");
  assert.equal(new Set(starts.map((x) => line[x])).size, 2, "a function of a library, and one of the program");
  await page.mouse.move(rows.x + starts[2], y);
  assert.match(await page.locator(".tooltip").innerText(), /libopenblas: dgemm_kernel\s+in .*relax\s+.*plate\.py:41\s+sample at .* s, 1\.00 ms of CPU time/);
  await page.mouse.click(rows.x + starts[2], y);
  await page.waitForSelector("text=plate.Slab.relax >> nth=0");
  assert.match(await fragment(page), /panel=function/);
  await close();
});

test("estimated times have a mark in the table of functions", async () => {
  const { page, close } = await open("?memory#panel=functions&only=relax");
  await page.waitForSelector("td:has-text('~500 ms')");
  const row = page.locator(".panel tbody tr").first();
  assert.equal((await texts(page, ".panel tbody td.number:has-text('~')")).length, 1);
  assert.match(await row.innerText(), /plate\.Slab\.relax/);
  assert.match(await row.locator("td span", { hasText: "~500 ms" }).getAttribute("title"), /± 4\.00 ms/);
  await row.locator("button.link").click();
  await page.waitForSelector("text=total 500 ms · own ~500 ms ± 4.00 ms");
  await close();
});

test("estimated times have the same mark in the call tree and in the table of modules", async () => {
  for (const panel of ["tree", "modules"]) {
    const { page, close } = await open(`?memory#panel=${panel}`);
    await page.waitForSelector(".panel td:has-text('~')");
    assert.match(await page.locator(".panel td.number span[title]", { hasText: "~" }).first().getAttribute("title"), /± 4\.00 ms, estimated from samples: calls were left out for --overhead/);
    await close();
  }
});

test("without memory there is no tab for it", async () => {
  const { page, close } = await open();
  assert.ok(!(await texts(page, "[role=tab]")).includes("Memory"));
  await close();
});
