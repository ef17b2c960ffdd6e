// The text that the user typed for an operation, and the key of its draft.
import type { Operation } from '.'

/** `separator` is for text that adds a record. Other text replaces a former version. */
export type TypedText = { draftKey: string; text: string; separator?: string }

/** Returns the typed text of an operation, or null if it has none. */
export function typedTextOf({ kind, input }: Operation, boardId: string): TypedText | null {
  switch (kind) {
    case 'create_card':
      return { draftKey: `new-card:${input.listId}`, text: input.title, separator: '\n' }
    case 'update_card':
      if (input.description !== undefined) return { draftKey: `description:${input.cardId}`, text: input.description }
      return input.title === undefined ? null : { draftKey: `title:${input.cardId}`, text: input.title }
    case 'add_comment':
      return { draftKey: `comment:${input.cardId}`, text: input.text, separator: '\n\n' }
    case 'edit_comment':
      return { draftKey: `comment-edit:${input.commentId}`, text: input.text }
    case 'add_checklist_item':
      return { draftKey: `new-item:${input.checklistId}`, text: input.title, separator: '\n' }
    case 'update_checklist_item':
      return input.title === undefined ? null : { draftKey: `item:${input.itemId}`, text: input.title }
    case 'create_list':
      return { draftKey: `new-list:${boardId}`, text: input.name, separator: '\n' }
    case 'update_list':
      return input.name === undefined ? null : { draftKey: `list-name:${input.listId}`, text: input.name }
    case 'update_board':
      return input.description === undefined
        ? null
        : { draftKey: `board-description:${boardId}`, text: input.description }
  }
  return null
}
