// Event kinds of internal/board/kinds.go, written by TestGoldenKinds. Do not edit; run make golden.

/** The kinds that the activity of a board can contain. A newer server may send others. */
export type ActivityKind =
  | 'card.created'
  | 'card.updated'
  | 'card.moved'
  | 'card.reordered'
  | 'card.completed'
  | 'card.reopened'
  | 'card.archived'
  | 'card.restored'
  | 'card.deleted'
  | 'card.assignees_changed'
  | 'card.labels_changed'
  | 'card.due_date_changed'
  | 'comment.added'
  | 'comment.edited'
  | 'comment.deleted'
  | 'checklist.added'
  | 'checklist.updated'
  | 'checklist.deleted'
  | 'checklist_item.added'
  | 'checklist_item.updated'
  | 'checklist_item.completed'
  | 'checklist_item.reopened'
  | 'checklist_item.deleted'
  | 'card.cover_changed'
  | 'attachment.added'
  | 'attachment.renamed'
  | 'attachment.removed'
  | 'list.created'
  | 'list.updated'
  | 'list.moved'
  | 'list.moved_away'
  | 'list.moved_in'
  | 'list.archived'
  | 'list.restored'
  | 'list.deleted'
  | 'label.created'
  | 'label.updated'
  | 'label.deleted'
  | 'status.posted'
  | 'board.created'
  | 'board.updated'
  | 'board.archived'
  | 'board.restored'
  | 'board.trashed'
  | 'board.imported'
  | 'board_member.added'
  | 'board_member.updated'
  | 'board_member.removed'
  | 'rule.created'
  | 'rule.updated'
  | 'rule.deleted'
  | 'rule.switched_on'
  | 'rule.switched_off'

/** The kinds that a webhook can subscribe to. A newer server may send others. */
export type WebhookKind =
  | 'card.created'
  | 'card.updated'
  | 'card.moved'
  | 'card.completed'
  | 'card.reopened'
  | 'card.archived'
  | 'card.restored'
  | 'card.assignees_changed'
  | 'card.labels_changed'
  | 'card.due_date_changed'
  | 'comment.added'
  | 'checklist_item.completed'
  | 'list.created'
  | 'list.archived'
  | 'status.posted'
  | 'webhook.test'

/** The kinds that can trigger a rule. A newer server may send others. */
export type RuleKind =
  | 'card.created'
  | 'card.updated'
  | 'card.moved'
  | 'card.completed'
  | 'card.reopened'
  | 'card.archived'
  | 'card.restored'
  | 'card.assignees_changed'
  | 'card.labels_changed'
  | 'card.due_date_changed'
  | 'card.due'
  | 'card.overdue'
  | 'comment.added'
  | 'checklist_item.completed'
  | 'list.created'
  | 'list.archived'
  | 'status.posted'

/** The kinds that people can be notified of. A newer server may send others. */
export type NotifyingKind =
  | 'card.created'
  | 'card.updated'
  | 'card.moved'
  | 'card.completed'
  | 'card.reopened'
  | 'card.archived'
  | 'card.restored'
  | 'card.assignees_changed'
  | 'card.due_date_changed'
  | 'card.due'
  | 'comment.added'
  | 'comment.edited'
  | 'status.posted'
  | 'board_member.added'

/** The labels of webhook events, in the order of the reference. */
export const webhookLabels: Readonly<Record<WebhookKind, { label: string; short: string }>> = {
  'card.created': { label: 'A card is created', short: 'Card created' },
  'card.updated': { label: 'A title or description changes', short: 'Card changed' },
  'card.moved': { label: 'A card moves to another list', short: 'Card moved' },
  'card.completed': { label: 'A card is marked done', short: 'Card done' },
  'card.reopened': { label: 'A card is marked not done', short: 'Card not done' },
  'card.archived': { label: 'A card is archived', short: 'Card archived' },
  'card.restored': { label: 'A card is restored', short: 'Card restored' },
  'card.assignees_changed': { label: 'People are added or removed', short: 'People changed' },
  'card.labels_changed': { label: 'Labels change', short: 'Labels changed' },
  'card.due_date_changed': { label: 'The due date changes', short: 'Due date changed' },
  'comment.added': { label: 'Someone comments', short: 'Comment added' },
  'checklist_item.completed': { label: 'A checklist item is done', short: 'Checklist item done' },
  'list.created': { label: 'A list is created', short: 'List created' },
  'list.archived': { label: 'A list is archived', short: 'List archived' },
  'status.posted': { label: 'A status update is posted', short: 'Status update posted' },
  'webhook.test': { label: 'A test event is sent', short: 'Test event' },
}
