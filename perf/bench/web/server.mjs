// The server under test: the built binary with two people and boards of 1,000
// and 5,000 cards, in a temporary folder.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const password = "correct horse battery";
const people = [
  { email: "ada@example.com", name: "Ada Lovelace" },
  { email: "grace@example.com", name: "Grace Hopper" },
];

/**
 * Creates the data and starts the server.
 * @param {string} binary
 * @returns {Promise<{url: string, workspace: string, webhook: string, boards: Record<number, string>, cookies: object[],
 *   stop: () => Promise<void>}>}
 *   webhook: the id of a webhook of the smaller board; boards: ids by number of cards;
 *   cookies: the session cookie of each person.
 */
export async function startServer(binary) {
  const folder = mkdtempSync(join(tmpdir(), "cardwall-bench-web-"));
  const address = `127.0.0.1:${await freePort()}`;
  const url = `http://${address}`;
  const run = (...args) =>
    execFileSync(binary, [...args, "--data", folder, "--log-level", "error"], {
      input: password,
      encoding: "utf8",
    }).trim();
  try {
    for (const { email, name } of people)
      run("user", "add", "--email", email, "--name", name, "--password-stdin");
    const workspace = run(
      "workspace",
      "add",
      "--owner",
      people[0].email,
      "--name",
      "Bench",
    );
    run("workspace", "member", workspace, "--user", people[1].email);
    const boards = {};
    for (const [cards, lists] of [
      [1000, 8],
      [5000, 20],
    ]) {
      const file = join(folder, `trello-${cards}.json`);
      writeFileSync(file, JSON.stringify(trelloBoard(cards, lists)));
      boards[cards] = /brd_\w+/.exec(
        run("import", "trello", file, "--workspace", workspace),
      )[0];
    }
    const server = await serve(binary, folder, address, url);
    const cookies = await Promise.all(
      people.map(({ email }) => signIn(url, email)),
    );
    const webhook = await addWebhook(url, cookies[0], boards[1000]);
    const stop = async () => {
      const closed = new Promise((resolve) => server.once("close", resolve));
      server.kill("SIGTERM");
      await closed;
      rmSync(folder, { recursive: true, force: true });
    };
    return { url, workspace, webhook, boards, cookies, stop };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

async function serve(binary, folder, address, url) {
  const args = [
    "serve",
    "--data",
    folder,
    "--addr",
    address,
    "--base-url",
    url,
    "--rate-limits",
    "off",
    "--webhook-allow",
    "127.0.0.1",
  ];
  const server = spawn(binary, args, { stdio: ["ignore", "ignore", "pipe"] });
  let output = "";
  await new Promise((resolve, reject) => {
    server.stderr.on("data", (chunk) => {
      output += chunk;
      if (output.includes('"serving"')) resolve();
    });
    server.on("error", reject);
    server.on("exit", () =>
      reject(new Error(`the server exited:\n${output}`)),
    );
  });
  return server;
}

async function signIn(url, email) {
  const response = await fetch(`${url}/api/app/v1/sign-in`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "Idempotency-Key": crypto.randomUUID(),
      Origin: url,
    },
    body: JSON.stringify({ email, password }),
  });
  if (!response.ok)
    throw new Error(`sign-in of ${email}: ${await response.text()}`);
  const [name, value] = response.headers
    .getSetCookie()[0]
    .split(";")[0]
    .split("=");
  return { name, value, url: url.replace("http:", "https:"), secure: true };
}

/** Creates a webhook that no measurement calls, and returns its id. */
async function addWebhook(url, cookie, boardId) {
  const response = await fetch(`${url}/api/public/v1/webhooks`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "Idempotency-Key": crypto.randomUUID(),
      Origin: url,
      Cookie: `${cookie.name}=${cookie.value}`,
    },
    body: JSON.stringify({
      boardId,
      url: "http://127.0.0.1:9/cards",
      events: ["list.created"],
      name: "Deploy bot",
    }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`webhook: ${text}`);
  return JSON.parse(text).data.id;
}

/** Returns a Trello export whose cards use every feature that a board shows. */
function trelloBoard(cards, lists) {
  const id = (kind, n) => kind + n.toString(16).padStart(24 - kind.length, "0");
  const pick = (all, n) => all[n % all.length];
  const words =
    "ship the engine before anyone asks why a note on tables was late and what it weighs".split(
      " ",
    );
  const colors = [
    "green",
    "yellow",
    "orange",
    "red",
    "purple",
    "blue",
    "sky",
    "lime",
  ];
  const day = 86_400_000;
  const start = Date.now() - 10 * day;
  return {
    id: id("b", cards),
    name: `${cards.toLocaleString("en")} cards`,
    members: people.map((p, n) => ({
      id: id("e", n),
      fullName: p.name,
      username: p.email.split("@")[0],
      email: p.email,
    })),
    labels: colors.map((color, n) => ({
      id: id("f", n),
      name: pick(words, n * 3),
      color,
    })),
    lists: Array.from({ length: lists }, (_, n) => ({
      id: id("a", n),
      name: `List ${n + 1}`,
      closed: false,
      pos: n + 1,
    })),
    cards: Array.from({ length: cards }, (_, n) => ({
      id: id("c", n),
      idList: id("a", n % lists),
      idShort: n + 1,
      name: Array.from({ length: 3 + (n % 9) }, (_, w) =>
        pick(words, n * 7 + w * 5),
      ).join(" "),
      desc: n % 3 === 0 ? "It *works* by steam." : "",
      closed: false,
      pos: n + 1,
      due: n % 4 === 0 ? new Date(start + (n % 30) * day).toISOString() : null,
      dueComplete: n % 8 === 0,
      idLabels: colors
        .slice(0, n % 3)
        .map((_, l) => id("f", (n + l) % colors.length)),
      idMembers: n % 2 === 0 ? [id("e", n % 4 === 0 ? 0 : 1)] : [],
    })),
    checklists: Array.from({ length: cards / 5 }, (_, n) => ({
      id: id("d", n),
      idCard: id("c", n * 5),
      name: "Steps",
      pos: 1,
      checkItems: [0, 1, 2].map((i) => ({
        id: id("9", n * 3 + i),
        name: pick(words, n + i),
        state: i ? "incomplete" : "complete",
        pos: i + 1,
      })),
    })),
    actions: [],
  };
}
