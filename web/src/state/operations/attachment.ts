// Operations on attachments. Files are sent by uploads.svelte.ts, because they need a progress bar.
import { api, app, data } from '../../api/client'
import type { Attachment, Card } from '../../api/types'
import type { Draft } from '../boardData'
import { defined, idempotencyHeader, withChanges, without, type Definitions } from './definition'

export type AttachmentInputs = {
  /** Attaches a link. The name is the URL by default. */
  add_link: { id: string; cardId: string; url: string; name?: string }
  update_attachment: { cardId: string; attachmentId: string; name?: string; cover?: boolean }
  delete_attachment: { cardId: string; attachmentId: string }
  restore_attachment: { cardId: string; attachment: Attachment }
}

export type AttachmentResults = { [K in keyof AttachmentInputs]: unknown } & {
  add_link: Attachment
  update_attachment: Attachment
  restore_attachment: Attachment
}

const attachment = (attachmentId: string, key: string) => ({ path: { attachmentId }, header: idempotencyHeader(key) })

/** Changes the attachments of a card. Does nothing while they are not loaded. */
function change(draft: Draft, cardId: string, to: (all: Attachment[]) => Attachment[]): void {
  const attachments = draft.data.details.get(cardId)?.attachments
  if (attachments) draft.patch('details', cardId, { attachments: to(attachments) })
}

/** Changes the number of attachments of a card. */
function count(draft: Draft, cardId: string, by: 1 | -1): void {
  const known = draft.data.cards.get(cardId)
  if (known) draft.patch('cards', cardId, { attachments: Math.max(0, known.attachments + by) })
}

/** Adds an attachment to its card, unless the card has it already. */
function withAttachment(draft: Draft, added: Attachment): void {
  const { cardId, id } = added
  if (draft.data.details.get(cardId)?.attachments?.some((a) => a.id === id)) return
  count(draft, cardId, 1)
  change(draft, cardId, (all) => [...all, added].sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1)))
}

function withoutAttachment(draft: Draft, { cardId, attachmentId }: AttachmentInputs['delete_attachment']): void {
  count(draft, cardId, -1)
  change(draft, cardId, (all) => without(all, attachmentId))
  if (draft.data.cards.get(cardId)?.cover?.attachmentId === attachmentId) draft.patch('cards', cardId, { cover: null })
}

/** Sets the time of the last change. The card's activity is then loaded again. */
function touch(draft: Draft, cardId: string): void {
  draft.patch('cards', cardId, { updatedAt: new Date().toISOString() })
}

/** Adds an attachment that the server has stored. */
export function addStored(draft: Draft, stored: Attachment): void {
  withAttachment(draft, stored)
  touch(draft, stored.cardId)
}

/** Renames an attachment, makes it the cover of its card, or stops using it as the cover. */
function update(draft: Draft, input: AttachmentInputs['update_attachment']): void {
  const { cardId, attachmentId, name, cover } = input
  change(draft, cardId, (all) => withChanges(all, attachmentId, defined({ name, cover })))
  if (cover) {
    change(draft, cardId, (all) => all.map((a) => ({ ...a, cover: a.id === attachmentId })))
    draft.patch('cards', cardId, { cover: coverOf(draft, cardId, attachmentId) })
  } else if (cover === false && draft.data.cards.get(cardId)?.cover?.attachmentId === attachmentId) {
    draft.patch('cards', cardId, { cover: null })
  }
}

function coverOf(draft: Draft, cardId: string, attachmentId: string): Card['cover'] {
  const picture = draft.data.details.get(cardId)?.attachments?.find((a) => a.id === attachmentId)
  if (picture?.width && picture.height) return { attachmentId, width: picture.width, height: picture.height }
  return draft.data.cards.get(cardId)?.cover ?? null
}

export const attachments: Definitions<AttachmentInputs, AttachmentResults> = {
  add_link: {
    apply: (draft, { id, cardId, url, name }, { boardId, me, now }) =>
      withAttachment(draft, {
        id,
        cardId,
        boardId,
        kind: 'link',
        name: name ?? url,
        url,
        mediaType: null,
        size: null,
        sha256: null,
        width: null,
        height: null,
        cover: false,
        createdBy: me.id,
        createdAt: now,
        updatedAt: now,
      }),
    send: ({ cardId, url, name }, key) =>
      data(
        api.POST('/cards/{cardId}/attachments', {
          params: { path: { cardId }, header: idempotencyHeader(key) },
          body: { url, name },
        }),
      ),
    reconcile: (draft, _, result) => addStored(draft, result),
  },
  update_attachment: {
    apply: update,
    send: ({ attachmentId, name, cover }, key) =>
      data(api.PATCH('/attachments/{attachmentId}', { params: attachment(attachmentId, key), body: { name, cover } })),
    reconcile(draft, input, result) {
      const { name, cover } = input
      update(draft, {
        ...input,
        name: name === undefined ? undefined : result.name,
        cover: cover === undefined ? undefined : result.cover,
      })
      touch(draft, input.cardId)
    },
  },
  delete_attachment: {
    apply: withoutAttachment,
    send: ({ attachmentId }, key) =>
      data(api.DELETE('/attachments/{attachmentId}', { params: attachment(attachmentId, key) })),
    reconcile(draft, input) {
      withoutAttachment(draft, input)
      touch(draft, input.cardId)
    },
  },
  restore_attachment: {
    apply: (draft, { attachment: restored }) => withAttachment(draft, { ...restored, cover: false }),
    send: ({ attachment: { id } }, key) =>
      data(app.POST('/attachments/{attachmentId}/restore', { params: attachment(id, key) })),
    reconcile: (draft, _, result) => addStored(draft, result),
  },
}
