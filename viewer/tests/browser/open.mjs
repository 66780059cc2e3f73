// The page with its generated run in a browser.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { chromium } from "playwright-core";
import { drawn } from "./drawn.mjs";

export { drawn };

const PAGE = new URL("../../build/demo.html", import.meta.url).href;

let browser;
before(async () => { browser = await chromium.launch({ executablePath: process.env.TIMELOOM_CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] }); });
after(() => browser.close());

/** The page, drawn; `fragment` may have a query before it; problems that it tells the console fail the test at `close`. */
export async function open(fragment = "", options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
  page.setDefaultTimeout(60_000);
  const problems = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && !/willReadFrequently/.test(message.text()) && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  await page.goto(PAGE + fragment);
  await drawn(page);
  return { page, close: async () => { assert.deepEqual(problems, []); await page.close(); } };
}

export const fragment = (page) => page.evaluate(() => new Promise((resolve) => setTimeout(() => resolve(location.hash), 500)));
export const texts = (page, selector) => page.locator(selector).allTextContents();
