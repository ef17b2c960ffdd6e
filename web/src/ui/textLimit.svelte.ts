// Text length limits. Text over the limit is not saved, but stays in its field with a
// character count. The `maxlength` attribute would silently truncate pasted text.
import type { Attachment } from 'svelte/attachments'

type TextElement = HTMLInputElement | HTMLTextAreaElement

export const titleLimit = 512
export const textLimit = 16_384

let lastId = 0

/** Returns the length of the text in Unicode code points, as the server counts it. */
export function lengthOf(text: string): number {
  return text.length - (text.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0)
}

const number = (n: number) => n.toLocaleString('en')

/** Returns an error message if the text is too long, or null. */
export function tooLong(text: string, max: number): string | null {
  if (text.length <= max) return null
  const n = lengthOf(text)
  return n > max ? `Not saved: ${number(n)} characters. Shorten it to ${number(max)} or fewer.` : null
}

/** Returns an error message about the first line that is too long, or null. Each line becomes a record. */
export function tooLongLine(text: string, max: number): string | null {
  const lines = text.split('\n')
  const index = lines.findIndex((line) => tooLong(line, max))
  if (index < 0) return null
  const problem = tooLong(lines[index]!, max)!
  return lines.length > 1 ? problem.replace('Not saved:', `Not saved: line ${index + 1} has`) : problem
}

type Options = {
  /** Returns the text. Needed if the page also changes the text without an input event. */
  text?: () => string
  /** Applies the limit to each line. */
  lines?: boolean
}

/** Returns an attachment that shows a character count near the limit, and an error above it. */
export function limitLength<T extends TextElement>(max: number, { text, lines = false }: Options = {}): Attachment<T> {
  const countFrom = max - Math.max(10, max * 0.05)
  return (node) => {
    const note = document.createElement('p')
    note.id = `limit-${++lastId}`
    note.className = 'limit'
    note.setAttribute('aria-live', 'polite')
    let invalid = false

    function updateDescription(visible: boolean): void {
      const others = (node.getAttribute('aria-describedby') ?? '').split(' ').filter((id) => id && id !== note.id)
      if (visible) others.push(note.id)
      if (others.length > 0) node.setAttribute('aria-describedby', others.join(' '))
      else node.removeAttribute('aria-describedby')
    }

    function update(): void {
      const { value } = node
      const problem = (lines ? tooLongLine : tooLong)(value, max)
      node.setCustomValidity(problem ?? '')
      if (problem) node.setAttribute('aria-invalid', 'true')
      else if (invalid) node.removeAttribute('aria-invalid')
      invalid = problem !== null
      const n = problem || lines || value.length <= countFrom ? 0 : lengthOf(value)
      note.textContent = problem ?? (n > countFrom ? `${number(n)} of ${number(max)} characters` : '')
      note.classList.toggle('over', invalid)
      const visible = note.textContent !== ''
      if (visible && !note.isConnected) node.after(note)
      else if (!visible) note.remove()
      if (visible !== (node.getAttribute('aria-describedby') ?? '').includes(note.id)) updateDescription(visible)
    }

    node.addEventListener('input', update)
    $effect(() => {
      text?.()
      update()
    })
    return () => {
      node.removeEventListener('input', update)
      note.remove()
    }
  }
}
