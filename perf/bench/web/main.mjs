// node perf/bench/web/main.mjs [--runs N] [--only TEXT]
//
// Measures the web app of the built binary in headless Chromium, prints each
// measurement with its goal, and fails if a goal is missed. Goals apply to the
// median of the runs. The best and the worst run show how much the results vary.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import {
  addPictures,
  dragCard,
  measureSync,
  openBoard,
  openPictures,
  paintDashboard,
  paintDeliveries,
  paintFilter,
  paintMoveInCalendar,
  paintMoves,
} from "./measurements.mjs";
import { startServer } from "./server.mjs";

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
  throw new Error("--runs must be an integer of at least 1");

const rows = [];
const requested = (name) => name.includes(options.only);

/** Adds a row to the table. A goal is a comparison such as "< 450". */
function addRow(name, unit, values, goal) {
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
  const repeat = async (run) => {
    const all = [];
    for (let n = 0; n < runs; n++) all.push(await run());
    return all;
  };
  await openBoard(browser, setup, setup.boards[1000]); // not measured, because it includes the start of the browser
  for (const [cards, goal] of [
    [1000, "< 450"],
    [5000, "< 700"],
  ]) {
    const name = `board of ${cards.toLocaleString("en")} cards`;
    if (requested(`${name}, usable`)) {
      const opened = await repeat(() =>
        openBoard(browser, setup, setup.boards[cards]),
      );
      addRow(
        `${name}, usable`,
        "ms",
        opened.map((o) => o.usable),
        goal,
      );
      addRow(
        `${name}, requests`,
        "",
        opened.map((o) => o.requests.length),
        "<= 2",
      );
      addRow(
        `${name}, script`,
        "kB",
        opened.map((o) => o.script / 1000),
        "<= 90",
      );
      console.log(`${name}: ${opened[0].requests.join(", ")}`);
    }
    if (requested(`${name}, drag`)) {
      addRow(
        `${name}, drag, worst frame`,
        "ms",
        await repeat(() => dragCard(browser, setup, setup.boards[cards])),
        "< 34",
      );
    }
    if (requested(`${name}, seen`)) {
      addRow(
        `${name}, seen by another`,
        "ms",
        await measureSync(browser, setup, setup.boards[cards], 4 * runs),
        "< 250",
      );
    }
    if (requested(`${name}, letter`)) {
      addRow(
        `${name}, letter in the filter, painted, slowest`,
        "ms",
        await repeat(() => paintFilter(browser, setup, setup.boards[cards])),
        "< 50",
      );
    }
    if (requested(`${name}, move`)) {
      const moves = await repeat(() =>
        paintMoves(browser, setup, setup.boards[cards], 20),
      );
      for (const n of [1, 20]) {
        addRow(
          `${name}, move ${n} before a response, painted`,
          "ms",
          moves.map((times) => times[n - 1]),
          "< 100",
        );
      }
    }
  }
  const pictures = "card with 50 pictures";
  if (requested(pictures)) {
    const card = await addPictures(browser, setup, setup.boards[1000], 50);
    const opened = await repeat(() => openPictures(browser, setup, card));
    const values = (name) => opened.map((o) => o[name]);
    addRow(`${pictures}, thumbnails on the screen`, "ms", values("painted"), "< 1000");
    addRow(`${pictures}, layout shift`, "", values("shift"), "<= 0");
  }
  for (const [name, run, goal] of [
    ["calendar, move before the response, painted", paintMoveInCalendar, "< 100"],
    ["dashboard of 50,000 cards, painted after its response", paintDashboard, "< 300"],
    ["log of 100 deliveries, painted after its response", paintDeliveries, "< 300"],
  ]) {
    if (requested(name))
      addRow(name, "ms", await repeat(() => run(browser, setup)), goal);
  }
}

function printTable() {
  const number = (n) => (Number.isInteger(n) ? String(n) : n.toFixed(1));
  const head = ["measurement", "unit", "best", "p50", "worst", "goal", "met"];
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
    `\n${runs} runs of each measurement, each with an empty cache.\n`,
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
printTable();
if (rows.length === 0)
  throw new Error(`no measurement matches “${options.only}”`);
process.exitCode = rows.every((r) => r.met) ? 0 : 1;
