// Starts uploads, and tells the open board about their results. The code for uploads is
// loaded on the first use, because most visits to a board attach nothing.
import { reason } from '../api/client'
import type { Attachment } from '../api/types'
import { loadChunk, NeedsReload } from '../lib/loadChunk'
import { session } from './session.svelte'
import { toast } from './toasts.svelte'

/** The card to which files are attached. */
export type UploadTarget = { cardId: string; cardTitle: string }

let started = $state(false)
let active = 0

/** Reports whether an upload has been started since the page was loaded. */
export const uploadsStarted = () => started

/** Returns the number of files that are waiting or being sent. */
export const activeUploads = () => active

export function setActiveUploads(count: number): void {
  active = count
}

/** Uploads files to a card. The uploads continue while other pages are shown. */
export async function attachFiles(target: UploadTarget, files: readonly File[]): Promise<void> {
  if (files.length === 0) return
  const { userId } = session
  started = true
  try {
    const { uploads } = await loadChunk(() => import('./uploads.svelte'))
    // The user may have signed out while the code was loading.
    if (session.userId === userId) uploads.add(target, files)
  } catch (thrown) {
    toast(thrown instanceof NeedsReload ? thrown.explanation : reason(thrown), { tone: 'bad' })
  }
}

/** The callbacks of the open board. */
export type UploadListener = {
  /** Called after a file was attached. */
  attached: (attachment: Attachment) => void
  /** Called after an upload ended without a response. The server may have attached the file to the card. */
  outcomeUnknown: (cardId: string) => void
}

let listeners: UploadListener[] = []

/** Adds a listener. The returned function removes it. */
export function listenToUploads(listener: UploadListener): () => void {
  listeners.push(listener)
  return () => (listeners = listeners.filter((l) => l !== listener))
}

/** Tells the listeners that a file was attached. */
export function attached(attachment: Attachment): void {
  for (const listener of listeners) listener.attached(attachment)
}

/** Tells the listeners that the server may have attached a file to a card. */
export function outcomeUnknown(cardId: string): void {
  for (const listener of listeners) listener.outcomeUnknown(cardId)
}

/** Reports whether a drag or the clipboard contains files. */
export const hasFiles = (transfer: DataTransfer | null): boolean => !!transfer?.types.includes('Files')

/** Returns the files of a drag or the clipboard, without folders. */
export function filesOf(transfer: DataTransfer | null): File[] {
  const items = [...(transfer?.items ?? [])].filter((item) => item.kind === 'file')
  const files = items.flatMap((item) => (item.webkitGetAsEntry?.()?.isDirectory ? [] : (item.getAsFile() ?? [])))
  if (files.length < items.length) toast('Folders can’t be attached. Choose the files in them instead.')
  return files
}
