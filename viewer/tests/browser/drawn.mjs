/** Shows the page that TIMELOOM_PAGE names in place of the server's: one that was built and is not in the program yet. */
export async function showPage(page) {
  const path = process.env.TIMELOOM_PAGE;
  if (path) await page.route((url) => url.protocol === "http:" && url.pathname === "/", (route) => route.fulfill({ path, contentType: "text/html" }));
}

/** Waits until the picture stays as it is. */
export async function drawn(page) {
  await page.waitForSelector(".gutter li");
  await page.evaluate(async () => {
    const canvas = document.querySelector(".pictures canvas");
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    for (let last = "", same = 0; same < 3;) {
      await frame();
      await new Promise((resolve) => setTimeout(resolve, 30));
      const now = canvas.toDataURL();
      same = now === last ? same + 1 : 0;
      last = now;
    }
  });
}
