// The first sight: rows that fit, folding, colours and their legend, names; and the search, links and exports.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { drawn, fragment, open, texts } from "./open.mjs";

const names = (page) => texts(page, ".gutter .name");
/** The height that the rows take, and the height of their window. */
const heights = (page) => page.evaluate(() => [document.querySelector(".space").style.height, document.querySelector(".scroller").clientHeight].map((text) => parseFloat(text)));

test("all processes are there at first sight, in windows of any size", async () => {
  for (const viewport of [{ width: 1400, height: 900 }, { width: 800, height: 600 }]) {
    const { page, close } = await open("", { viewport });
    const shown = await names(page);
    for (const name of ["plate.py", "ForkPoolWorker-1", "ForkPoolWorker-2", "service.py"]) assert.ok(shown.includes(name), `${name} of ${shown}`);
    const [rows, window] = await heights(page);
    assert.ok(rows <= window, `${rows} ${window}`);
    await close();
  }
});

test("keys unfold all rows, fold them, and unfold what fits", async () => {
  const { page, close } = await open("", { viewport: { width: 1280, height: 700 } });
  const open_ = () => page.locator(".row [aria-expanded=true]").count();
  const first = await open_();
  await page.keyboard.press("u");
  await drawn(page);
  assert.ok((await heights(page))[0] > 1000);
  assert.match(await fragment(page), /rows=all/);
  await page.keyboard.press("c");
  await drawn(page);
  assert.deepEqual([await open_(), await names(page)], [0, ["plate.py", "service.py"]]);
  await page.getByRole("button", { name: "Fit the rows" }).click();
  await drawn(page);
  assert.equal(await open_(), first);
  assert.ok(!(await fragment(page)).includes("rows="));
  await close();
});

test("the names get room by dragging or by keys, and keep their ends", async () => {
  const { page, close } = await open();
  const width = () => page.locator(".gutter").evaluate((gutter) => gutter.offsetWidth);
  const border = page.getByRole("separator", { name: "Width of the names" }), box = await border.boundingBox();
  await page.mouse.move(box.x + 3, box.y + 300);
  await page.mouse.down();
  await page.mouse.move(120, box.y + 300, { steps: 3 });
  await page.mouse.up();
  await drawn(page);
  assert.ok(Math.abs((await width()) - 120) <= 4);
  const tail = page.locator(".gutter li:has-text('ForkPoolWorker-2') .tail");
  const [inner, outer] = [await tail.boundingBox(), await page.locator(".gutter").boundingBox()];
  assert.ok((await tail.innerText()).endsWith("-2") && inner.x + inner.width <= outer.x + outer.width);
  await border.focus();
  const before = await width();
  await page.keyboard.press("ArrowRight");
  await drawn(page);
  assert.ok((await width()) > before);
  await close();
});

test("the legend selects, and colours are by module when that is chosen", async () => {
  const { page, close } = await open();
  const picture = () => page.evaluate(() => document.querySelector(".pictures canvas").toDataURL());
  const plain = await picture();
  await page.locator(".legendbar > ul button").first().click();
  await drawn(page);
  assert.notEqual(await picture(), plain);
  assert.match(await fragment(page), /lit=plate\.Slab\.relax/);
  await page.locator(".legendbar > ul button").first().click();
  await drawn(page);
  assert.equal(await picture(), plain);
  await page.getByLabel("Colours by").selectOption("module");
  await drawn(page);
  assert.match(await fragment(page), /colours=module/);
  assert.ok((await texts(page, ".legendbar > ul li")).includes("plate"));
  await page.getByLabel("Colours by").selectOption("rank");
  assert.deepEqual(await texts(page, ".legendbar > ul li"), ["plate.py", "ForkPoolWorker-1", "ForkPoolWorker-2", "service.py"]);
  await close();
});

test("nonsense is not understood, and the next good search takes the message away", async () => {
  const { page, close } = await open();
  await page.locator("#find").fill("> 5 bananas");
  await page.keyboard.press("Enter");
  assert.match(await page.locator(".problem").innerText(), /is not understood/);
  await page.locator("#find").fill("relax > 2 ms");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".hits");
  assert.equal(await page.locator(".problem").count(), 0);
  await close();
});

test("of more hits than are listed, the strip shows how many there are where", async () => {
  const { page, close } = await open();
  const blue = () => page.evaluate(() => {
    const canvas = document.querySelector("canvas.overview"), { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, 10);
    let count = 0;
    for (let i = 0; i < data.length; i += 4) if (data[i] < 30 && data[i + 2] > 150) count++;
    return count;
  });
  await page.locator("#find").fill("stack");
  await page.keyboard.press("Enter");
  await page.waitForSelector("text=1000+");
  await page.waitForTimeout(1500);
  await drawn(page);
  assert.ok((await blue()) > 2000, String(await blue()));
  await close();
});

test("the filter of rows filters the table", async () => {
  const { page, close } = await open("#panel=functions");
  await page.waitForSelector("tbody tr");
  assert.match(await page.locator(".scope").innerText(), /all 47 rows/);
  await page.locator("#filter").fill("ForkPool");
  await page.waitForFunction(() => /2 of 47 rows/.test(document.querySelector(".scope").innerText));
  await page.waitForFunction(() => document.querySelectorAll("tbody th.name").length === 4);
  assert.deepEqual((await texts(page, "tbody th.name")).sort(), ["multiprocessing.pool.worker", "threading.Condition.wait", "work.factor", "work.task"]);
  await close();
});

test("a link that is pasted into the open page acts, and nothing of before stays", async () => {
  const { page, close } = await open("#filter=service&colours=module");
  await page.evaluate(() => { location.hash = "#view=300000000-330000000&panel=tree&folded=0"; });
  await page.waitForSelector("[role=treegrid]");
  await drawn(page);
  assert.match(await fragment(page), /view=300000000-330000000&panel=tree&folded=0$/);
  assert.ok((await names(page)).includes("plate.py"));
  await close();
});

test("the relations in the tab Call are the relations of the call", async () => {
  const { page, close } = await open();
  const links = async (hash) => {
    await page.evaluate((next) => { location.hash = next; }, hash);
    await page.waitForSelector(".call .stack");
    await page.waitForTimeout(300);
    return page.locator(".linked tbody tr").count();
  };
  const all = await links("#call=6,100000000,0&panel=call");
  const one = await links("#call=6,100000000,1&panel=call");
  assert.ok(all >= 40 && one < 3, `${all} ${one}`);
  await close();
});

test("the names of a table are in a window of 400 pixels", async () => {
  const { page, close } = await open("#panel=functions", { viewport: { width: 400, height: 700 } });
  await page.waitForSelector("tbody tr");
  const { x, width } = await page.locator("tbody th.name").first().boundingBox();
  assert.ok(x >= 0 && width > 120 && x + width <= 400, `${x} ${width}`);
  await close();
});

test("the drawing has all rows, the waiting, and its title above the time axis", async () => {
  const { page, close } = await open("#rows=all", { viewport: { width: 1000, height: 500 } });
  const [rows, window] = await heights(page);
  assert.ok(rows > 2 * window);
  await page.locator(".menu summary").click();
  const waiting = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save picture (SVG)" }).click();
  const svg = readFileSync(await (await waiting).path(), "utf8");
  assert.ok(Number(/height="(\d+)"/.exec(svg)[1]) >= rows);
  for (const name of ["MainThread", "Thread-3 (solve)", "ForkPoolWorker-2", "service.py"]) assert.ok(svg.includes(`>${name.replace("(", "(")}<`), name);
  assert.ok(svg.includes(">Slab.relax<") || svg.includes(">Sla"), "labels");
  const [title, tick] = [/y="([\d.]+)"[^>]*>plate.py -n 1000</.exec(svg), /<svg x="200" y="(\d+)"/.exec(svg)];
  assert.ok(Number(title[1]) < Number(tick[1]));
  // Condition.wait waits for a lock nearly all of its time, and is known to do so.
  assert.ok(svg.includes('fill="#f5ebb8"'));
  assert.match(svg, /<path d="M[^"]+L[^"]+" fill="none"/, "arrows of messages");
  await close();
});

test("the legend has the causes of waiting, the most first, and selects one", async () => {
  const { page, close } = await open("#rows=all", { viewport: { width: 1400, height: 900 } });
  const causes = page.locator(".legendbar ul.causes button");
  await causes.first().waitFor();
  assert.deepEqual([...(await texts(page, ".legendbar ul.causes li"))].sort(), ["I/O", "gil", "lock", "message"]);
  assert.match(await causes.first().getAttribute("title"), /^waiting for: .*% of all waiting/);
  const count = (colours) => page.evaluate((colours) => {
    const canvas = document.querySelector(".pictures canvas"), { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const counts = colours.map(() => 0);
    for (let at = 0; at < data.length; at += 4) {
      const found = colours.indexOf(data.slice(at, at + 3).join());
      if (found >= 0) counts[found]++;
    }
    return counts;
  }, colours);
  const [stripes, between] = await count(["238,221,136", "245,235,184"]);
  assert.ok(stripes > 100 && between > 2 * stripes, `waiting for a lock is striped: ${stripes} ${between}`);
  const lock = page.locator(".legendbar ul.causes button", { hasText: "lock" });
  await lock.click();
  assert.equal(await lock.getAttribute("aria-pressed"), "true");
  assert.match(await fragment(page), /lit=waiting/);
  await lock.click();
  assert.equal(await lock.getAttribute("aria-pressed"), "false");
  await close();
});

test("a chosen call stays in sight when the panel opens, and in a low window the panel comes into sight", async () => {
  for (const height of [620, 430]) {
    const { page, close } = await open("#view=300000000-330000000&rows=all", { viewport: { width: 1280, height } });
    const seen = await page.locator(".scroller").boundingBox(), x = seen.x + 700;
    // The lowest line of the rows that has a call there.
    for (let y = Math.min(seen.y + seen.height, height) - 8; y > seen.y && (await page.locator(".call h2").count()) === 0; y -= 9) {
      await page.mouse.click(x, y);
      await page.waitForTimeout(150);
    }
    await page.waitForSelector(".call h2");
    await drawn(page);
    const [title, rows, place] = await Promise.all([page.locator(".call h2").boundingBox(), page.locator(".scroller").boundingBox(), page.evaluate(() => {
      const canvas = document.querySelector(".overlay"), { data, width, height } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const lines = [];
      for (let y = 0; y < height; y++) {
        let marked = 0;
        for (let x = 0; x < width; x++) if (data[(y * width + x) * 4 + 3] > 200) marked++;
        if (marked > 20) lines.push(y / devicePixelRatio);
      }
      return lines;
    })]);
    assert.ok(title.y > 0 && title.y + title.height < height, `the call's name is in the window: ${title.y} of ${height}`);
    assert.ok(place.some((y) => rows.y + y > 0 && rows.y + y + 10 < Math.min(height, rows.y + rows.height)), "the call is marked in the rows that are seen");
    await close();
  }
});
