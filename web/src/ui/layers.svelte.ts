let depth = $state(0)

/** How many dialogs are open; toasts show in the topmost, for what is below it cannot be reached. */
export const layers = {
  get top() {
    return depth
  },
  enter(): number {
    return ++depth
  },
  leave(): void {
    depth--
  },
}
