// Writes dist/.preload.json: the Link headers (RFC 8288) that the server sends with the
// document, by URL. With them a browser requests a board, its code and the session while it
// still reads the document, instead of after the first script has run.
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The screens with preloads, by route pattern, and their API requests. */
const screens = [
  { path: '/boards/{id}', entry: 'src/routes/board/BoardRoute.svelte', data: ['/api/app/v1/boards/{id}/open'] },
  { path: '/cards/{id}', entry: 'src/routes/board/BoardRoute.svelte', data: [] },
  { path: '/', entry: 'src/routes/home/Home.svelte', data: [] },
]

/** The requests of every screen. */
const always = ['/api/app/v1/session/current']

/** @returns {import('vite').Plugin} */
export function preload() {
  let dist = ''
  return {
    name: 'preload',
    apply: 'build',
    configResolved(config) {
      dist = config.build.outDir
    },
    // The font of every page. Without a preload the browser requests it only after the first
    // layout, and then needs a second layout.
    transformIndexHtml: {
      order: 'post',
      handler(_, { bundle }) {
        const font = Object.keys(bundle ?? {}).filter((file) => /inter-latin-wght-normal-[\w-]+\.woff2$/.test(file))
        if (font.length !== 1) throw new Error(`preload: ${font.length} fonts for Latin text`)
        const attrs = { rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: '', href: `/${font[0]}` }
        return [{ tag: 'link', attrs, injectTo: 'head' }]
      },
    },
    closeBundle() {
      const manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8'))
      const first = files(manifest, 'index.html')
      const size = (file) => statSync(join(dist, file)).size
      const links = screens.map(({ path, entry, data }) => {
        const all = [...files(manifest, entry, new Set(first))]
        // The slowest requests go first: a browser has six connections.
        const styles = all.filter((file) => file.endsWith('.css'))
        const scripts = all.filter((file) => !file.endsWith('.css')).sort((a, b) => size(b) - size(a))
        return {
          path,
          links: [
            ...[...data, ...always].map((at) => `<${at}>; rel=preload; as=fetch; crossorigin`),
            ...scripts.map((file) => `</${file}>; rel=modulepreload; crossorigin`),
            ...styles.map((file) => `</${file}>; rel=preload; as=style; crossorigin`),
          ],
        }
      })
      writeFileSync(join(dist, '.preload.json'), JSON.stringify(links, null, 2))
    },
  }
}

/** The scripts and styles that a module needs. */
function files(manifest, name, found = new Set()) {
  const chunk = manifest[name]
  if (!chunk) throw new Error(`preload: the build has no ${name}`)
  if (found.has(chunk.file)) return found
  found.add(chunk.file)
  for (const css of chunk.css ?? []) found.add(css)
  for (const next of chunk.imports ?? []) files(manifest, next, found)
  return found
}
