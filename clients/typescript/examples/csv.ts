/** Returns the rows of a CSV text (RFC 4180) by the names in its first row. */
export function parseCSV(text: string): Record<string, string>[] {
  const [names = [], ...rows] = parseRows(text.replace(/^\uFEFF/, ''))
  return rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i] ?? ''])))
}

function parseRows(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  // A field is quoted, with quotes doubled, or plain. A comma or a line break follows it.
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|$)/y
  while (field.lastIndex < text.length) {
    const match = field.exec(text)
    if (!match) throw new Error(`Row ${rows.length + 1} is not valid CSV.`)
    const [, quoted, plain = '', separator] = match
    row.push(quoted?.replaceAll('""', '"') ?? plain)
    if (separator === ',' && field.lastIndex < text.length) continue
    if (separator === ',') row.push('')
    if (row.length > 1 || row[0] !== '') rows.push(row)
    row = []
  }
  return rows
}
