// The steps on a page that can be undone, and their toasts with an Undo button.
import { untrack } from 'svelte'
import { dismissUndo, toast, undoToast } from './toasts.svelte'

/** The number of steps that are kept. */
const maxSteps = 50

/** The undo history of a page. `S` is a step: its description and the data that the page needs to revert it. */
export class UndoHistory<S extends { text: string }> {
  #steps = $state.raw<readonly S[]>([])

  constructor(private readonly revertStep: (step: S) => void) {}

  get canUndo(): boolean {
    return this.#steps.length > 0
  }

  get last(): S | undefined {
    return this.#steps.at(-1)
  }

  /** Adds a step. Drops the oldest step if there are too many. */
  add(step: S): void {
    this.#steps = [...untrack(() => this.#steps).slice(1 - maxSteps), step]
  }

  /** Undoes the last step and confirms it with a toast. */
  undo(): void {
    const { last } = this
    if (!last) return
    this.revert(last)
    toast(`Undone: ${last.text}`)
  }

  /** Undoes a step, unless it was already undone or dropped. */
  revert(step: S): void {
    if (!this.#steps.includes(step)) return
    this.drop((s) => s === step)
    this.revertStep(step)
  }

  /** Shows a toast whose Undo button reverts a step. */
  showToast(step: S, text = step.text): void {
    undoToast(step, text, () => this.revert(step))
  }

  /** Drops the steps for which `matches` returns true, and their toasts. */
  drop(matches: (step: S) => boolean): void {
    // Untracked, so that an effect that drops steps does not run again when a step is added.
    const steps = untrack(() => this.#steps)
    const dropped = steps.filter(matches)
    if (dropped.length === 0) return
    dropped.forEach(dismissUndo)
    this.#steps = steps.filter((step) => !dropped.includes(step))
  }

  /** Calls `change` for each step, for example to replace an ID. */
  update(change: (step: S) => void): void {
    this.#steps.forEach(change)
  }
}
