const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

/** Orders names as people count: 2 before 10. */
export const byName = (a: { name: string }, b: { name: string }): number => collator.compare(a.name, b.name)

/** The same in the order of their names. */
export const inOrder = <T extends { name: string }>(all: readonly T[]): readonly T[] =>
  all.length > 1 ? [...all].sort(byName) : all
