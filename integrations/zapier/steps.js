/**
 * Returns triggers, searches or actions in the form of the platform, by key. A definition has
 * `noun`, `label`, `description` and the fields of `operation`.
 */
export function steps(definitions) {
  const step = ([key, { noun, label, description, hidden, ...operation }]) => [
    key,
    { key, noun, display: { label, description, hidden }, operation },
  ]
  return Object.fromEntries(Object.entries(definitions).map(step))
}
