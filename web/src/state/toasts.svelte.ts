export type Toast = {
  id: number
  text: string
  tone: 'plain' | 'bad'
  action?: { label: string; run: () => void }
}

export const toasts = $state<Toast[]>([])

let last = 0

/** Shows a toast, longer if it has an action or reports an error. It returns the ID of the toast. */
export function toast(text: string, more: Partial<Pick<Toast, 'tone' | 'action'>> = {}): number {
  const id = ++last
  toasts.push({ id, text, tone: 'plain', ...more })
  if (toasts.length > 3) toasts.shift()
  setTimeout(() => dismiss(id), more.action || more.tone === 'bad' ? 8000 : 4000)
  return id
}

const undoToasts = new WeakMap<object, number>()

/** Shows a toast whose Undo button reverts a step. Its store calls dismissUndo once the step cannot be undone. */
export function undoToast(step: object, text: string, run: () => void): void {
  undoToasts.set(step, toast(text, { action: { label: 'Undo', run } }))
}

/** Removes the toast of a step that was undone by other means, such as Ctrl+Z. */
export function dismissUndo(step: object): void {
  const id = undoToasts.get(step)
  if (id !== undefined) dismiss(id)
}

export function dismiss(id: number): void {
  const at = toasts.findIndex((t) => t.id === id)
  if (at >= 0) toasts.splice(at, 1)
}
