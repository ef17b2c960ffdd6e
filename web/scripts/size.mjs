// Weighs what the route of a board loads before it can show a board, as the
// server sends it, and fails above the promise of docs: 90 kB of JavaScript.
import { existsSync, readFileSync, statSync } from 'node:fs'

const most = 90 * 1000
// Who was only given an address does not wait for an application.
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
  const sent = (f) => (existsSync(`dist/${f}.gz`) ? `dist/${f}.gz` : `dist/${f}`) // a small one is not packed
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
  console.error(`A public page weighs ${kB(guest)}; at most ${kB(mostOfGuests)} are promised.`)
  process.exit(1)
}
if (board > most) {
  console.error(`The route of a board weighs ${kB(board)}; at most ${kB(most)} are promised.`)
  process.exit(1)
}
