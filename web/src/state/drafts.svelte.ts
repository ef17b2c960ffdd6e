// Unsent text, kept on this device by person, record and field until it is sent,
// discarded or 30 days old.
import { untrack } from 'svelte'
import type { Attachment } from 'svelte/attachments'

/** A text with the time of writing, and the text that it replaces. */
type Draft = { text: string; at: number; base?: string }

const prefix = 'cardwall-draft:'
const lifetime = 30 * 24 * 3600_000
const guest = 'guest'

let person = guest
/** Counts changes, so that readers of has() update. */
let changes = $state(0)
/** The fields on the page, by the keys of their drafts. */
const fields = new Map<string, DraftField>()

const keyOf = (draftKey: string) => `${prefix}${person}:${draftKey}`

function parse(stored: string | null): Draft | null {
  try {
    const draft = JSON.parse(stored ?? 'null') as Draft | null
    return typeof draft?.text === 'string' && typeof draft.at === 'number' ? draft : null
  } catch {
    return null
  }
}

/** The keys of all drafts in this browser, oldest first. */
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

/** Stores a value. If the storage is full, it deletes the oldest drafts. */
function store(key: string, value: string): void {
  if (localStorage.getItem(key) === null) untrack(() => changes++)
  for (;;) {
    try {
      localStorage.setItem(key, value)
      return
    } catch {
      const oldest = all().find((one) => one.key !== key)
      if (!oldest) return
      localStorage.removeItem(oldest.key)
    }
  }
}

export const drafts = {
  /** Selects the person whose drafts are read and written; null selects a guest. Deletes expired drafts. */
  setUser(userId: string | null): void {
    person = userId ?? guest
    for (const { key, at } of all()) if (at < Date.now() - lifetime) remove(key)
  },
  read(draftKey: string): Draft | null {
    return parse(localStorage.getItem(keyOf(draftKey)))
  },
  has(draftKey: string): boolean {
    void changes
    return localStorage.getItem(keyOf(draftKey)) !== null
  },
  write(draftKey: string, text: string, base?: string): void {
    if (text || base) store(keyOf(draftKey), JSON.stringify({ text, at: Date.now(), base } satisfies Draft))
    else this.drop(draftKey)
  },
  drop(draftKey: string): void {
    remove(keyOf(draftKey))
    fields.get(draftKey)?.forget()
  },
  /** Deletes a draft that was sent, unless the text has changed since. */
  sent(draftKey: string, text: string): void {
    if (this.read(draftKey)?.text.trim() === text.trim()) this.drop(draftKey)
  },
  /** Restores a text that the server rejected to its draft and field. */
  restore(draftKey: string, text: string, separator = '\n'): void {
    const now = fields.get(draftKey)?.value ?? this.read(draftKey)?.text ?? ''
    const whole = now.trim() && now.trim() !== text.trim() ? `${text}${separator}${now}` : text
    this.write(draftKey, whole)
    fields.get(draftKey)?.show(whole)
  },
  /** Deletes all drafts of the person, on signing out. */
  clear(): void {
    for (const { key } of all()) if (key.startsWith(`${prefix}${person}:`)) remove(key)
  },
}

type Options = {
  /** Returns the text of the field without a draft. */
  initial?: () => string
  /** Reports whether a draft is out of date and can be deleted. */
  stale?: (text: string) => boolean
}

/**
 * Keeps the text typed in one field and restores it when the field is shown
 * again. A null key means that nothing is kept, as for a card that has no server
 * ID yet.
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

  /** Hides the note that the text was restored from a draft. */
  forget(): void {
    this.restored = false
  }

  /** Deletes the draft after it was sent, saved or canceled. */
  drop(): void {
    const draftKey = untrack(this.draftKey)
    if (draftKey !== null) drafts.drop(draftKey)
    this.forget()
  }

  /** Deletes the draft and shows the initial text. */
  discard = (): void => {
    this.#set(this.options.initial?.() ?? '')
    this.drop()
    this.#node?.focus()
  }
}
