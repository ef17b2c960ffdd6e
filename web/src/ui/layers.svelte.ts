let depth = $state(0)

/** Counts the open dialogs. Toasts appear in the topmost dialog, because everything below it is inert. */
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
