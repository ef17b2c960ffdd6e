// What an operation did, as a sentence about a person says it.
type Words = { group: string; did: string }

const groups: Record<string, Record<string, string>> = {
  Workspace: {
    create_workspace: 'made the workspace',
    update_workspace: 'renamed the workspace',
    update_organization: 'changed the plan of the organization',
    delete_board_template: 'deleted a template',
    change_member: 'changed the role of',
    remove_member: 'took out of the workspace',
    create_invitation: 'invited somebody',
    withdraw_invitation: 'withdrew an invitation',
    accept_invitation: 'joined the workspace',
    import_board: 'imported boards',
  },
  Webhooks: {
    create_webhook: 'made the webhook',
    update_webhook: 'changed the webhook',
    pause_webhook: 'paused the webhook',
    switch_on_webhook: 'asked to switch on a webhook',
    test_webhook: 'sent a test event',
    rotate_webhook_secret: 'made another secret of the webhook',
    send_delivery_again: 'sent a delivery again',
    send_deliveries_again: 'sent deliveries again of the webhook',
    delete_webhook: 'deleted a webhook',
  },
  Boards: {
    create_board: 'made the board',
    create_board_from_template: 'made a board from a template',
    copy_board: 'copied a board',
    save_board_as_template: 'saved as a template the board',
    update_board: 'changed the board',
    archive_board: 'archived the board',
    restore_board: 'restored the board',
    trash_board: 'moved to the trash the board',
    share_board: 'shared the board',
    remove_board_member: 'took somebody off the board',
    update_public_page: 'changed the public page of the board',
    renew_public_page: 'gave another address to the public page of the board',
    post_status_update: 'posted a status update',
    star_board: 'starred the board',
    unstar_board: 'took the star from the board',
    watch_board: 'began to watch the board',
    unwatch_board: 'no longer watches the board',
  },
  Lists: {
    create_list: 'made the list',
    update_list: 'changed the list',
    move_list: 'moved the list',
    move_list_to_board: 'moved to another board the list',
    copy_list: 'copied the list',
    archive_list: 'archived the list',
    restore_list: 'restored the list',
  },
  Cards: {
    create_card: 'made the card',
    update_card: 'changed the card',
    move_card: 'moved the card',
    move_card_to_board: 'moved to another board the card',
    copy_card: 'copied the card',
    archive_card: 'archived the card',
    restore_card: 'restored the card',
    set_card_labels: 'changed the labels of the card',
    set_card_assignees: 'changed the people of the card',
    watch_card: 'began to watch the card',
    unwatch_card: 'no longer watches the card',
    set_card_due: 'set the due date of the card',
    submit_guest_card: 'submitted a card',
    clear_card_due: 'took the due date from the card',
    add_checklist: 'added a checklist',
    update_checklist: 'changed a checklist',
    delete_checklist: 'deleted a checklist',
    add_checklist_item: 'added a checklist item',
    update_checklist_item: 'changed a checklist item',
    delete_checklist_item: 'deleted a checklist item',
  },
  'Comments, labels and filters': {
    add_comment: 'commented',
    add_guest_comment: 'commented',
    edit_comment: 'edited a comment',
    delete_comment: 'deleted a comment',
    create_label: 'made a label',
    update_label: 'changed a label',
    delete_label: 'deleted a label',
    create_saved_filter: 'saved a filter',
    update_saved_filter: 'changed a saved filter',
    delete_saved_filter: 'deleted a saved filter',
  },
}

const all = new Map<string, Words>(
  Object.entries(groups).flatMap(([group, ops]) =>
    Object.entries(ops).map(([name, did]): [string, Words] => [name, { group, did }]),
  ),
)

/** "moved the card"; for what is not known here its name in words. */
export const didText = (operation: string): string => all.get(operation)?.did ?? `did ${operation.replaceAll('_', ' ')}`

/** "Move card", as a choice. */
export function operationText(operation: string): string {
  const words = operation.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The operations that can be asked for, in groups. */
export const operationGroups: readonly { name: string; operations: readonly string[] }[] = Object.entries(groups).map(
  ([name, ops]) => ({ name, operations: Object.keys(ops) }),
)

const actors: Record<string, string> = { automation: 'Automation', guest: 'A guest', system: 'The service' }

export const actorText = (type: string): string => actors[type] ?? 'Somebody'

/** Actors that are no persons, as a filter names them. */
export const otherActors = ['automation', 'guest', 'system'] as const
