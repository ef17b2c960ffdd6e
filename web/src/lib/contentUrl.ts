/** The size of a scaled picture: at most 320, 800 or 1600 pixels on its longer side. */
export type PictureSize = 'small' | 'medium' | 'large'

/** Returns the URL of an attached file, or of a scaled picture if `size` is given. */
export const contentUrl = (attachmentId: string, size?: PictureSize): string =>
  `/api/public/v1/attachments/${attachmentId}/content${size ? `?size=${size}` : ''}`

/** Returns the URL of the picture behind the lists of a board. */
export const backgroundUrl = (board: { id: string; background: string | null }): string =>
  `/api/public/v1/boards/${board.id}/background?version=${board.background}`
