// Builds the page: every script and style in one HTML file, dist/index.html, which needs nothing else.
//
// usage: node build.mjs [--out FILE] [--demo] [--tests]
//
// --out     where to write the page instead
// --demo    with a generated run in it, to look at without a server
// --tests   bundles tests/*.test.ts into build/tests instead, for `node --test`
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { internalNames } from "./internal_names.mjs";

const here = dirname(fileURLToPath(import.meta.url));
// Bytes of the page that is installed, and of the demo, which also has the generator of its run.
const LARGEST_PAGE = 262_000;
const LARGEST_DEMO = LARGEST_PAGE + 10_000;

const common = { absWorkingDir: here, bundle: true, target: "es2022", jsx: "automatic", jsxImportSource: "preact", logLevel: "warning", charset: "utf8" };

async function text(entry, options = {}) {
  const result = await esbuild.build({ ...common, entryPoints: [entry], write: false, minify: true, ...options });
  return result.outputFiles[0].text.trim();
}

const hash = (content) => `'sha256-${createHash("sha256").update(content).digest("base64")}'`;

async function page(demo) {
  const script = (await text("src/main.tsx", { format: "iife", define: { DEMO: String(demo) }, legalComments: "none", mangleProps: new RegExp(`^(${internalNames(here).join("|")})$`) }))
    .replaceAll("</script", "<\\/script");
  const style = await text("src/style.css");
  const icon = "data:image/svg+xml," + encodeURIComponent(readFileSync(join(here, "src/icon.svg"), "utf8").trim());
  // The server sends the same policy as a header; here it also holds for the file that is mailed.
  const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; ` +
    "connect-src 'self'; img-src blob: data:; base-uri 'none'; form-action 'none'";
  return readFileSync(join(here, "src/index.html"), "utf8")
    .replace("@POLICY@", () => policy)
    .replace("@ICON@", () => icon)
    .replace("@STYLE@", () => style)
    .replace("@SCRIPT@", () => script);
}

async function tests() {
  const out = join(here, "build/tests");
  rmSync(out, { recursive: true, force: true });
  const entries = readdirSync(join(here, "tests")).filter((name) => name.endsWith(".test.ts") || name === "compare_sources.ts");
  await esbuild.build({
    ...common, entryPoints: entries.map((name) => `tests/${name}`), outdir: out, outExtension: { ".js": ".mjs" },
    platform: "node", format: "esm", define: { DEMO: "true" }, sourcemap: "inline",
  });
}

if (process.argv.includes("--tests")) {
  await tests();
} else {
  const out = process.argv.indexOf("--out");
  const file = out < 0 ? join(here, "dist/index.html") : process.argv[out + 1];
  const demo = process.argv.includes("--demo"), html = await page(demo);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, html);
  const bytes = Buffer.byteLength(html), largest = demo ? LARGEST_DEMO : LARGEST_PAGE;
  if (bytes > largest) {
    console.error(`The page has ${bytes} bytes, more than ${largest}`);
    process.exitCode = 1;
  }
  console.log(`${file}: ${bytes} bytes`);
}
