import * as samples from './samples.js'

const user = 'usr_01jb2m3n4p5q6r7s8t9v0w1x2y'
const time = '2026-11-05T09:00:00.000Z'

/**
 * The kinds of events that a webhook can report. `noun`, `label` and `when` describe the trigger.
 * `records` are those that an event is about, and `changes` those of the sample.
 */
export const kinds = {
  'card.created': {
    noun: 'Card',
    label: 'New Card',
    when: 'a card is created',
    records: ['card'],
    changes: { title: { from: null, to: samples.card.title } },
  },
  'card.updated': {
    noun: 'Card',
    label: 'Updated Card',
    when: "a card's title or description changes",
    records: ['card'],
    changes: { title: { from: 'Press release', to: samples.card.title } },
  },
  'card.moved': {
    noun: 'Card',
    label: 'Moved Card',
    when: 'a card moves to another list',
    records: ['card'],
    changes: { listId: { from: 'lst_01jb2m3n4p5q6r7s8t9v0w1x2z', to: samples.list.id } },
  },
  'card.completed': {
    noun: 'Card',
    label: 'Completed Card',
    when: 'a card is marked done',
    records: ['card'],
    changes: { done: { from: false, to: true } },
  },
  'card.reopened': {
    noun: 'Card',
    label: 'Reopened Card',
    when: 'a card is marked not done',
    records: ['card'],
    changes: { done: { from: true, to: false } },
  },
  'card.archived': {
    noun: 'Card',
    label: 'Archived Card',
    when: 'a card is archived',
    records: ['card'],
    changes: { archivedAt: { from: null, to: time } },
  },
  'card.restored': {
    noun: 'Card',
    label: 'Restored Card',
    when: 'a card is restored from the archive',
    records: ['card'],
    changes: { archivedAt: { from: time, to: null } },
  },
  'card.assignees_changed': {
    noun: 'Card',
    label: 'Changed Card Assignees',
    when: 'people are added to or removed from a card',
    records: ['card'],
    changes: { assignees: { from: [], to: [user] } },
  },
  'card.labels_changed': {
    noun: 'Card',
    label: 'Changed Card Labels',
    when: 'labels are added to or removed from a card',
    records: ['card'],
    changes: { labels: { from: [], to: [samples.card.labels[0].id] } },
  },
  'card.due_date_changed': {
    noun: 'Card',
    label: 'Changed Card Due Date',
    when: "a card's due date or start changes",
    records: ['card'],
    changes: { dueDate: { from: null, to: samples.card.dueDate } },
  },
  'comment.added': {
    noun: 'Comment',
    label: 'New Comment',
    when: 'someone comments on a card',
    records: ['comment', 'card'],
    changes: { commentId: { from: null, to: samples.comment.id } },
  },
  'checklist_item.completed': {
    noun: 'Checklist Item',
    label: 'Completed Checklist Item',
    when: 'a checklist item is marked done',
    records: ['checklistItem', 'card'],
    changes: { done: { from: false, to: true } },
  },
  'list.created': {
    noun: 'List',
    label: 'New List',
    when: 'a list is created',
    records: ['list'],
    changes: { name: { from: null, to: samples.list.name } },
  },
  'list.archived': {
    noun: 'List',
    label: 'Archived List',
    when: 'a list is archived',
    records: ['list'],
    changes: { archivedAt: { from: null, to: time } },
  },
  'status.posted': {
    noun: 'Status Update',
    label: 'New Status Update',
    when: 'a status update is posted on a board',
    records: ['statusUpdate'],
    changes: { statusUpdateId: { from: null, to: samples.statusUpdate.id } },
  },
}
