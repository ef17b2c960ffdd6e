/** The size of a scaled picture: at most 320, 800 or 1600 pixels on its longer side. */
export type PictureSize = 'small' | 'medium' | 'large'

/** Returns the URL of an attached file, or of a scaled picture if `size` is given. */
export const contentUrl = (attachmentId: string, size?: PictureSize): string =>
  `/api/public/v1/attachments/${attachmentId}/content${size ? `?size=${size}` : ''}`
