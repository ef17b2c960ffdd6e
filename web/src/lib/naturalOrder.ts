const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

/** Compares names in natural order: 2 before 10. */
export const byName = (a: { name: string }, b: { name: string }): number => collator.compare(a.name, b.name)

/** Returns the items in natural order of their names. */
export const inOrder = <T extends { name: string }>(all: readonly T[]): readonly T[] =>
  all.length > 1 ? [...all].sort(byName) : all
