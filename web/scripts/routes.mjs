// Writes dist/.routes.json: the patterns of all pages, with which the server recognizes
// existing URLs. They are read from the sources, where each route is a literal.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The patterns in routes.ts and in the index.ts of each folder below routes/.
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
  const found = texts.flatMap((text) => [...text.matchAll(/\bpath: '(\/[^']*)'/g)].map((match) => match[1]))
  return [...new Set(found)].sort()
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
