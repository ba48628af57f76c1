// Opens pages in Chromium as their readers do, and prints what it finds as JSON.
// node pages.mjs CHROMIUM MODULES OUT PAGE…
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

const [chromium, modules, out, ...pages] = process.argv.slice(2);
const [wide, narrow] = [1200, 390];  // pixels, of a screen
const require = createRequire(pathToFileURL(join(modules, "package.json")));
const playwright = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

// Root cannot have the sandbox. Nothing is fetched in the background, so that no request is Chromium's own.
const flags = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
               "--disable-component-update", "--disable-sync"];
const browser = await playwright.chromium.launch({
  executablePath: chromium, headless: true, chromiumSandbox: process.getuid() !== 0, args: flags,
});

async function look(path, width, scheme) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme });
  const page = await context.newPage();
  const url = pathToFileURL(path).href;
  const found = { page: basename(path), width, scheme, messages: [], requests: [] };
  page.on("console", (message) => found.messages.push(message.text()));
  page.on("pageerror", (error) => found.messages.push(String(error)));
  page.on("request", (request) => { if (request.url() !== url) found.requests.push(request.url()); });
  await page.goto(url, { waitUntil: "load" });
  found.scroll_width = await page.evaluate(() => document.documentElement.scrollWidth);
  Object.assign(found, await judge(page));
  // Paper has the same width whatever the screen.
  if (width === wide) Object.assign(found, await print(page, `${basename(path)}-${scheme}.pdf`, scheme));
  await context.close();
  return found;
}

async function print(page, name, scheme) {
  await page.emulateMedia({ media: "print", colorScheme: scheme });
  const paper = await judgePaper(page);
  const margin = { top: "10mm", bottom: "10mm", left: "10mm", right: "10mm" };
  const pdf = await page.pdf({ path: join(out, name), format: "A4", margin, landscape: name.includes(".svg.") });
  return { paper, printed_pages: (pdf.toString("latin1").match(/\/Type\s*\/Page\b/g) || []).length };
}

// What stands beyond the edge of an A4 page with the margins below, where no one can scroll, and the colours there.
async function judgePaper(page) {
  await page.setViewportSize({ width: 718, height: 1047 });
  return page.evaluate(() => {
    const beyond = [...document.querySelectorAll("body *")].filter((one) => {
      const box = one.getBoundingClientRect();
      return box.width > 0 && box.right > document.documentElement.clientWidth + 1;
    });
    const body = getComputedStyle(document.body);
    const small = [...document.querySelectorAll("table")].map((one) => parseFloat(getComputedStyle(one).fontSize));
    return { beyond: beyond.map((one) => `${one.tagName} ${one.textContent.slice(0, 40)}`), background: body.backgroundColor,
             keeps_colours: body.printColorAdjust, smallest_letters: Math.min(...small) };
  });
}

// Accessibility, and which regions the keyboard reaches.
async function judge(page) {
  const regions = await page.locator("[tabindex='0']").count();
  const reached = new Set();
  for (let i = 0; i < regions; ++i) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(() => {
      const outline = getComputedStyle(document.activeElement).outlineStyle;
      return outline === "none" ? null : document.activeElement.getAttribute("aria-label");
    });
    if (focused) reached.add(`${i} ${focused}`);
  }
  await page.evaluate(axe);
  const results = await page.evaluate(() => window.axe.run(document));
  const violations = results.violations.map((one) => `${one.id}: ${one.nodes.length} × ${one.nodes[0].html}`);
  return { regions, reached: reached.size, violations };
}

const found = [];
for (const path of pages) {
  for (const width of [wide, narrow]) {
    for (const scheme of ["light", "dark"]) found.push(await look(path, width, scheme));
  }
}
await browser.close();
console.log(JSON.stringify(found));
