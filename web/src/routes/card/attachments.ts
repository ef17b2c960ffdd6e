// Describes attachments: their kind, icon and details.
import type { Attachment } from '../../api/types'
import { contentUrl } from '../../lib/contentUrl'
import type { IconName } from '../../ui/icons'
import { bytes } from '../plan/plans'

/** A picture whose size the server knows. It has a thumbnail and can be a cover. */
export type Picture = Attachment & { width: number; height: number }

export const isPicture = (a: Attachment): a is Picture => a.width !== null && a.height !== null

/** The media types of files that open in a new tab. Other files open in the viewer or are downloaded. */
const shownTypes = ['application/pdf', 'video/mp4', 'video/webm', 'text/plain', 'image/avif']

/** Reports whether an attachment opens in a new tab. Pictures open in the viewer, and other files are downloaded. */
export const opensInTab = (a: Pick<Attachment, 'url' | 'mediaType' | 'width'>): boolean =>
  a.url !== null || (a.width === null && shownTypes.includes(a.mediaType ?? ''))

/** Returns the URL of a link, or of the content of a file. */
export const addressOf = (a: Attachment): string => a.url ?? contentUrl(a.id)

/** Returns the icon for a media type, or the icon of a link if the type is null. */
export function iconOf(mediaType: string | null): IconName {
  if (mediaType === null) return 'link'
  const [kind, subtype = ''] = mediaType.split('/')
  if (kind === 'image' || kind === 'video') return kind
  if (kind === 'text') return 'text'
  return /zip|tar|compressed|rar/.test(subtype) ? 'archive' : 'file'
}

/** Returns the host of a link, or the size of a file. */
export function sourceText(a: Attachment): string {
  if (a.kind === 'file') return bytes(a.size ?? 0)
  return parseUrl(a.url ?? '')?.host ?? ''
}

/** Returns the parsed URL, or null if it is invalid. Not all supported browsers have URL.parse. */
export function parseUrl(url: string): URL | null {
  try {
    return new URL(url)
  } catch {
    return null
  }
}

/** Returns the length of a file name without its extension. Renaming selects this part. */
export function stemLength(name: string): number {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? dot : name.length
}

/** Returns the URL that a person typed, with https:// added if it has no scheme. */
export function withScheme(address: string): string {
  const trimmed = address.trim()
  return trimmed === '' || /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `https://${trimmed}`
}

/** The delay before a picture that failed to load is loaded again, in ms. */
const reloadDelay = 2000
/** The URL that each image element has loaded again. */
const reloaded = new WeakMap<HTMLImageElement, string>()

/** Loads a picture again after it failed to load. It does so once for each URL, and reports whether it does. */
export function loadAgain(image: HTMLImageElement): boolean {
  const url = image.src
  if (reloaded.get(image) === url) return false
  reloaded.set(image, url)
  setTimeout(() => {
    // The element may show another picture by now.
    if (image.isConnected && image.src === url) image.src = url
  }, reloadDelay)
  return true
}
