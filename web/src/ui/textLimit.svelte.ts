// Text length limits. A text over its limit stays in its field with a character
// count and is not saved. `maxlength` would silently truncate pasted text.
import type { Attachment } from 'svelte/attachments'

type Box = HTMLInputElement | HTMLTextAreaElement

export const titleLimit = 512
export const textLimit = 16_384

let ids = 0

/** Returns the number of Unicode code points, which is what the server counts. */
export function lengthOf(text: string): number {
  return text.length - (text.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0)
}

const number = (n: number) => n.toLocaleString('en')

/** Returns why a text cannot be saved, or null if it is short enough. */
export function tooLong(text: string, max: number): string | null {
  if (text.length <= max) return null
  const n = lengthOf(text)
  return n > max ? `Not saved: ${number(n)} characters. Shorten it to ${number(max)} or fewer.` : null
}

/** Returns why lines that become separate records cannot be saved, naming the first that is too long, or null. */
export function tooLongLine(text: string, max: number): string | null {
  const lines = text.split('\n')
  const at = lines.findIndex((line) => tooLong(line, max))
  if (at < 0) return null
  const problem = tooLong(lines[at]!, max)!
  return lines.length > 1 ? problem.replace('Not saved:', `Not saved: line ${at + 1} has`) : problem
}

type Options = {
  /** The text, if the page also changes it without an input event. */
  text?: () => string
  /** Applies the limit to each line. */
  lines?: boolean
}

/** Shows a character count near the limit, and marks the field as invalid above it. */
export function limitLength<T extends Box>(max: number, { text, lines = false }: Options = {}): Attachment<T> {
  const closeTo = max - Math.max(10, max * 0.05)
  return (node) => {
    const note = document.createElement('p')
    note.id = `limit-${++ids}`
    note.className = 'limit'
    note.setAttribute('aria-live', 'polite')
    let marked = false

    function describe(on: boolean): void {
      const others = (node.getAttribute('aria-describedby') ?? '').split(' ').filter((id) => id && id !== note.id)
      if (on) others.push(note.id)
      if (others.length > 0) node.setAttribute('aria-describedby', others.join(' '))
      else node.removeAttribute('aria-describedby')
    }

    function update(): void {
      const { value } = node
      const problem = (lines ? tooLongLine : tooLong)(value, max)
      node.setCustomValidity(problem ?? '')
      if (problem) node.setAttribute('aria-invalid', 'true')
      else if (marked) node.removeAttribute('aria-invalid')
      marked = problem !== null
      const n = problem || lines || value.length <= closeTo ? 0 : lengthOf(value)
      note.textContent = problem ?? (n > closeTo ? `${number(n)} of ${number(max)} characters` : '')
      note.classList.toggle('over', marked)
      const shown = note.textContent !== ''
      if (shown && !note.isConnected) node.after(note)
      else if (!shown) note.remove()
      if (shown !== (node.getAttribute('aria-describedby') ?? '').includes(note.id)) describe(shown)
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
