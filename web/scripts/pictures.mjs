// Takes a screenshot of every screen of e2e/screens.ts into a new folder and prints its name:
// `node scripts/pictures.mjs [--docs] [NAME…]`. Names select screens; --docs also takes those
// of docs/ and replaces the existing ones. Needs the built binary; CHROMIUM replaces
// /usr/bin/chromium.
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
console.log(`The screenshots are in ${folder}`)
process.exit(status ?? 1)
