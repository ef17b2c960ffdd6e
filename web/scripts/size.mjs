// Measures the scripts and styles that some pages load, compressed as they are sent. Fails if
// the board or the public page exceeds its JavaScript limit.
import { existsSync, readFileSync, statSync } from 'node:fs'

/** The documented limit of the board page, in bytes. */
const boardLimit = 90 * 1000
/** The limit of the public page, in bytes. It is lower so that guests do not load the entire application. */
const publicLimit = 64 * 1000
const manifest = JSON.parse(readFileSync('dist/.vite/manifest.json', 'utf8'))

/** Adds the files that a module needs to `files`, and returns `files`. */
function load(name, files) {
  const chunk = manifest[name]
  if (files.has(chunk.file)) return files
  files.add(chunk.file)
  for (const css of chunk.css ?? []) files.add(css)
  for (const next of chunk.imports ?? []) load(next, files)
  return files
}

/** Prints the total sizes of modules, and returns the size of their JavaScript in bytes. */
function measure(title, names) {
  const files = new Set()
  for (const name of names) load(name, files)
  const sentFile = (f) => (existsSync(`dist/${f}.gz`) ? `dist/${f}.gz` : `dist/${f}`) // small files are not compressed
  const sum = (end) => [...files].filter((f) => f.endsWith(end)).reduce((n, f) => n + statSync(sentFile(f)).size, 0)
  console.log(`${title.padEnd(10)} ${kB(sum('.js'))} of JavaScript, ${kB(sum('.css'))} of CSS, gzipped`)
  return sum('.js')
}

const kB = (bytes) => `${(bytes / 1000).toFixed(1)} kB`.padStart(9)
const boardSize = measure('board', ['index.html', 'src/routes/board/BoardRoute.svelte'])
measure('card', ['index.html', 'src/routes/board/BoardRoute.svelte', 'src/routes/card/CardSheet.svelte'])
measure('home', ['index.html', 'src/routes/home/Home.svelte'])
measure('sign-in', ['index.html', 'src/routes/account/SignIn.svelte'])
const publicSize = measure('public', ['index.html', 'src/routes/public/PublicPage.svelte'])
if (publicSize > publicLimit) {
  console.error(
    `The public page loads ${kB(publicSize).trim()} of JavaScript, more than the limit of ${kB(publicLimit).trim()}.`,
  )
  process.exit(1)
}
if (boardSize > boardLimit) {
  console.error(
    `The board page loads ${kB(boardSize).trim()} of JavaScript, more than the limit of ${kB(boardLimit).trim()}.`,
  )
  process.exit(1)
}
