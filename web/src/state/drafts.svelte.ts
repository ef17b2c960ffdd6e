// What was typed and not sent yet: kept on this device by person, thing and
// field, until it is sent, discarded, or a month old.
import { untrack } from 'svelte'
import type { Attachment } from 'svelte/attachments'

/** A text with when it was written, and the text that it was written over. */
type Draft = { text: string; at: number; base?: string }

const prefix = 'cardwall-draft:'
const lifetime = 30 * 24 * 3600_000
const guest = 'guest'

let person = guest
/** Counts the changes, so that what shows whether there is a draft is drawn again. */
let changes = $state(0)
/** The fields on the page, by where their drafts are kept. */
const fields = new Map<string, DraftField>()

const keyOf = (place: string) => `${prefix}${person}:${place}`

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

/** Stores a value; when the browser has no room left, the oldest drafts make way. */
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
  /** Says whose drafts are read and written from now on; without an id, those of a guest. */
  of(userId: string | null): void {
    person = userId ?? guest
    for (const { key, at } of all()) if (at < Date.now() - lifetime) remove(key)
  },
  read(place: string): Draft | null {
    return parse(localStorage.getItem(keyOf(place)))
  },
  has(place: string): boolean {
    void changes
    return localStorage.getItem(keyOf(place)) !== null
  },
  write(place: string, text: string, base?: string): void {
    if (text || base) store(keyOf(place), JSON.stringify({ text, at: Date.now(), base } satisfies Draft))
    else this.drop(place)
  },
  drop(place: string): void {
    remove(keyOf(place))
    fields.get(place)?.forget()
  },
  /** Forgets a draft that was sent, unless more has been typed since. */
  sent(place: string, text: string): void {
    if (this.read(place)?.text.trim() === text.trim()) this.drop(place)
  },
  /** Puts words that the server refused back where they were written. */
  giveBack(place: string, text: string, joint = '\n'): void {
    const now = fields.get(place)?.value ?? this.read(place)?.text ?? ''
    const whole = now.trim() && now.trim() !== text.trim() ? `${text}${joint}${now}` : text
    this.write(place, whole)
    fields.get(place)?.show(whole)
  },
  /** Forgets everything that the person has written: for signing out on purpose. */
  clear(): void {
    for (const { key } of all()) if (key.startsWith(`${prefix}${person}:`)) remove(key)
  },
}

type Options = {
  /** The text of the field without a draft. */
  initial?: () => string
  /** Whether a draft is out of date, and is dropped. */
  stale?: (text: string) => boolean
}

/**
 * Keeps what is typed in one field, and puts it back when the field is shown
 * again. A null place means that nothing is kept yet: a card has no id before
 * the server knows it.
 */
export class DraftField {
  /** Whether the field shows a draft that was written before. */
  restored = $state(false)
  #node: HTMLInputElement | HTMLTextAreaElement | null = null

  constructor(
    private readonly place: () => string | null,
    private readonly options: Options = {},
  ) {}

  get value(): string | undefined {
    return this.#node?.value
  }

  readonly attach: Attachment<HTMLInputElement | HTMLTextAreaElement> = (node) => {
    const place = this.place()
    this.#node = node
    if (place === null) return
    return untrack(() => {
      fields.set(place, this)
      this.#restore(place, node)
      const typed = () => {
        const { value } = node
        drafts.write(place, value === (this.options.initial?.() ?? '') ? '' : value)
      }
      node.addEventListener('input', typed)
      return () => {
        node.removeEventListener('input', typed)
        if (fields.get(place) === this) fields.delete(place)
        this.#node = null
      }
    })
  }

  #restore(place: string, node: HTMLInputElement | HTMLTextAreaElement): void {
    const initial = this.options.initial?.() ?? ''
    const found = drafts.read(place)?.text
    if (found === undefined) {
      if (node.value !== initial) drafts.write(place, node.value)
    } else if (found === initial || this.options.stale?.(found)) drafts.drop(place)
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

  /** Forgets that the text was a draft. */
  forget(): void {
    this.restored = false
  }

  /** Forgets the draft: it was sent, saved, or cancelled. */
  drop(): void {
    const place = untrack(this.place)
    if (place !== null) drafts.drop(place)
    this.forget()
  }

  /** Forgets the draft and shows the field as it is without it. */
  discard = (): void => {
    this.#set(this.options.initial?.() ?? '')
    this.drop()
    this.#node?.focus()
  }
}
