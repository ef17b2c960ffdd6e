// node perf/bench/web/main.mjs [--runs N] [--only TEXT]
//
// Measures the pages of the built binary in headless Chromium, prints each
// measure with its goal and fails if one is missed. A goal is for the median
// of the runs; best and worst show how much the results vary.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { dragCard, openBoard, seeChanges } from "./measures.mjs";
import { startServer } from "./setup.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { chromium } = createRequire(here("../../../web/package.json"))(
  "@playwright/test",
);
const { values: options } = parseArgs({
  options: {
    runs: { type: "string", default: "9" },
    only: { type: "string", default: "" },
  },
});
const runs = Number(options.runs);
if (!Number.isInteger(runs) || runs < 1)
  throw new Error("--runs must be a number of at least 1");

const rows = [];
const wanted = (name) => name.includes(options.only);

function row(name, unit, values, goal) {
  const sorted = values.toSorted((a, b) => a - b);
  const [best, median, worst] = [
    sorted[0],
    sorted[Math.floor(sorted.length / 2)],
    sorted.at(-1),
  ];
  const limit = Number(goal.replace(/[^\d.]/g, ""));
  const met = goal.startsWith("<=") ? median <= limit : median < limit;
  rows.push({ name, unit, best, median, worst, goal, met });
}

async function measure(browser, setup) {
  const repeat = async (once) => {
    const all = [];
    for (let n = 0; n < runs; n++) all.push(await once());
    return all;
  };
  await openBoard(browser, setup, setup.boards[1000]); // exclude the start of the browser
  for (const [cards, goal] of [
    [1000, "< 450"],
    [5000, "< 700"],
  ]) {
    const name = `board of ${cards.toLocaleString("en")} cards`;
    if (wanted(`${name}, usable`)) {
      const opened = await repeat(() =>
        openBoard(browser, setup, setup.boards[cards]),
      );
      row(
        `${name}, usable`,
        "ms",
        opened.map((o) => o.usable),
        goal,
      );
      row(
        `${name}, requests`,
        "",
        opened.map((o) => o.requests.length),
        "<= 2",
      );
      row(
        `${name}, script`,
        "kB",
        opened.map((o) => o.script / 1000),
        "<= 90",
      );
      console.log(`${name}: ${opened[0].requests.join(", ")}`);
    }
    if (wanted(`${name}, drag`)) {
      row(
        `${name}, drag, worst frame`,
        "ms",
        await repeat(() => dragCard(browser, setup, setup.boards[cards])),
        "< 34",
      );
    }
    if (wanted(`${name}, seen`)) {
      row(
        `${name}, seen by another`,
        "ms",
        await seeChanges(browser, setup, setup.boards[cards], 4 * runs),
        "< 250",
      );
    }
  }
}

function print() {
  const number = (n) => (Number.isInteger(n) ? String(n) : n.toFixed(1));
  const head = ["measure", "unit", "best", "p50", "worst", "goal", "met"];
  const cells = rows.map((r) => [
    r.name,
    r.unit,
    number(r.best),
    number(r.median),
    number(r.worst),
    r.goal,
    r.met ? "pass" : "MISS",
  ]);
  const widths = head.map((h, n) =>
    Math.max(h.length, ...cells.map((c) => c[n].length)),
  );
  const line = (c) =>
    `| ${c.map((text, n) => (n >= 2 && n <= 4 ? text.padStart(widths[n]) : text.padEnd(widths[n]))).join(" | ")} |`;
  console.log(
    `\n${runs} runs of each, each a first visit with an empty cache.\n`,
  );
  console.log(
    [
      line(head),
      line(widths.map((w) => "-".repeat(w))),
      ...cells.map(line),
    ].join("\n"),
  );
}

const setup = await startServer(
  process.env.CARDWALL_BIN ?? here("../../../bin/cardwall"),
);
try {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  try {
    await measure(browser, setup);
  } finally {
    await browser.close();
  }
} finally {
  await setup.stop();
}
print();
if (rows.length === 0) throw new Error(`no measure matches “${options.only}”`);
process.exitCode = rows.every((r) => r.met) ? 0 : 1;
