import { expect, test, vi } from 'vitest'
import type { Attachment } from '../../api/types'
import { iconOf, loadAgain, opensInTab, sourceText, stemLength, withScheme } from './attachments'

const attachment = (more: Partial<Attachment>): Attachment => ({
  id: 'att_1',
  cardId: 'crd_1',
  boardId: 'brd_1',
  kind: 'file',
  name: 'Brief',
  url: null,
  mediaType: 'application/pdf',
  size: 1500,
  sha256: null,
  width: null,
  height: null,
  cover: false,
  createdBy: null,
  createdAt: '2026-03-02T09:00:00.000Z',
  updatedAt: '2026-03-02T09:00:00.000Z',
  ...more,
})
const link = attachment({ kind: 'link', url: 'https://docs.example.com/brief', mediaType: null, size: null })

test.each([
  [null, 'link'],
  ['image/png', 'image'],
  ['video/mp4', 'video'],
  ['text/plain', 'text'],
  ['application/zip', 'archive'],
  ['application/x-tar', 'archive'],
  ['application/pdf', 'file'],
])('the icon of %s is %s', (mediaType, icon) => expect(iconOf(mediaType)).toBe(icon))

test('links, PDFs, videos and texts open in a tab, and other files are downloaded', () => {
  const opens = ['application/pdf', 'video/webm', 'text/plain'].map((mediaType) => attachment({ mediaType }))
  for (const a of [link, ...opens]) expect(opensInTab(a)).toBe(true)
  const others = ['text/html', 'image/svg+xml', 'application/zip'].map((mediaType) => attachment({ mediaType }))
  for (const a of others) expect(opensInTab(a)).toBe(false)
  expect(opensInTab(attachment({ mediaType: 'image/png', width: 10, height: 10 }))).toBe(false)
})

test('the source of a link is its host, and of a file its size', () => {
  expect(sourceText(link)).toBe('docs.example.com')
  expect(sourceText(attachment({}))).toBe('1.5 kB')
  expect(sourceText({ ...link, url: 'not a URL' })).toBe('')
})

test('a picture that failed to load is loaded again once, unless another one is shown by then', () => {
  vi.useFakeTimers()
  const image = document.createElement('img')
  document.body.append(image)
  image.src = 'https://example.com/one'
  expect(loadAgain(image)).toBe(true)
  const setSource = vi.spyOn(image, 'src', 'set')
  vi.advanceTimersByTime(1900)
  expect(setSource).not.toHaveBeenCalled()
  vi.advanceTimersByTime(200)
  expect(setSource.mock.calls).toEqual([['https://example.com/one']])
  expect(loadAgain(image)).toBe(false)

  image.src = 'https://example.com/two'
  expect(loadAgain(image)).toBe(true)
  image.src = 'https://example.com/three'
  vi.advanceTimersByTime(2100)
  expect(image.src).toBe('https://example.com/three')
  vi.useRealTimers()
})

test.each([
  ['Brief.pdf', 5],
  ['archive.tar.gz', 11],
  ['.profile', 8],
  ['README', 6],
])('stemLength(%s) is %d', (name, length) => expect(stemLength(name)).toBe(length))

test.each([
  [' example.com/brief ', 'https://example.com/brief'],
  ['http://example.com', 'http://example.com'],
  ['javascript://alert(1)', 'javascript://alert(1)'],
  ['', ''],
])('withScheme(%j) is %j', (typed, address) => expect(withScheme(typed)).toBe(address))
