// Texts of audit entries.
import type { AuditEntry } from '../../api/contract'

type OperationText = { group: string; text: string }

// Each text continues a sentence that begins with the actor. {} is replaced by the name of the object, and @ by the
// name of its board. Without a name, "the card {}" becomes "a card", and {someone} becomes "someone".
const groups: Record<string, Record<string, string>> = {
  Workspace: {
    create_workspace: 'created the workspace {}',
    update_workspace: 'renamed the workspace {}',
    delete_workspace: 'deleted the workspace {}',
    restore_workspace: 'restored the workspace {}',
    update_organization: 'changed the settings of the organization',
    delete_board_template: 'deleted the template {}',
    change_member: 'changed the role of {someone}',
    remove_member: 'removed {someone} from the workspace',
    create_invitation: 'invited {someone}',
    withdraw_invitation: 'withdrew the invitation to {someone}',
    accept_invitation: 'joined the workspace',
    import_board: 'imported boards',
    reject_password: 'entered a wrong password for {someone}',
    cancel_job: 'canceled an import, a copy or a move',
  },
  Webhooks: {
    create_webhook: 'created the webhook {}',
    update_webhook: 'changed the webhook {}',
    pause_webhook: 'paused the webhook {}',
    enable_webhook: 'asked to turn on the webhook {}',
    test_webhook: 'sent a test event',
    rotate_webhook_secret: 'rotated the secret of the webhook {}',
    redeliver: 'redelivered a webhook event',
    redeliver_many: 'redelivered events of the webhook {}',
    delete_webhook: 'deleted the webhook {}',
  },
  Boards: {
    create_board: 'created the board @',
    create_board_from_template: 'created the board @ from a template',
    copy_board: 'created the board @ as a copy',
    save_board_as_template: 'saved the board @ as a template',
    update_board: 'changed the board @',
    set_background: 'changed the picture of the board @',
    archive_board: 'archived the board @',
    restore_board: 'restored the board @',
    trash_board: 'moved the board @ to the trash',
    share_board: 'shared the board @ with {someone}',
    remove_board_member: 'removed {someone} from the board @',
    update_public_page: 'changed the public page of the board @',
    renew_public_page: 'replaced the address of the public page of the board @',
    post_status_update: 'posted the status update {}',
    star_board: 'starred the board @',
    unstar_board: 'unstarred the board @',
    watch_board: 'started watching the board @',
    unwatch_board: 'stopped watching the board @',
    set_collapsed_lists: 'collapsed or expanded lists of the board @',
  },
  Lists: {
    create_list: 'created the list {}',
    update_list: 'changed the list {}',
    move_list: 'moved the list {}',
    move_list_to_board: 'moved the list {} to another board',
    copy_list: 'copied the list {}',
    archive_list: 'archived the list {}',
    restore_list: 'restored the list {}',
    delete_list: 'deleted the list {}',
  },
  Cards: {
    create_card: 'created the card {}',
    create_cards: 'created several cards',
    update_card: 'changed the card {}',
    batch: 'performed several operations',
    update_cards: 'changed several cards',
    undo_changes: 'undid changes',
    move_card: 'moved the card {}',
    move_card_to_board: 'moved the card {} to another board',
    copy_card: 'copied the card {}',
    archive_card: 'archived the card {}',
    restore_card: 'restored the card {}',
    delete_card: 'deleted the card {}',
    set_card_labels: 'changed the labels of the card {}',
    set_card_assignees: 'changed the assignees of the card {}',
    watch_card: 'started watching the card {}',
    unwatch_card: 'stopped watching the card {}',
    set_card_due: 'set the due date of the card {}',
    submit_guest_card: 'submitted the card {}',
    clear_card_due: 'removed the due date from the card {}',
    add_checklist: 'added the checklist {}',
    update_checklist: 'changed the checklist {}',
    delete_checklist: 'deleted the checklist {}',
    add_checklist_item: 'added the checklist item {}',
    update_checklist_item: 'changed the checklist item {}',
    delete_checklist_item: 'deleted the checklist item {}',
  },
  'Comments, labels and filters': {
    add_comment: 'commented',
    add_guest_comment: 'commented',
    edit_comment: 'edited a comment',
    delete_comment: 'deleted a comment',
    add_attachment: 'attached a file or link',
    update_attachment: 'changed an attachment',
    delete_attachment: 'removed an attachment',
    restore_attachment: 'restored an attachment',
    create_upload: 'began to upload a file',
    append_upload: 'attached an uploaded file',
    delete_upload: 'canceled an upload',
    create_label: 'created the label {}',
    update_label: 'changed the label {}',
    delete_label: 'deleted the label {}',
    create_saved_filter: 'saved the filter {}',
    update_saved_filter: 'changed the filter {}',
    delete_saved_filter: 'deleted the filter {}',
  },
  Automation: {
    create_rule: 'created the rule {}',
    update_rule: 'changed the rule {}',
    delete_rule: 'deleted the rule {}',
    enable_rule: 'turned on the rule {}',
    disable_rule: 'turned off the rule {}',
  },
}

const operationTexts = new Map<string, OperationText>(
  Object.entries(groups).flatMap(([group, ops]) =>
    Object.entries(ops).map(([name, text]): [string, OperationText] => [name, { group, text }]),
  ),
)

export type Piece = { text: string; name?: boolean }
type EntryFields = Pick<AuditEntry, 'operation' | 'subject' | 'subjectName' | 'boardId' | 'boardName' | 'changes'>

/**
 * Returns the name of an entry’s object: the current name or, if that is unknown, the new
 * or old name in the changes. Returns null if there is no name.
 */
function objectName(
  { subject, subjectName, boardId, changes }: EntryFields,
  names: ReadonlyMap<string, string>,
): string | null {
  if (subjectName !== null && subject !== boardId) return subjectName
  for (const field of ['name', 'title', 'email', 'userId']) {
    const value = changes[field]?.to ?? changes[field]?.from
    if (typeof value === 'string' && value) return field === 'userId' ? (names.get(value) ?? null) : value
  }
  return null
}

/** Returns text such as "moved the card One on Plan", split into pieces. Names are separate pieces. */
export function entryPieces(entry: EntryFields, names: ReadonlyMap<string, string> = new Map()): Piece[] {
  const template = operationTexts.get(entry.operation)?.text ?? `did ${entry.operation.replaceAll('_', ' ')}`
  const object = objectName(entry, names)
  const hiddenBoard = entry.boardId !== null && entry.boardName === null
  let text = template
  if (object === null) text = text.replace(/the ((?:checklist |status )?\w+) \{\}/, 'a $1')
  if (entry.boardName === null)
    text = text.replace('the board @', hiddenBoard ? 'a board that you can’t see' : 'a board')
  const pieces = text.split(/(@|\{\w*\})/).flatMap((part): Piece[] => {
    if (part === '@') return [{ text: entry.boardName ?? '', name: true }]
    if (part.startsWith('{')) return [object === null ? { text: part.slice(1, -1) } : { text: object, name: true }]
    return part ? [{ text: part }] : []
  })
  if (template.includes('@') || entry.boardId === null) return pieces
  if (hiddenBoard) return [...pieces, { text: ' on a board that you can’t see' }]
  return [...pieces, { text: ' on ' }, { text: entry.boardName!, name: true }]
}

/** The operations that have text in `groups`. */
export const knownOperations: ReadonlySet<string> = new Set(operationTexts.keys())

/** Returns the label of an operation: "Move card". */
export function operationText(operation: string): string {
  const text = operation.replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The operations by group, for the filter. */
export const operationGroups: readonly { name: string; operations: readonly string[] }[] = Object.entries(groups).map(
  ([name, ops]) => ({ name, operations: Object.keys(ops) }),
)

const actors: Record<string, string> = { automation: 'Automation', guest: 'A guest', system: 'Cardwall' }

export const actorText = (type: string): string => actors[type] ?? 'Someone'

/** The actor types other than people, as used by the filter. */
export const otherActors = ['automation', 'guest', 'system'] as const
