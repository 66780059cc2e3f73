// The flame graph in a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { open } from "./open.mjs";

test("the flame graph: inverted, without libraries, by waiting, and one function between callers and callees", async () => {
  const { page, close } = await open("#panel=flame");
  await page.waitForSelector(".flame canvas");
  const line = () => page.locator(".flame .line").first().innerText();
  assert.match(await line(), /all calls\s+6\.\d+ s/);
  await page.locator(".choices select").selectOption("waiting");
  assert.match(await line(), /all calls\s+[12]\.\d+ s/);
  await page.locator(".choices select").selectOption("time");
  await page.getByLabel("invert").check();
  const canvas = await page.locator(".flame canvas").boundingBox();
  await page.mouse.move(canvas.x + 20, canvas.y + 28);
  assert.match(await line(), /plate\.Slab\.relax/);
  await page.mouse.click(canvas.x + 20, canvas.y + 28);
  await page.getByRole("button", { name: "sandwich" }).first().click();
  assert.equal(await page.locator(".sandwich canvas").count(), 2);
  assert.deepEqual(await page.locator(".sandwich b").allTextContents(), ["plate.Slab.relax", "plate.Slab.relax"]);
  await page.getByRole("button", { name: "all functions" }).click();
  await page.locator(".flame .sought").fill("relax");
  await page.waitForSelector("text=in boxes with this name");
  await close();
});
