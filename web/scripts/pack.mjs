// Compresses the files of a build in dist: each file that gets smaller gets a NAME.gz next to
// it, which the server sends as it is. Compressing at the server's start would cost a tenth of
// a second.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { constants, gzipSync } from 'node:zlib'

/** @returns {import('vite').Plugin} */
export function pack() {
  let dist = ''
  return {
    name: 'pack',
    apply: 'build',
    configResolved(config) {
      dist = config.build.outDir
    },
    closeBundle() {
      for (const file of readdirSync(dist, { recursive: true, withFileTypes: true })) {
        const path = join(file.parentPath, file.name)
        if (!file.isFile() || path.includes('/.') || path.endsWith('.gz')) continue
        const plain = readFileSync(path)
        const packed = gzipSync(plain, { level: constants.Z_BEST_COMPRESSION })
        if (packed.length < plain.length * 0.9) writeFileSync(`${path}.gz`, packed)
      }
    },
  }
}
