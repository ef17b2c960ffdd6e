import type { INodePropertyOptions } from 'n8n-workflow'

/** The kinds of events that can be chosen, in alphabetical order of their names. */
export const events: INodePropertyOptions[] = [
  {
    name: 'Card Archived',
    value: 'card.archived',
    description: 'A card is archived',
  },
  {
    name: 'Card Assignees Changed',
    value: 'card.assignees_changed',
    description: 'People are added to or removed from a card',
  },
  {
    name: 'Card Completed',
    value: 'card.completed',
    description: 'A card is marked done',
  },
  {
    name: 'Card Created',
    value: 'card.created',
    description: 'A card is created',
  },
  {
    name: 'Card Due Date Changed',
    value: 'card.due_date_changed',
    description: 'The due date or start of a card changes',
  },
  {
    name: 'Card Labels Changed',
    value: 'card.labels_changed',
    description: 'Labels are added to or removed from a card',
  },
  {
    name: 'Card Moved',
    value: 'card.moved',
    description: 'A card moves to another list or board',
  },
  {
    name: 'Card Reopened',
    value: 'card.reopened',
    description: 'A card is marked not done',
  },
  {
    name: 'Card Restored',
    value: 'card.restored',
    description: 'A card is restored from the archive',
  },
  {
    name: 'Card Updated',
    value: 'card.updated',
    description: 'The title or description of a card changes',
  },
  {
    name: 'Checklist Item Completed',
    value: 'checklist_item.completed',
    description: 'A checklist item is marked done',
  },
  {
    name: 'Comment Added',
    value: 'comment.added',
    description: 'Someone comments on a card',
  },
  {
    name: 'List Archived',
    value: 'list.archived',
    description: 'A list is archived',
  },
  {
    name: 'List Created',
    value: 'list.created',
    description: 'A list is created',
  },
  {
    name: 'Status Update Posted',
    value: 'status.posted',
    description: 'A status update is posted on a board',
  },
]
