// The samples that the editor shows before a step was tested. They have the fields of real records.

export const card = {
  id: 'crd_01jb2m3n4p5q6r7s8t9v0w1x2y',
  boardId: 'brd_01jb2m3n4p5q6r7s8t9v0w1x2y',
  listId: 'lst_01jb2m3n4p5q6r7s8t9v0w1x2y',
  number: 7,
  title: 'Write the press release',
  description: 'Two paragraphs, one picture.',
  done: false,
  doneAt: null,
  archivedAt: null,
  archivedBy: null,
  labels: [{ id: 'lbl_01jb2m3n4p5q6r7s8t9v0w1x2y', name: 'Press', color: 'teal' }],
  assignees: [{ id: 'usr_01jb2m3n4p5q6r7s8t9v0w1x2y', name: 'Ada Lovelace' }],
  dueDate: '2026-12-24',
  dueAt: '2026-12-24T17:00:00.000Z',
  startDate: null,
  startAt: null,
  timeZone: 'Europe/London',
  checklistItems: { done: 1, total: 2 },
  comments: 1,
  attachments: 0,
  cover: null,
  createdBy: 'usr_01jb2m3n4p5q6r7s8t9v0w1x2y',
  createdAt: '2026-11-02T09:00:00.000Z',
  updatedAt: '2026-11-05T09:00:00.000Z',
  url: 'https://cardwall.example.com/cards/crd_01jb2m3n4p5q6r7s8t9v0w1x2y',
}

export const comment = {
  id: 'cmt_01jb2m3n4p5q6r7s8t9v0w1x2y',
  cardId: card.id,
  boardId: card.boardId,
  author: { id: 'usr_01jb2m3n4p5q6r7s8t9v0w1x2y', name: 'Ada Lovelace' },
  guestName: null,
  text: 'The printer wants it by Friday.',
  createdAt: '2026-11-05T09:00:00.000Z',
  editedAt: null,
}

export const list = {
  id: card.listId,
  boardId: card.boardId,
  name: 'In progress',
  openCards: 3,
  wipLimit: null,
  wipMode: 'soft',
  archivedAt: null,
  createdAt: '2026-11-02T09:00:00.000Z',
  updatedAt: '2026-11-02T09:00:00.000Z',
}

export const checklistItem = {
  id: 'chi_01jb2m3n4p5q6r7s8t9v0w1x2y',
  checklistId: 'chk_01jb2m3n4p5q6r7s8t9v0w1x2y',
  title: 'Ask the printer',
  done: true,
  doneAt: '2026-11-05T09:00:00.000Z',
  createdAt: '2026-11-02T09:00:00.000Z',
  updatedAt: '2026-11-05T09:00:00.000Z',
}

export const statusUpdate = {
  id: 'sts_01jb2m3n4p5q6r7s8t9v0w1x2y',
  boardId: card.boardId,
  author: { id: 'usr_01jb2m3n4p5q6r7s8t9v0w1x2y', name: 'Ada Lovelace' },
  status: 'on_track',
  title: 'The printer confirmed Friday',
  text: 'All copies arrive on Monday.',
  startDate: null,
  targetDate: '2026-12-24',
  snapshot: { open: 12, done: 5, overdue: 1, dueIn7Days: 2, undated: 4, unassigned: 3 },
  createdAt: '2026-11-05T09:00:00.000Z',
}

export const board = {
  id: card.boardId,
  workspaceId: 'wsp_01jb2m3n4p5q6r7s8t9v0w1x2y',
  name: 'Launch',
  description: '',
  visibility: 'workspace',
  openCards: 17,
  url: 'https://cardwall.example.com/boards/brd_01jb2m3n4p5q6r7s8t9v0w1x2y',
}

/** The card that is read by its id or number. */
export const cardDetail = {
  ...card,
  checklists: [
    {
      id: checklistItem.checklistId,
      cardId: card.id,
      title: 'Press',
      items: [checklistItem],
      createdAt: '2026-11-02T09:00:00.000Z',
      updatedAt: '2026-11-05T09:00:00.000Z',
    },
  ],
}

/** The records that an event can be about. */
export const records = { card: cardDetail, comment, list, checklistItem, statusUpdate }

/** Returns the sample of an event with the records that have the names. */
export function event(type, changes, names) {
  return {
    id: 'act_01jb2m3n4p5q6r7s8t9v0w1x2y',
    type,
    at: '2026-11-05T09:00:00.000Z',
    actor: { type: 'person', id: 'usr_01jb2m3n4p5q6r7s8t9v0w1x2y', client: null },
    boardId: card.boardId,
    listId: card.listId,
    cardId: names.includes('card') ? card.id : null,
    changes,
    boardVersion: 42,
    ...Object.fromEntries(names.map((name) => [name, records[name]])),
  }
}
