// Drafts of unsent text, stored in this browser for each user, record and field. A draft
// is deleted when its text is sent or discarded, or after 30 days.
import { untrack } from 'svelte'
import type { Attachment } from 'svelte/attachments'

/** A draft. `at` is when it was written, in ms since the Unix epoch. `base` is the text it replaces. */
type Draft = { text: string; at: number; base?: string }

const prefix = 'cardwall-draft:'
const lifetime = 30 * 24 * 3600_000 // ms
const guest = 'guest'

let userKey = guest
/** Makes has() reactive. It increases when a draft is created or deleted. */
let changes = $state(0)
/** The fields on the page by draft key. */
const fields = new Map<string, DraftField>()

const storageKey = (draftKey: string) => `${prefix}${userKey}:${draftKey}`

function parse(stored: string | null): Draft | null {
  try {
    const draft = JSON.parse(stored ?? 'null') as Draft | null
    return typeof draft?.text === 'string' && typeof draft.at === 'number' ? draft : null
  } catch {
    return null
  }
}

/** Returns the storage keys of all drafts, oldest first. */
function all(): { key: string; at: number }[] {
  return Object.keys(localStorage)
    .filter((key) => key.startsWith(prefix))
    .map((key) => ({ key, at: parse(localStorage.getItem(key))?.at ?? 0 }))
    .sort((a, b) => a.at - b.at)
}

function remove(key: string): void {
  if (localStorage.getItem(key) === null) return
  localStorage.removeItem(key)
  untrack(() => changes++)
}

/** Stores a value. If the storage is full, deletes the oldest drafts until the value fits. */
function store(key: string, value: string): void {
  if (localStorage.getItem(key) === null) untrack(() => changes++)
  for (;;) {
    try {
      localStorage.setItem(key, value)
      return
    } catch {
      const oldest = all().find((draft) => draft.key !== key)
      if (!oldest) return
      remove(oldest.key)
    }
  }
}

export const drafts = {
  /** Selects the user whose drafts are read and written; null is a guest. Deletes the expired drafts of all users. */
  setUser(userId: string | null): void {
    userKey = userId ?? guest
    for (const { key, at } of all()) if (at < Date.now() - lifetime) remove(key)
  },
  read(draftKey: string): Draft | null {
    return parse(localStorage.getItem(storageKey(draftKey)))
  },
  has(draftKey: string): boolean {
    void changes
    return localStorage.getItem(storageKey(draftKey)) !== null
  },
  write(draftKey: string, text: string, base?: string): void {
    if (text || base) store(storageKey(draftKey), JSON.stringify({ text, at: Date.now(), base } satisfies Draft))
    else this.drop(draftKey)
  },
  drop(draftKey: string): void {
    remove(storageKey(draftKey))
    fields.get(draftKey)?.hideNote()
  },
  /** Deletes a draft whose text was sent, unless the draft has changed in the meantime. */
  sent(draftKey: string, text: string): void {
    if (this.read(draftKey)?.text.trim() === text.trim()) this.drop(draftKey)
  },
  /**
   * Restores rejected text to its draft and field, before any text typed in the meantime. Without a separator, the text
   * typed in the meantime is a newer version, which replaces it.
   */
  restore(draftKey: string, text: string, separator?: string): void {
    const draft = this.read(draftKey)
    const current = fields.get(draftKey)?.value ?? draft?.text ?? ''
    const changed = current.trim() && current.trim() !== text.trim()
    const restored = !changed ? text : separator ? text + separator + current : current
    this.write(draftKey, restored, draft?.base)
    fields.get(draftKey)?.show(restored)
  },
  /** Deletes all drafts of the current user, for example after signing out. */
  clear(): void {
    for (const { key } of all()) if (key.startsWith(`${prefix}${userKey}:`)) remove(key)
  },
}

type Options = {
  /** Returns the text that the field shows if there is no draft. */
  initial?: () => string
  /** Reports whether a draft is obsolete and can be deleted. */
  stale?: (text: string) => boolean
}

/**
 * Saves the text typed into a field as a draft and restores it when the field is shown
 * again. Nothing is saved while the draft key is null, which is the case until the
 * server has assigned an ID to a new record.
 */
export class DraftField {
  /** Whether the field shows a restored draft. */
  restored = $state(false)
  #node: HTMLInputElement | HTMLTextAreaElement | null = null

  constructor(
    private readonly draftKey: () => string | null,
    private readonly options: Options = {},
  ) {}

  get value(): string | undefined {
    return this.#node?.value
  }

  readonly attach: Attachment<HTMLInputElement | HTMLTextAreaElement> = (node) => {
    const draftKey = this.draftKey()
    this.#node = node
    if (draftKey === null) return
    return untrack(() => {
      fields.set(draftKey, this)
      this.#restore(draftKey, node)
      const onInput = () => {
        const { value } = node
        drafts.write(draftKey, value === (this.options.initial?.() ?? '') ? '' : value)
      }
      node.addEventListener('input', onInput)
      return () => {
        node.removeEventListener('input', onInput)
        if (fields.get(draftKey) === this) fields.delete(draftKey)
        this.#node = null
      }
    })
  }

  #restore(draftKey: string, node: HTMLInputElement | HTMLTextAreaElement): void {
    const initial = this.options.initial?.() ?? ''
    const found = drafts.read(draftKey)?.text
    if (found === undefined) {
      if (node.value !== initial) drafts.write(draftKey, node.value)
    } else if (found === initial || this.options.stale?.(found)) drafts.drop(draftKey)
    else this.show(found)
  }

  show(text: string): void {
    if (!this.#node || this.#node.value === text) return
    this.restored = true
    this.#set(text)
  }

  #set(text: string): void {
    const node = this.#node
    if (!node) return
    node.value = text
    untrack(() => node.dispatchEvent(new Event('input', { bubbles: true })))
  }

  /** Hides the note that a draft was restored. */
  hideNote(): void {
    this.restored = false
  }

  /** Deletes the draft after its text was saved or the edit was canceled. */
  drop(): void {
    const draftKey = untrack(this.draftKey)
    if (draftKey !== null) drafts.drop(draftKey)
    this.hideNote()
  }

  /** Deletes the draft and shows the initial text. */
  discard = (): void => {
    this.#set(this.options.initial?.() ?? '')
    this.drop()
    this.#node?.focus()
  }
}
