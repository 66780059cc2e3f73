// Messages above the rows, and rows that are moved.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fragment, open, texts } from "./open.mjs";

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
