import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vitest/config'
import { pack } from './scripts/pack.mjs'
import { preload } from './scripts/preload.mjs'
import { routes } from './scripts/routes.mjs'

// The server to which `npm run dev` forwards /api. The development server sends no
// content security policy, because Vite's client would violate it.
const upstream = process.env.CARDWALL_DEV_SERVER ?? 'http://127.0.0.1:8080'

export default defineConfig({
  plugins: [svelte(), preload(), routes(), pack()],
  resolve: { conditions: process.env.VITEST ? ['browser'] : undefined },
  server: { host: '127.0.0.1', proxy: { '/api': { target: upstream } } },
  build: {
    target: 'es2023',
    assetsInlineLimit: 0, // the content security policy does not allow data: in font-src
    modulePreload: { polyfill: false },
    manifest: true,
    rolldownOptions: {
      output: {
        // Code that most pages share goes into one file instead of many small ones. The code
        // for Markdown, for parsing dates and for uploads is loaded only when needed.
        codeSplitting: {
          groups: [
            // Separate groups, so that the public page can load Markdown without the session and the board.
            { name: 'words', test: /src\/lib\/words/ },
            { name: 'markdown', test: /src\/lib\/markdown/ },
            // Every page needs the session. Without this group, its files would become part of `board`.
            { name: 'session', test: /src\/state\/session/ },
            {
              name: 'base',
              test: /src\/(api|lib(?!\/(markdown|naturalDate|zoneNames))|state(?!\/(board|changes|fold|operation|upload))|ui(?!\/(CardFace|CommentView|DateField|Tabs|UsageBar|overflowFade)))\//,
              minShareCount: 4,
            },
            // Some files are excluded: the home page shares a button with the date form, and
            // pages without a board use exports, tabs, the usage bar and the strips that fade.
            {
              name: 'board',
              test: /src\/(routes\/board|lib(?!\/(markdown|naturalDate|zoneNames))|state|ui)\/(?!BoardSelect|CardFace|CommentView|DueForm|DateField|PictureInput|Tabs|UsageBar|destinations|overflowFade|exports|upload)/,
              minShareCount: 2,
            },
          ],
        },
      },
    },
    chunkSizeWarningLimit: 300,
  },
  test: {
    environment: 'happy-dom',
    include: ['src/**/*.test.ts'],
    reporters: ['default', './scripts/count.mjs'],
  },
})
