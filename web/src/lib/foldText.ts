/**
 * Returns text for comparisons: in lower case, without accents, with ß as ss, and with one form
 * of each character and space.
 */
export function foldText(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
}
