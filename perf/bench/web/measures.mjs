// The measures in the browser. Times are in milliseconds.

/**
 * Opens a board with an empty cache. It is usable when each list in view has
 * painted cards and a key moves the focus to one.
 * @returns {Promise<{usable: number, requests: string[], script: number}>}
 *   requests: those for data, until one second after the board was usable;
 *   script: the transferred bytes of scripts.
 */
export async function openBoard(browser, setup, boardId) {
  const { page, context } = await visit(browser, setup, 0);
  const requests = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/api/") && !pathname.endsWith("/live"))
      requests.push(`${request.method()} ${pathname}`);
  });
  const weight = await weigh(page);
  await page.addInitScript(watchOpening);
  // The page reports it itself: polling would make it run 300 kB of Playwright's
  // scripts while it opens, which takes 60 ms.
  const usableMessage = page.waitForEvent("console", (message) =>
    message.text().startsWith("usable "),
  );
  await page.goto(`${setup.url}/boards/${boardId}`, { waitUntil: "commit" });
  const usable = Number((await usableMessage).text().split(" ")[1]);
  await page.waitForTimeout(1000);
  await context.close();
  return { usable, requests, ...weight };
}

/** Runs in the page before its own scripts. */
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
  // A timer set before a frame is painted fires after it.
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
 * Drags a card with the mouse across four lists and down one of them until it
 * scrolls, and drops it.
 * @returns {Promise<number>} the longest time between two frames, from pressing the button until the drop is painted.
 */
export async function dragCard(browser, setup, boardId) {
  const { page, context } = await visit(browser, setup, 0);
  await page.goto(`${setup.url}/boards/${boardId}`);
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
  await moveMouse(
    page,
    { x: from.x + 20, y: from.y + 10 },
    { x: to.x + 60, y },
    60,
  );
  await moveMouse(
    page,
    { x: to.x + 60, y },
    { x: to.x + 60, y: to.y + to.height - 12 },
    60,
  );
  await page.waitForTimeout(400); // while it scrolls
  await page.mouse.up();
  await page.waitForTimeout(200);
  const worst = await page.evaluate(() => Math.max(...globalThis.frames60));
  const there = await list(3).locator("[data-card] .title").allInnerTexts();
  if (!there.includes(title))
    throw new Error(`the card “${title}” was not dropped in the fourth list`);
  await context.close();
  return worst;
}

async function moveMouse(page, from, to, steps) {
  for (let n = 1; n <= steps; n++) {
    await page.mouse.move(
      from.x + ((to.x - from.x) * n) / steps,
      from.y + ((to.y - from.y) * n) / steps,
    );
    await page.waitForTimeout(8);
  }
}

/**
 * One person moves a card with the keyboard; another has the same board open in another browser.
 * @returns {Promise<number[]>} for each change, the time from the key press to the other's painted frame.
 */
export async function seeChanges(browser, setup, boardId, changes) {
  const [ada, grace] = await Promise.all([
    visit(browser, setup, 0),
    visit(browser, setup, 1),
  ]);
  for (const { page } of [ada, grace]) {
    await page.goto(`${setup.url}/boards/${boardId}`);
    await page.locator("[data-card]").first().waitFor();
  }
  await grace.page.waitForTimeout(1000); // until the stream is connected
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

async function visit(browser, setup, person) {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
  });
  await context.addCookies([setup.cookies[person]]);
  const page = await context.newPage();
  // After a tab is open, the browser still starts processes for it, on the same
  // cores. They would take a third of the measured time.
  await page.waitForTimeout(500);
  return { context, page };
}
