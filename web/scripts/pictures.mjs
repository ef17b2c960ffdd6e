// Takes screenshots of the screens in e2e/screens and prints the folder that contains them:
// `node scripts/pictures.mjs [--docs] [NAME…]`. Names select screens; the default is all.
// --docs also replaces the screenshots in docs/. The binary must be built first. The variable
// CHROMIUM overrides /usr/bin/chromium-headless-shell, and PICTURES overrides the folder.
import { spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const docs = process.argv.includes('--docs')
const names = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const folder = process.env.PICTURES ?? mkdtempSync(join(tmpdir(), 'cardwall-pictures-'))
const filter = names.length > 0 ? ['--grep', names.map((name) => ` ${name}$`).join('|')] : []
const { status } = spawnSync('npx', ['playwright', 'test', '--config', 'e2e/pictures.config.ts', ...filter], {
  stdio: 'inherit',
  env: { ...process.env, PICTURES: folder, PICTURES_DOCS: docs ? '1' : '' },
})
console.log(`The screenshots are in ${folder}`)
process.exit(status ?? 1)
