// Labels for the run log.
import type { RuleKind } from '../../api/kinds'

const causeLabels: Readonly<Record<RuleKind, string>> = {
  'card.created': 'card created',
  'card.updated': 'card changed',
  'card.moved': 'card moved',
  'card.completed': 'marked done',
  'card.reopened': 'marked not done',
  'card.archived': 'archived',
  'card.restored': 'restored',
  'card.assignees_changed': 'people changed',
  'card.labels_changed': 'labels changed',
  'card.due_date_changed': 'dates changed',
  'comment.added': 'comment',
  'checklist_item.completed': 'item done',
  'list.created': 'list created',
  'list.archived': 'list archived',
  'status.posted': 'status update',
  'card.due': 'due soon',
  'card.overdue': 'overdue',
}

/** Returns a short label for the event that started a run. */
export const causeText = (kind: string): string =>
  (causeLabels as Readonly<Record<string, string | undefined>>)[kind] ?? kind
