// A board's colour: the one that somebody chose, else one that its id gives it,
// the same wherever it is named.
import { labelColors, type LabelColor } from '../../api/types'

export function colorOf(board: { id: string; color: LabelColor | null }): LabelColor {
  if (board.color) return board.color
  const sum = [...board.id].reduce((n, c) => (n * 31 + c.charCodeAt(0)) | 0, 7) >>> 0
  return labelColors[1 + (sum % 11)]!
}
