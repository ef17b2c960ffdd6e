// Writes dist/.preload.json: the Link headers (RFC 8288) that the server sends with the
// document, by URL. They make the browser request a board, its code and the session while it
// parses the document, not only after the first script has run.
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The pages with preloads: their route patterns, modules and API requests. */
const pages = [
  { path: '/boards/{id}', entry: 'src/routes/board/BoardRoute.svelte', data: ['/api/app/v1/boards/{id}/open'] },
  { path: '/cards/{id}', entry: 'src/routes/board/BoardRoute.svelte', data: [] },
  { path: '/', entry: 'src/routes/home/Home.svelte', data: [] },
]

/** The API requests of every page. */
const commonData = ['/api/app/v1/session/current']

/** @returns {import('vite').Plugin} */
export function preload() {
  let dist = ''
  return {
    name: 'preload',
    apply: 'build',
    configResolved(config) {
      dist = config.build.outDir
    },
    // Preloads the font. Otherwise the browser would request the font only after the first
    // layout, and would need a second layout.
    transformIndexHtml: {
      order: 'post',
      handler(_, { bundle }) {
        const font = Object.keys(bundle ?? {}).filter((file) => /inter-latin-wght-normal-[\w-]+\.woff2$/.test(file))
        if (font.length !== 1) throw new Error(`preload: found ${font.length} fonts for Latin text, want 1`)
        const attrs = { rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: '', href: `/${font[0]}` }
        return [{ tag: 'link', attrs, injectTo: 'head' }]
      },
    },
    closeBundle() {
      const manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8'))
      const initial = files(manifest, 'index.html')
      const size = (file) => statSync(join(dist, file)).size
      const links = pages.map(({ path, entry, data }) => {
        const all = [...files(manifest, entry, new Set(initial))]
        // The largest files come first, because a browser opens at most six connections to a server.
        const styles = all.filter((file) => file.endsWith('.css'))
        const scripts = all.filter((file) => !file.endsWith('.css')).sort((a, b) => size(b) - size(a))
        return {
          path,
          links: [
            ...[...data, ...commonData].map((url) => `<${url}>; rel=preload; as=fetch; crossorigin`),
            ...scripts.map((file) => `</${file}>; rel=modulepreload; crossorigin`),
            ...styles.map((file) => `</${file}>; rel=preload; as=style; crossorigin`),
          ],
        }
      })
      writeFileSync(join(dist, '.preload.json'), JSON.stringify(links, null, 2))
    },
  }
}

/** Adds the scripts and styles that a module needs to `found`, and returns `found`. */
function files(manifest, name, found = new Set()) {
  const chunk = manifest[name]
  if (!chunk) throw new Error(`preload: the build has no ${name}`)
  if (found.has(chunk.file)) return found
  found.add(chunk.file)
  for (const css of chunk.css ?? []) found.add(css)
  for (const next of chunk.imports ?? []) files(manifest, next, found)
  return found
}
