// The steps of a page that the person can undo, and their toasts with an Undo button.
import { untrack } from 'svelte'
import { dismissUndo, toast, undoToast } from './toasts.svelte'

/** The number of steps that are kept. */
const maxSteps = 50

/** `S` is what the page needs to revert a step, besides the text that describes it. */
export class UndoHistory<S extends { text: string }> {
  #steps = $state.raw<readonly S[]>([])

  constructor(private readonly revertStep: (step: S) => void) {}

  get canUndo(): boolean {
    return this.#steps.length > 0
  }

  get last(): S | undefined {
    return this.#steps.at(-1)
  }

  /** Adds a step. If there are too many, it drops the oldest. */
  add(step: S): void {
    this.#steps = [...untrack(() => this.#steps).slice(1 - maxSteps), step]
  }

  /** Undoes the last step and shows a toast that says so. */
  undo(): void {
    const { last } = this
    if (!last) return
    this.revert(last)
    toast(`Undone: ${last.text}`)
  }

  /** Undoes a step, unless it has been undone or dropped already. */
  revert(step: S): void {
    if (!this.#steps.includes(step)) return
    this.drop((one) => one === step)
    this.revertStep(step)
  }

  /** Shows a toast whose Undo button reverts a step. */
  showToast(step: S, text = step.text): void {
    undoToast(step, text, () => this.revert(step))
  }

  /** Drops the steps that can no longer be undone, with their toasts. */
  drop(matches: (step: S) => boolean): void {
    // An effect that drops steps must not run again when one is added.
    const before = untrack(() => this.#steps)
    const dropped = before.filter(matches)
    if (dropped.length === 0) return
    dropped.forEach(dismissUndo)
    this.#steps = before.filter((step) => !dropped.includes(step))
  }

  /** Calls `change` for each step, for example to replace an ID in it. */
  update(change: (step: S) => void): void {
    this.#steps.forEach(change)
  }
}
