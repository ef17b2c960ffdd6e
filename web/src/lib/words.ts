// Where words begin and end, in all scripts.

/**
 * Scripts whose words join their neighbors without a space. The server has the same list
 * (JoinsWords in internal/board/script.go).
 */
const joining =
  'Han Hiragana Katakana Bopomofo Hangul Yi Thai Lao Khmer Myanmar Tai_Le New_Tai_Lue Tai_Tham Tai_Viet Javanese Balinese'
    .split(' ')
    .map((script) => `\\p{Script=${script}}`)
    .join('') + 'ー'

const separateWordPart = `(?![${joining}])[\\p{L}\\p{N}\\p{M}]`

/**
 * Matches where a word may begin. Underscores around a word do not belong to it. This and wordEnd are for
 * regular expressions with the flag u.
 */
export const wordStart = `(?<!${separateWordPart}_*)`

/** Matches where a word may end, after a part of it. */
export const wordEnd = `(?!\\p{M})(?:(?<=[${joining}])|(?!_*${separateWordPart}))`
