// Responses of the largest size that a page can get, for the benchmark and for the browser tests.

/**
 * Returns the response for a workspace of 50,000 cards in which every breakdown and list of the dashboard has its
 * maximum length.
 * @param {any} base a response of the server
 */
export function largestDashboard(base) {
  const counts = (i) => ({
    open: 5000 - i * 317,
    done: 900 + i * 41,
    overdue: 400 - i * 31,
  });
  const breakdown = (fields) => ({
    top: Array.from({ length: 10 }, (_, i) => ({ ...fields(i), ...counts(i) })),
    rest: { count: 490, open: 12_000, done: 8000, overdue: 900 },
  });
  const name = (kind, i) =>
    `${kind} ${i} with a name as long as the names that people really use`;
  const label = (i) => ({
    id: id("lbl", i),
    name: name("Label", i),
    color: "teal",
  });
  const card = (i) => ({
    id: id("crd", i),
    boardId: id("brd", i),
    listId: id("lst", i),
    number: i,
    title: name("Card", i),
    done: false,
    doneAt: null,
    archivedAt: null,
    labels: Array.from({ length: 6 }, (_, n) => label(n)),
    assignees: Array.from({ length: 5 }, (_, n) => ({
      id: id("usr", n),
      name: name("Person", n),
    })),
    dueDate: "2026-01-01",
    dueAt: null,
    startDate: null,
    startAt: null,
    timeZone: null,
    checklistItems: { done: 3, total: 9 },
    comments: 12,
    createdBy: id("usr", 1),
    createdAt: "2025-01-01T10:00:00.000Z",
    updatedAt: "2025-02-01T10:00:00.000Z",
    url: "",
  });
  return {
    ...base,
    open: 41_300,
    done: 8700,
    overdue: 3900,
    dueIn7Days: 1200,
    unassigned: 9000,
    undated: 17_000,
    weeks: base.weeks.map((week, i) => ({
      ...week,
      created: 3200 + i * 97,
      completed: 2900 + i * 61,
    })),
    byBoard: breakdown((i) => ({ boardId: id("brd", i), name: name("Board", i) })),
    byList: breakdown((i) => ({
      listId: id("lst", i),
      boardId: id("brd", i),
      name: name("List", i),
    })),
    byMember: breakdown((i) => ({ userId: id("usr", i), name: name("Person", i) })),
    byLabel: breakdown((i) => ({ name: name("Label", i), color: "teal" })),
    stale: { count: 12_000, cards: Array.from({ length: 5 }, (_, i) => card(i)) },
    wipBreaches: {
      count: 40,
      lists: Array.from({ length: 10 }, (_, i) => ({
        listId: id("lst", i),
        boardId: id("brd", i),
        name: name("List", i),
        openCards: 70 - i,
        wipLimit: 5,
        wipMode: "soft",
      })),
    },
    leadTime: { cards: 8700, medianSeconds: 276_480 },
    cycleTime: { cards: 8100, medianSeconds: 92_400 },
  };
}

/** Returns a page of the log of a webhook with the maximum number of deliveries. */
export function largestLog() {
  const data = Array.from({ length: 100 }, (_, i) => ({
    id: `itg_${String(i).padStart(26, "0")}:v${i}`,
    webhookId: id("whk", 1),
    type: "card.created",
    boardId: id("brd", 1),
    boardVersion: i,
    status: "delivered",
    reason: "HTTP 204",
    httpStatus: 204,
    attempts: 1,
    nextAttemptAt: null,
    createdAt: "2026-03-02T09:00:00.000Z",
    endedAt: "2026-03-02T09:00:00.100Z",
  }));
  return { data };
}

const id = (kind, i) => `${kind}_${String(i).padStart(26, "0")}`;
