// Opens pages in Chromium as their readers do, and prints what it finds as JSON.
// node pages.mjs CHROMIUM MODULES OUT PAGE…
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

const [chromium, modules, out, ...pages] = process.argv.slice(2);
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
  await page.screenshot({ path: join(out, `${basename(path)}-${width}-${scheme}.png`), fullPage: true });
  Object.assign(found, await judge(page));
  await page.emulateMedia({ media: "print", colorScheme: scheme });
  found.paper = await judgePaper(page);
  const margin = { top: "10mm", bottom: "10mm", left: "10mm", right: "10mm" };
  const pdf = await page.pdf({ path: join(out, `${basename(path)}-${width}-${scheme}.pdf`), format: "A4", margin,
                               landscape: path.includes(".svg.") });
  found.printed_pages = (pdf.toString("latin1").match(/\/Type\s*\/Page\b/g) || []).length;
  await context.close();
  return found;
}

// What stands beyond the edge of an A4 page with the margins below, where no one can scroll, and the colours there.
async function judgePaper(page) {
  const viewport = page.viewportSize();
  await page.setViewportSize({ width: 718, height: 1047 });
  const paper = await page.evaluate(() => {
    const beyond = [...document.querySelectorAll("body *")].filter((one) => {
      const box = one.getBoundingClientRect();
      return box.width > 0 && box.right > document.documentElement.clientWidth + 1;
    });
    const body = getComputedStyle(document.body);
    const small = [...document.querySelectorAll("table")].map((one) => parseFloat(getComputedStyle(one).fontSize));
    return { beyond: beyond.map((one) => `${one.tagName} ${one.textContent.slice(0, 40)}`), background: body.backgroundColor,
             keeps_colours: body.printColorAdjust, smallest_letters: Math.min(...small) };
  });
  await page.setViewportSize(viewport);
  return paper;
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
  for (const width of [1200, 390]) {
    for (const scheme of ["light", "dark"]) found.push(await look(path, width, scheme));
  }
}
await browser.close();
console.log(JSON.stringify(found));
