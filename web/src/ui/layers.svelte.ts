let depth = $state(0)

/** Counts the open dialogs. Toasts show in the topmost, because anything below it is inert. */
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
