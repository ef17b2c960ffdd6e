// Writes dist/.routes.json: the route patterns of all pages. The server returns 404 for URLs
// that match none of them. The patterns are string literals in the source files.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Returns the route patterns in routes.ts and in the index.ts of each folder in routes/.
 * @param {string} src
 */
export function patterns(src) {
  const folders = readdirSync(join(src, 'routes'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const files = [join(src, 'routes.ts'), ...folders.map(({ name }) => join(src, 'routes', name, 'index.ts'))]
  const texts = files.map((file) => {
    try {
      return readFileSync(file, 'utf8')
    } catch {
      return '' // a folder without routes
    }
  })
  const paths = texts.flatMap((text) => [...text.matchAll(/\bpath: '(\/[^']*)'/g)].map((match) => match[1]))
  return [...new Set(paths)].sort()
}

/** @returns {import('vite').Plugin} */
export function routes() {
  let dist = ''
  let src = ''
  return {
    name: 'routes',
    apply: 'build',
    configResolved(config) {
      dist = config.build.outDir
      src = join(config.root, 'src')
    },
    closeBundle() {
      writeFileSync(join(dist, '.routes.json'), JSON.stringify(patterns(src), null, 2))
    },
  }
}
