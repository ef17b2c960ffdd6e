export type Toast = {
  id: number
  text: string
  tone: 'plain' | 'bad'
  action?: { label: string; run: () => void }
}

export const toasts = $state<Toast[]>([])

let lastId = 0

/** Shows a toast and returns its ID. A toast with an action or an error stays longer. */
export function toast(text: string, more: Partial<Pick<Toast, 'tone' | 'action'>> = {}): number {
  const id = ++lastId
  toasts.push({ id, text, tone: 'plain', ...more })
  if (toasts.length > 3) toasts.shift()
  setTimeout(() => dismiss(id), more.action || more.tone === 'bad' ? 8000 : 4000)
  return id
}

const undoToasts = new WeakMap<object, number>()

/** Shows a toast with an Undo button. The caller must call dismissUndo when the step can no longer be undone. */
export function undoToast(step: object, text: string, run: () => void): void {
  undoToasts.set(step, toast(text, { action: { label: 'Undo', run } }))
}

/** Removes the Undo toast of a step. */
export function dismissUndo(step: object): void {
  const id = undoToasts.get(step)
  if (id !== undefined) dismiss(id)
}

export function dismiss(id: number): void {
  const index = toasts.findIndex((t) => t.id === id)
  if (index >= 0) toasts.splice(index, 1)
}
