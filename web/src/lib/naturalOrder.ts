const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

/** Compares names in natural order: 2 before 10. */
export const byName = (a: { name: string }, b: { name: string }): number => collator.compare(a.name, b.name)

/** Returns the items sorted by name, in natural order. */
export const inOrder = <T extends { name: string }>(items: readonly T[]): readonly T[] =>
  items.length > 1 ? [...items].sort(byName) : items
