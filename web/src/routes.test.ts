import { expect, test } from 'vitest'
import { patterns } from '../scripts/routes.mjs'
import { routes } from './routes'

// The server responds with 404 to every address that is not in this list.
test('the server knows every page', () => {
  expect(patterns('src')).toEqual(routes.map(({ path }) => path).sort())
})
