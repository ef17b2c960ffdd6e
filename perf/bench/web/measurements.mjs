// Measurements in the browser. All times are in milliseconds.
import { largestDashboard, largestLog } from "./largestResponses.mjs";

/**
 * Opens a board with an empty cache. The board is usable when each visible list
 * has painted cards and a key press moves the focus to a card.
 * @returns {Promise<{usable: number, requests: string[], script: number}>}
 *   usable: time until the board is usable;
 *   requests: API requests until one second after that;
 *   script: transferred size of the scripts in bytes.
 */
export async function openBoard(browser, setup, boardId) {
  const { page, context } = await visit(browser, setup, 0);
  const requests = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/api/") && !pathname.endsWith("/live"))
      requests.push(`${request.method()} ${pathname}`);
  });
  const transferred = await countScriptBytes(page);
  await page.addInitScript(reportWhenUsable);
  // The page itself reports when it is usable. If Playwright polled it, the page
  // would run 300 kB of Playwright's scripts while it opens, which takes 60 ms.
  const usableMessage = page.waitForEvent("console", (message) =>
    message.text().startsWith("usable "),
  );
  await page.goto(`${setup.url}/boards/${boardId}`, { waitUntil: "commit" });
  const usable = Number((await usableMessage).text().split(" ")[1]);
  await page.waitForTimeout(1000);
  await context.close();
  return { usable, requests, ...transferred };
}

/** Logs when the board is usable. Runs in the page, before the page's own scripts. */
function reportWhenUsable() {
  const filled = () => {
    const lists = [...document.querySelectorAll(".lists > [data-list]")];
    const visible = lists.filter(
      (list) => list.getBoundingClientRect().left < innerWidth,
    );
    return (
      visible.length > 0 && visible.every((list) => list.querySelector("[data-card]"))
    );
  };
  const waitUntilFilled = () =>
    filled() ? setTimeout(painted) : requestAnimationFrame(waitUntilFilled);
  // A timer that is set before a frame is painted fires after the frame.
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
  requestAnimationFrame(waitUntilFilled);
}

/** Returns an object whose `script` property counts the transferred bytes of scripts. */
async function countScriptBytes(page) {
  const transferred = { script: 0 };
  const types = new Map();
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Network.enable");
  cdp.on("Network.responseReceived", ({ requestId, type }) =>
    types.set(requestId, type),
  );
  cdp.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    if (types.get(requestId) === "Script") transferred.script += encodedDataLength;
  });
  return transferred;
}

/**
 * Drags a card across four lists and down the last one until it scrolls, and
 * drops it.
 * @returns {Promise<number>} longest time between two frames, from pressing the mouse button until the drop is painted.
 */
export async function dragCard(browser, setup, boardId) {
  const { page, context } = await visit(browser, setup, 0);
  await page.goto(`${setup.url}/boards/${boardId}`);
  const list = (n) => page.locator(".lists > [data-list]").nth(n);
  await list(3).locator("[data-card]").first().waitFor();
  await page
    .waitForLoadState("networkidle", { timeout: 2000 })
    .catch(() => undefined); // the event stream stays open
  const from = await list(0).locator("[data-card]").nth(1).boundingBox();
  const to = await list(3).boundingBox();
  const title = await list(0).locator("[data-card] .title").nth(1).innerText();
  await page.evaluate(() => {
    const frames = (globalThis.frameTimes = []);
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
  await page.waitForTimeout(400); // let the list scroll
  await page.mouse.up();
  await page.waitForTimeout(200);
  const worst = await page.evaluate(() => Math.max(...globalThis.frameTimes));
  const titles = await list(3).locator("[data-card] .title").allInnerTexts();
  if (!titles.includes(title))
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
 * Measures how fast a page paints a change that the server has not confirmed. A
 * card is moved back and forth with the keyboard, and the server never responds,
 * so the page shows all moves on top of what it has loaded.
 * @returns {Promise<number[]>} time from each key press until the move is painted.
 */
export async function paintMoves(browser, setup, boardId, moves) {
  const { page, context } = await visit(browser, setup, 0);
  await page.route("**/api/public/v1/cards/*/move", () => undefined);
  await page.goto(`${setup.url}/boards/${boardId}`);
  await page.locator("[data-card]").first().waitFor();
  await page.keyboard.press("j");
  const times = [];
  for (let n = 0; n < moves; n++) {
    const before = await page.locator("[data-card] .title").nth(0).innerText();
    times.push(await timeToPaint(page, n % 2 === 0 ? "ArrowDown" : "ArrowUp"));
    const after = await page.locator("[data-card] .title").nth(0).innerText();
    if (before === after) throw new Error("the card was not moved");
  }
  await context.close();
  return times;
}

/**
 * Types a word into the filter of a board, letter by letter.
 * @returns {Promise<number>} longest time from an input event until its effect is painted.
 */
export async function paintFilter(browser, setup, boardId) {
  const word = "engine";
  const { page, context } = await visit(browser, setup, 0);
  await page.goto(`${setup.url}/boards/${boardId}`);
  await page.locator("[data-card]").first().waitFor();
  await page.keyboard.press("f");
  const box = page.getByRole("searchbox", { name: "Filter text" });
  await box.waitFor();
  const times = await box.evaluate(async (node, word) => {
    const times = [];
    for (let length = 1; length <= word.length; length++) {
      const start = performance.now();
      node.value = word.slice(0, length);
      node.dispatchEvent(new InputEvent("input", { bubbles: true }));
      // A timer that is set before a frame is painted fires after the frame.
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      times.push(performance.now() - start);
    }
    return times;
  }, word);
  const titles = await page.locator("[data-card] .title").allInnerTexts();
  if (titles.length === 0 || titles.some((title) => !title.includes(word)))
    throw new Error("the filter did not show the cards with its word alone");
  await context.close();
  return Math.max(...times);
}

/**
 * Measures how fast the calendar paints the move of a card that the server has not confirmed.
 * @returns {Promise<number>} time from the key press until the move is painted.
 */
export async function paintMoveInCalendar(browser, setup) {
  const { page, context } = await visit(browser, setup, 0);
  await page.route("**/api/public/v1/cards/*/due", () => undefined);
  await page.goto(`${setup.url}/workspaces/${setup.workspace}/calendar`);
  const item = page.locator("[data-item]").first();
  await item.focus();
  const day = () =>
    page.evaluate(
      () => document.activeElement.closest("[data-day]")?.dataset.day,
    );
  const before = await day();
  const time = await timeToPaint(page, "ArrowRight");
  if (!before || before === (await day())) throw new Error("the card was not moved");
  await context.close();
  return time;
}

/** Returns the time until the page has painted the effect of an Alt+Shift shortcut. */
function timeToPaint(page, key) {
  return page.evaluate(async (key) => {
    const start = performance.now();
    const init = {
      key,
      altKey: true,
      shiftKey: true,
      bubbles: true,
      cancelable: true,
    };
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", init));
    // A timer that is set before a frame is painted fires after the frame.
    await new Promise((resolve) =>
      requestAnimationFrame(() => setTimeout(resolve)),
    );
    return performance.now() - start;
  }, key);
}

/**
 * Opens the dashboard of 50,000 cards.
 * @returns {Promise<number>} time from the end of the response until the dashboard is painted.
 */
export function paintDashboard(browser, setup) {
  const path = `/workspaces/${setup.workspace}/dashboard`;
  return paintResponse(browser, setup, path, "[data-as-of]", 1, {
    [`**/api/public/v1${path}?*`]: ({ data }) => ({ data: largestDashboard(data) }),
  });
}

/**
 * Opens a log of 100 deliveries.
 * @returns {Promise<number>} time from the end of the response until all rows are painted.
 */
export function paintDeliveries(browser, setup) {
  const path = `/webhooks/${setup.webhook}/deliveries`;
  return paintResponse(browser, setup, path, "[data-delivery]", 100, {
    [`**/api/app/v1${path}?*`]: largestLog,
  });
}

/** Opens a page with replaced responses. Returns the time from the last of them to the frame with all elements. */
async function paintResponse(browser, setup, path, selector, count, responses) {
  const { page, context } = await visit(browser, setup, 0);
  for (const [url, replace] of Object.entries(responses)) {
    await page.route(url, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: replace(await response.json()) });
    });
  }
  await page.addInitScript(
    ([selector, count]) => {
      const observer = new MutationObserver(() => {
        if (document.querySelectorAll(selector).length < count) return;
        observer.disconnect();
        // The elements are on the screen one frame after they are drawn.
        requestAnimationFrame(() =>
          requestAnimationFrame(() => performance.mark("painted")),
        );
      });
      addEventListener("DOMContentLoaded", () =>
        observer.observe(document.body, { subtree: true, childList: true }),
      );
    },
    [selector, count],
  );
  await page.goto(setup.url + path);
  await page.waitForFunction(
    () => performance.getEntriesByName("painted").length > 0,
  );
  const time = await page.evaluate((path) => {
    const painted = performance.getEntriesByName("painted")[0].startTime;
    const ends = performance
      .getEntriesByType("resource")
      .filter((e) => new URL(e.name).pathname.endsWith(path))
      .map((e) => e.responseEnd)
      .filter((end) => end <= painted);
    return painted - Math.max(...ends);
  }, path);
  await context.close();
  return time;
}

/**
 * Measures how fast a change appears in another browser. One person moves a card
 * with the keyboard, and another person has the same board open.
 * @returns {Promise<number[]>} time from each key press to the frame that shows the change in the other browser.
 */
export async function measureSync(browser, setup, boardId, changes) {
  const [ada, grace] = await Promise.all([
    visit(browser, setup, 0),
    visit(browser, setup, 1),
  ]);
  for (const { page } of [ada, grace]) {
    await page.goto(`${setup.url}/boards/${boardId}`);
    await page.locator("[data-card]").first().waitFor();
  }
  await grace.page.waitForTimeout(1000); // let the event stream connect
  await grace.page.evaluate(() => {
    globalThis.painted = [];
    const observer = new MutationObserver(() =>
      requestAnimationFrame(() =>
        setTimeout(() =>
          globalThis.painted.push(performance.timeOrigin + performance.now()),
        ),
      ),
    );
    observer.observe(document.querySelector(".lists [data-list] .cards"), {
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
  const times = [];
  for (let n = 0; n < changes; n++) {
    await grace.page.evaluate(() => (globalThis.painted = []));
    await ada.page.keyboard.press(
      n % 2 === 0 ? "Alt+Shift+ArrowDown" : "Alt+Shift+ArrowUp",
    );
    const pressed = await ada.page.evaluate(() => globalThis.pressed);
    const painted = await (
      await grace.page.waitForFunction(() => globalThis.painted[0])
    ).jsonValue();
    times.push(painted - pressed);
    await grace.page.waitForTimeout(100);
  }
  await Promise.all([ada.context.close(), grace.context.close()]);
  return times;
}

/** Creates a card with pictures of 3 megapixels on a board and returns its id. */
export async function addPictures(browser, setup, boardId, pictures) {
  const { page, context } = await visit(browser, setup, 0);
  await page.goto(setup.url);
  const card = await page.evaluate(
    async ([boardId, pictures]) => {
      const send = async (path, body, headers) => {
        const response = await fetch(`/api/public/v1${path}`, {
          method: body ? "POST" : "GET",
          headers: { "Idempotency-Key": crypto.randomUUID(), ...headers },
          body,
        });
        if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
        return (await response.json()).data;
      };
      const [list] = await send(`/boards/${boardId}/lists?limit=1`);
      const { id } = await send(
        "/cards",
        JSON.stringify({ listId: list.id, title: "Pictures" }),
        { "Content-Type": "application/json" },
      );
      const canvas = new OffscreenCanvas(2048, 1536);
      const context = canvas.getContext("2d");
      for (let n = 0; n < pictures; n++) {
        context.fillStyle = `hsl(${n * 7} 60% 50%)`;
        context.fillRect(0, 0, canvas.width, canvas.height);
        for (let x = 0; x < 200; x++) {
          context.fillStyle = `hsl(${x * 11} 60% 50% / 0.5)`;
          context.fillRect((x * 83) % 2048, (x * 61 * (n + 1)) % 1536, 300, 200);
        }
        const form = new FormData();
        const picture = await canvas.convertToBlob({ type: "image/jpeg" });
        form.append("file", picture, `Picture ${n + 1}.jpg`);
        await send(`/cards/${id}/attachments`, form);
      }
      return id;
    },
    [boardId, pictures],
  );
  await context.close();
  return card;
}

/**
 * Opens a card with pictures with an empty cache.
 * @returns {Promise<{painted: number, shift: number}>}
 *   painted: time until all thumbnails on the screen are painted;
 *   shift: cumulative layout shift until then, which is 0 if nothing moved.
 */
export async function openPictures(browser, setup, card) {
  const { page, context } = await visit(browser, setup, 0);
  await page.addInitScript(() => {
    globalThis.shift = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) globalThis.shift += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
  });
  await page.goto(`${setup.url}/cards/${card}`, { waitUntil: "commit" });
  const result = await page.waitForFunction(
    () => {
      const visible = [...document.querySelectorAll(".thumb img")].filter(
        (img) => img.getBoundingClientRect().top < innerHeight,
      );
      const loaded = (img) => img.complete && img.naturalWidth > 0;
      return (
        visible.length > 0 &&
        visible.every(loaded) && { painted: performance.now(), shift: globalThis.shift }
      );
    },
    undefined,
    { timeout: 60_000 },
  );
  const measured = await result.jsonValue();
  await context.close();
  return measured;
}

/** Opens an empty page in a new browser context in which the person is signed in. */
async function visit(browser, setup, person) {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
  });
  await context.addCookies([setup.cookies[person]]);
  const page = await context.newPage();
  // Wait until the browser has started the processes for the new tab. Otherwise,
  // they would account for a third of the measured time.
  await page.waitForTimeout(500);
  return { context, page };
}
