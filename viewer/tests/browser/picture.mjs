// Photographs the page in Chromium, for docs/images.
//
// usage: node picture.mjs < PICTURES
//
// PICTURES is a JSON list of {"address": "http://…/#t=…" or "file:///…", "fragment": what the address of the page says of what is
// shown, "file": "view.png", "width": 1240, "height": 740, "dark": false, "keys": "9", "hover": [x, y]}; all but address and file may be missing.
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { drawn, showPage } from "./drawn.mjs";

const REST = 400;  // ms until a pointer that rests is answered, and a table is there

const browser = await chromium.launch({ executablePath: process.env.TIMELOOM_CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
for (const { address, fragment = "", file, width = 1240, height = 740, dark = false, keys = "", hover } of JSON.parse(readFileSync(0, "utf8"))) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: dark ? "dark" : "light" });
  await showPage(page);
  await page.goto(address + (fragment && (address.includes("#") ? "&" : "#") + fragment));
  await drawn(page);
  for (const key of keys) await page.keyboard.press(key);
  if (keys) await drawn(page);
  if (hover) await page.mouse.move(...hover);
  await page.waitForTimeout(REST);
  await page.waitForSelector(".profile[aria-busy=true]", { state: "detached" });
  await drawn(page);
  await page.screenshot({ path: file });
  await page.close();
}
await browser.close();
