import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { patterns } from '../scripts/routes.mjs'
import { routes } from './routes'

const paths = routes.map(({ path }) => path).sort()

/** The text of all files below a folder that match. */
const textBelow = (folder: string, files: RegExp) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => files.test(file))
    .map((file) => readFileSync(`${folder}/${file}`, 'utf8'))
    .join('\n')

// The server responds with 404 to every address that is not in this list.
test('the server knows every page', () => {
  expect(patterns('src'), 'routes.ts must import the routes of each folder').toEqual(paths)
})

// The checks with axe, the keyboard and narrow windows visit the screens.
test('every page has a screen', () => {
  const text = textBelow('e2e/screens', /\.ts$/)
  const shown = [...text.matchAll(/\broute(?::| =) '(\/[^']*)'/g)].map((match) => match[1])
  expect([...new Set(shown)].sort(), 'e2e/screens must show each page').toEqual(paths)
})

// The last word of an address ends a link of a page, of an email or of the server.
test('every page has a link', () => {
  const text = textBelow('src', /(?<!^routes|index|\.test)\.(ts|svelte)$/) + textBelow('../internal', /(?<!_test)\.go$/)
  const last = (path: string) => path.split('/').findLast((part) => !part.startsWith(':'))!
  const linked = (path: string) => new RegExp(`/${last(path)}(?![\\w-])`).test(text)
  expect(
    paths.filter((path) => !linked(path)),
    'pages without a link',
  ).toEqual([])
})
