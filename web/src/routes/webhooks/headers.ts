// The headers of a webhook, as a form edits them.

/** The maximum number of headers of a webhook. */
export const maxHeaders = 5

/** A header in a form. `kept` means that the server keeps the value that it has. */
export type HeaderRow = { key: number; name: string; value: string; kept: boolean }

export const keptHeaders = (names: readonly string[]): HeaderRow[] =>
  names.map((name, key) => ({ key, name, value: '', kept: true }))

/** Returns the input for the API. Returns undefined if all headers of the webhook stay as they are. */
export function headersInput(
  rows: readonly HeaderRow[],
  names: readonly string[],
): { name: string; value?: string }[] | undefined {
  if (rows.length === names.length && rows.every((row) => row.kept)) return undefined
  return rows.map(({ name, value, kept }) => (kept ? { name } : { name: name.trim(), value: value.trim() }))
}
