// Which text a person typed for an operation, and the place of its draft.
import type { Operation } from '.'

export type Typed = { place: string; text: string; joint?: string }

/** Returns the typed text of an operation; null for operations without one. */
export function typedFor({ kind, input }: Operation, boardId: string): Typed | null {
  switch (kind) {
    case 'create_card':
      return { place: `new-card:${input.listId}`, text: input.title }
    case 'update_card':
      if (input.description !== undefined) return { place: `description:${input.cardId}`, text: input.description }
      return input.title === undefined ? null : { place: `title:${input.cardId}`, text: input.title }
    case 'add_comment':
      return { place: `comment:${input.cardId}`, text: input.text, joint: '\n\n' }
    case 'edit_comment':
      return { place: `comment-edit:${input.commentId}`, text: input.text }
    case 'add_checklist_item':
      return { place: `new-item:${input.checklistId}`, text: input.title }
    case 'update_checklist_item':
      return input.title === undefined ? null : { place: `item:${input.itemId}`, text: input.title }
    case 'create_list':
      return { place: `new-list:${boardId}`, text: input.name }
    case 'update_list':
      return input.name === undefined ? null : { place: `list-name:${input.listId}`, text: input.name }
    case 'update_board':
      return input.description === undefined ? null : { place: `board-description:${boardId}`, text: input.description }
  }
  return null
}
