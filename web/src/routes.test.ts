import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { patterns } from '../scripts/routes.mjs'
import { routes } from './routes'

const paths = routes.map(({ path }) => path).sort()

/** Returns the concatenated text of all matching files in a folder and its subfolders. */
const readFiles = (folder: string, files: RegExp) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => files.test(file))
    .map((file) => readFileSync(`${folder}/${file}`, 'utf8'))
    .join('\n')

// The server returns 404 for every path that matches none of patterns().
test('the server knows the route of every page', () => {
  expect(patterns('src'), 'routes.ts must import the routes of each folder').toEqual(paths)
})

// The accessibility, keyboard and narrow-window tests visit the screens in e2e/screens.
test('every page has a screen in e2e/screens', () => {
  const text = readFiles('e2e/screens', /\.ts$/)
  const screenRoutes = [...text.matchAll(/\broute(?::| =) '(\/[^']*)'/g)].map((match) => match[1])
  expect([...new Set(screenRoutes)].sort(), 'e2e/screens must contain every page').toEqual(paths)
})

// Searches the pages and the server for links that contain the last fixed segment of the route.
test('every page has a link', () => {
  const text = readFiles('src', /(?<!^routes|index|\.test)\.(ts|svelte)$/) + readFiles('../internal', /(?<!_test)\.go$/)
  const lastSegment = (path: string) => path.split('/').findLast((segment) => !segment.startsWith(':'))!
  const linked = (path: string) => new RegExp(`/${lastSegment(path)}(?![\\w-])`).test(text)
  expect(
    paths.filter((path) => !linked(path)),
    'pages without a link',
  ).toEqual([])
})
