// What is measured in a browser. Times are milliseconds.

/**
 * Opens a board as a first visit: nothing cached. Usable is when each list in
 * view has painted cards and a key brings the focus to one.
 * @returns {Promise<{usable: number, requests: string[], script: number}>}
 *   requests: for data, until the board was usable and one second more; the bytes of
 *   script as they came over the wire.
 */
export async function openBoard(browser, world, boardId) {
  const { page, context } = await visit(browser, world, 0);
  const requests = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/api/") && !pathname.endsWith("/live"))
      requests.push(`${request.method()} ${pathname}`);
  });
  const weight = await weigh(page);
  await page.addInitScript(watchOpening);
  // The page says it by itself. Asked, the page would run 300 kB of Playwright's own
  // script while it opens, 60 ms of what is measured.
  const said = page.waitForEvent("console", (message) =>
    message.text().startsWith("usable "),
  );
  await page.goto(`${world.url}/boards/${boardId}`, { waitUntil: "commit" });
  const usable = Number((await said).text().split(" ")[1]);
  await page.waitForTimeout(1000);
  await context.close();
  return { usable, requests, ...weight };
}

/** Runs in the page before anything of it. */
function watchOpening() {
  const filled = () => {
    const lists = [...document.querySelectorAll(".lists > [data-list]")];
    const seen = lists.filter(
      (list) => list.getBoundingClientRect().left < innerWidth,
    );
    return (
      seen.length > 0 && seen.every((list) => list.querySelector("[data-card]"))
    );
  };
  const look = () =>
    filled() ? setTimeout(painted) : requestAnimationFrame(look);
  // A timer that is set before a frame is painted fires after it.
  const painted = () => {
    document.body.dispatchEvent(
      new KeyboardEvent("keydown", {
        key: "j",
        bubbles: true,
        cancelable: true,
      }),
    );
    const focused = () =>
      document.activeElement?.closest("[data-card]")
        ? console.debug(`usable ${performance.now()}`)
        : setTimeout(focused);
    focused();
  };
  requestAnimationFrame(look);
}

async function weigh(page) {
  const weight = { script: 0 };
  const kinds = new Map();
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Network.enable");
  cdp.on("Network.responseReceived", ({ requestId, type }) =>
    kinds.set(requestId, type),
  );
  cdp.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    if (kinds.get(requestId) === "Script") weight.script += encodedDataLength;
  });
  return weight;
}

/**
 * Drags a card with the mouse over four lists, down one of them until it
 * scrolls, and drops it.
 * @returns {Promise<number>} the longest time between two frames, from the press until the drop has been painted.
 */
export async function dragCard(browser, world, boardId) {
  const { page, context } = await visit(browser, world, 0);
  await page.goto(`${world.url}/boards/${boardId}`);
  const list = (n) => page.locator(".lists > [data-list]").nth(n);
  await list(3).locator("[data-card]").first().waitFor();
  await page
    .waitForLoadState("networkidle", { timeout: 2000 })
    .catch(() => undefined); // the stream stays open
  const from = await list(0).locator("[data-card]").nth(1).boundingBox();
  const to = await list(3).boundingBox();
  const title = await list(0).locator("[data-card] .title").nth(1).innerText();
  await page.evaluate(() => {
    const frames = (globalThis.frames60 = []);
    let before = performance.now();
    const next = (now) => {
      frames.push(now - before);
      before = now;
      requestAnimationFrame(next);
    };
    requestAnimationFrame((now) => {
      before = now;
      requestAnimationFrame(next);
    });
  });
  await page.mouse.move(from.x + 20, from.y + 10);
  await page.mouse.down();
  const y = from.y + 60;
  await glide(
    page,
    { x: from.x + 20, y: from.y + 10 },
    { x: to.x + 60, y },
    60,
  );
  await glide(
    page,
    { x: to.x + 60, y },
    { x: to.x + 60, y: to.y + to.height - 12 },
    60,
  );
  await page.waitForTimeout(400); // it scrolls
  await page.mouse.up();
  await page.waitForTimeout(200);
  const worst = await page.evaluate(() => Math.max(...globalThis.frames60));
  const there = await list(3).locator("[data-card] .title").allInnerTexts();
  if (!there.includes(title))
    throw new Error(`the card “${title}” was not dropped in the fourth list`);
  await context.close();
  return worst;
}

async function glide(page, from, to, steps) {
  for (let n = 1; n <= steps; n++) {
    await page.mouse.move(
      from.x + ((to.x - from.x) * n) / steps,
      from.y + ((to.y - from.y) * n) / steps,
    );
    await page.waitForTimeout(8);
  }
}

/**
 * One person moves a card by key; another looks at the same board in another browser.
 * @returns {Promise<number[]>} for each change, from the key to the other's painted frame.
 */
export async function seeChanges(browser, world, boardId, changes) {
  const [ada, grace] = await Promise.all([
    visit(browser, world, 0),
    visit(browser, world, 1),
  ]);
  for (const { page } of [ada, grace]) {
    await page.goto(`${world.url}/boards/${boardId}`);
    await page.locator("[data-card]").first().waitFor();
  }
  await grace.page.waitForTimeout(1000); // the stream stands
  await grace.page.evaluate(() => {
    globalThis.seen = [];
    const watch = new MutationObserver(() =>
      requestAnimationFrame(() =>
        setTimeout(() =>
          globalThis.seen.push(performance.timeOrigin + performance.now()),
        ),
      ),
    );
    watch.observe(document.querySelector(".lists [data-list] .cards"), {
      childList: true,
    });
  });
  await ada.page.evaluate(() =>
    addEventListener(
      "keydown",
      () => (globalThis.pressed = performance.timeOrigin + performance.now()),
      true,
    ),
  );
  await ada.page.keyboard.press("j");
  const took = [];
  for (let n = 0; n < changes; n++) {
    await grace.page.evaluate(() => (globalThis.seen = []));
    await ada.page.keyboard.press(
      n % 2 === 0 ? "Alt+Shift+ArrowDown" : "Alt+Shift+ArrowUp",
    );
    const pressed = await ada.page.evaluate(() => globalThis.pressed);
    const seen = await (
      await grace.page.waitForFunction(() => globalThis.seen[0])
    ).jsonValue();
    took.push(seen - pressed);
    await grace.page.waitForTimeout(100);
  }
  await Promise.all([ada.context.close(), grace.context.close()]);
  return took;
}

async function visit(browser, world, person) {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
  });
  await context.addCookies([world.cookies[person]]);
  const page = await context.newPage();
  // A browser still makes processes for a tab when it is there, on the cores on which
  // the page would be opened: a third of the time, and none of the page's.
  await page.waitForTimeout(500);
  return { context, page };
}
