// Measures what the board route loads before it can show a board, compressed as sent, and fails
// above the documented limit of 90 kB of JavaScript.
import { existsSync, readFileSync, statSync } from 'node:fs'

const most = 90 * 1000
// A guest with a link must not wait for the whole application.
const mostOfGuests = 64 * 1000
const manifest = JSON.parse(readFileSync('dist/.vite/manifest.json', 'utf8'))

function load(name, files) {
  const chunk = manifest[name]
  if (files.has(chunk.file)) return files
  files.add(chunk.file)
  for (const css of chunk.css ?? []) files.add(css)
  for (const next of chunk.imports ?? []) load(next, files)
  return files
}

function weigh(title, names) {
  const files = new Set()
  for (const name of names) load(name, files)
  const sent = (f) => (existsSync(`dist/${f}.gz`) ? `dist/${f}.gz` : `dist/${f}`) // small files are not compressed
  const sum = (end) => [...files].filter((f) => f.endsWith(end)).reduce((n, f) => n + statSync(sent(f)).size, 0)
  console.log(`${title.padEnd(10)} ${kB(sum('.js'))} of JavaScript, ${kB(sum('.css'))} of CSS, gzipped`)
  return sum('.js')
}

const kB = (bytes) => `${(bytes / 1000).toFixed(1)} kB`.padStart(9)
const board = weigh('board', ['index.html', 'src/routes/board/BoardRoute.svelte'])
weigh('card', ['index.html', 'src/routes/board/BoardRoute.svelte', 'src/routes/card/CardSheet.svelte'])
weigh('home', ['index.html', 'src/routes/home/Home.svelte'])
weigh('sign-in', ['index.html', 'src/routes/account/SignIn.svelte'])
const guest = weigh('public', ['index.html', 'src/routes/public/PublicPage.svelte'])
if (guest > mostOfGuests) {
  console.error(`A public page loads ${kB(guest)}, more than the limit of ${kB(mostOfGuests)}.`)
  process.exit(1)
}
if (board > most) {
  console.error(`The board route loads ${kB(board)}, more than the limit of ${kB(most)}.`)
  process.exit(1)
}
