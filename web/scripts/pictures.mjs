// Takes a picture of every screen of e2e/screens.ts into a new folder, and says
// which: `node scripts/pictures.mjs [--docs] [NAME…]`. Names choose screens;
// --docs takes those of docs/ as well, where they replace the ones before.
// The built binary must be there; CHROMIUM names another than /usr/bin/chromium.
import { spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const docs = process.argv.includes('--docs')
const names = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const folder = process.env.PICTURES ?? mkdtempSync(join(tmpdir(), 'cardwall-pictures-'))
const only = names.length > 0 ? ['--grep', names.map((name) => ` ${name}$`).join('|')] : []
const { status } = spawnSync('npx', ['playwright', 'test', '--config', 'e2e/pictures.config.ts', ...only], {
  stdio: 'inherit',
  env: { ...process.env, PICTURES: folder, PICTURES_DOCS: docs ? '1' : '' },
})
console.log(`The pictures are in ${folder}`)
process.exit(status ?? 1)
