// Messages above the rows, and rows that are moved.
import assert from "node:assert/strict";
import { test } from "node:test";
import { drawn, fragment, open, texts } from "./open.mjs";

/** How many pixels above the rows are drawn upon. */
const drawnUpon = (page) => page.evaluate(() => {
  const canvas = document.querySelector("canvas.overlay");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return data.filter((value, i) => i % 4 === 3 && value > 30).length;
});

test("messages: a matrix, a list whose entries choose their arrows, and a key that hides them", async () => {
  const { page, close } = await open("#panel=messages&view=300000000-330000000");
  await page.waitForSelector(".matrix tbody tr");
  assert.deepEqual(await texts(page, ".matrix thead th"), ["from ↓ to →", "plate.py"]);
  await page.locator(".messages section:nth-child(2) tbody button").first().click();
  assert.equal(await page.locator(".messages tr.chosen").count(), 1);
  await page.waitForTimeout(600);
  const shown = await drawnUpon(page);
  await page.locator(".scroller").focus();
  await page.keyboard.press("x");
  assert.match(await fragment(page), /messages=off/);
  assert.ok((await drawnUpon(page)) < shown / 2);
  await close();
});

test("nothing of the messages is cut, in a wide window and in a narrow one", async () => {
  for (const width of [1240, 800]) {
    const { page, close } = await open("#panel=messages&view=300000000-330000000", { viewport: { width, height: 800 } });
    await page.waitForSelector(".messages section:nth-child(3) tbody tr");
    const cut = await page.evaluate(() => [...document.querySelectorAll(".messages, .messages section")].filter((box) => box.scrollWidth > box.clientWidth).length);
    assert.equal(cut, 0);
    await close();
  }
});

/** How many pixels of the upper part of a canvas are about as blue as what is chosen. */
const accented = (page, selector, height) => page.evaluate(([selector, height]) => {
  const canvas = document.querySelector(selector);
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, height);
  let count = 0;
  for (let i = 0; i < data.length; i += 4) if (data[i + 2] > data[i] + 80 && data[i + 3] > 100) count++;
  return count;
}, [selector, height]);

test("the links of a chosen task are arrows", async () => {
  const { page, close } = await open("#folded=0,1,2,3");
  await page.getByRole("button", { name: "Unfold Tasks" }).click();
  await page.waitForSelector(".row.lane");
  const [lane, overlay] = [await page.locator(".row.lane").boundingBox(), await page.locator(".overlay").boundingBox()];
  await page.mouse.click(overlay.x + (overlay.width * 0.12) / 1.52 + 2, lane.y + 10);
  await page.waitForSelector(".linked tbody tr");
  await page.mouse.move(overlay.x + 5, overlay.y - 30);
  await drawn(page);
  const above = Math.floor(lane.y - overlay.y) - 2;
  const withArrows = await accented(page, "canvas.overlay", above);
  await page.locator(".scroller").focus();
  await page.keyboard.press("Escape");
  await drawn(page);
  assert.equal(await accented(page, "canvas.overlay", above), 0);
  assert.ok(withArrows > 20, `${withArrows} pixels`);
  await close();
});

test("the edges of a selection are dragged, also beyond each other, and its rows stay", async () => {
  const { page, close } = await open("#select=380000000-760000000,0&panel=functions");
  const { x, y, width } = await page.locator(".overlay").boundingBox();
  const at = (part) => x + part * width;
  const drag = async (from, to) => {
    await page.mouse.move(at(from), y + 60);
    assert.equal(await page.locator(".overlay").evaluate((canvas) => canvas.style.cursor), "ew-resize");
    await page.mouse.down();
    await page.mouse.move(at(to), y + 80, { steps: 5 });
    await page.mouse.up();
    const [, begin, end, tracks] = (await fragment(page)).match(/select=(\d+)-(\d+)(,[\d,]+)?/);
    assert.equal(tracks, ",0");
    return [begin, end].map((time) => Number(time) / 1_520_000_000);
  };
  const near = (range, begin, end) => assert.ok(Math.abs(range[0] - begin) < 0.002 && Math.abs(range[1] - end) < 0.002, range.join());
  near(await drag(0.25, 0.1), 0.1, 0.5);
  near(await drag(0.5, 0.7), 0.1, 0.7);
  near(await drag(0.1, 0.9), 0.7, 0.9);
  await close();
});

test("a selection that Escape drops while its edge is dragged stays dropped", async () => {
  const { page, close } = await open("#select=380000000-760000000,0&panel=functions");
  const problems = [];
  page.on("pageerror", (error) => problems.push(error.message));
  const { x, y, width } = await page.locator(".overlay").boundingBox();
  await page.mouse.move(x + 0.25 * width, y + 60);
  await page.mouse.down();
  await page.mouse.move(x + 0.2 * width, y + 60, { steps: 3 });
  await page.keyboard.press("Escape");
  await page.mouse.move(x + 0.1 * width, y + 60, { steps: 3 });
  await page.mouse.up();
  await drawn(page);
  assert.deepEqual(problems, []);
  assert.doesNotMatch(await fragment(page), /select=/);
  await close();
});

test("how long a selection is stands above it", async () => {
  const { page, close } = await open("#select=300000000-700000000&panel=functions");
  await drawn(page);
  assert.ok((await accented(page, ".axis canvas", 25)) > 20);
  await page.keyboard.press("Escape");
  await drawn(page);
  assert.equal(await accented(page, ".axis canvas", 25), 0);
  await close();
});

test("tables and the call tree are left with what has a name", async () => {
  const { page, close } = await open("#select=300000000-310000000,0&panel=functions");
  await page.waitForSelector("tbody tr");
  const all = await texts(page, "tbody th.name");
  await page.fill(".sought", "plate.Slab");
  const some = all.filter((name) => name.includes("plate.Slab"));
  assert.ok(some.length > 0 && some.length < all.length);
  assert.deepEqual(await texts(page, "tbody th.name"), some);
  assert.match(await page.locator(".tablebox .empty").innerText(), new RegExp(`^${some.length} of ${all.length} functions: own .*, [0-9.]+ % of all$`));
  assert.match(await fragment(page), /only=plate\.Slab/);
  await page.getByRole("tab", { name: "Call tree" }).click();
  await page.waitForSelector("[role=treegrid] tbody tr");
  const tree = (await texts(page, "tbody th.name")).map((name) => name.replace(/^[▾▸]/, ""));
  assert.equal(tree[0], "__main__.<module>");
  assert.ok(some.every((name) => tree.includes(name)));
  await page.fill(".sought", "/[/");
  assert.match(await page.locator(".tablebox .empty").innerText(), /not a regular expression/);
  await page.fill(".sought", "no such name");
  assert.equal(await page.locator(".tablebox .empty").innerText(), "Nothing here has a name like this.");
  await close();
});

test("rows are moved by keys and by dragging, and the link has their places", async () => {
  const { page, close } = await open();
  const threads = async () => (await texts(page, ".row.location .name")).slice(0, 4);
  await page.getByRole("button", { name: "Pin Thread-1 (solve) to the top" }).focus();
  await page.keyboard.press("Alt+ArrowUp");
  assert.match(await fragment(page), /moved=1,0/);
  assert.deepEqual((await threads()).slice(0, 2), ["Thread-1 (solve)", "MainThread"]);
  await page.dragAndDrop(".row:has-text('Thread-2') .name", ".row:has-text('Thread-1') .name");
  assert.match(await fragment(page), /moved=1,1,2,0/);
  assert.deepEqual((await threads()).slice(0, 3), ["Thread-2 (solve)", "Thread-1 (solve)", "MainThread"]);
  await page.selectOption(".controls select", "name");
  assert.ok(!(await fragment(page)).includes("moved"));
  await close();
});
