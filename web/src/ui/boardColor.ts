import { labelColors, type LabelColor } from '../api/types'

/** Returns the color of a board. If none was chosen, the color is derived from the ID. */
export function colorOf(board: { id: string; color: LabelColor | null }): LabelColor {
  if (board.color) return board.color
  const sum = [...board.id].reduce((n, c) => (n * 31 + c.charCodeAt(0)) | 0, 7) >>> 0
  return labelColors[1 + (sum % 11)]!
}
