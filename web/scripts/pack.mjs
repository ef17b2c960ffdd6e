// Packs what a build left in dist: beside each file that gets smaller by it lies
// NAME.gz, which the server answers as it is. Packing at the server's start would
// cost each start a tenth of a second.
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
