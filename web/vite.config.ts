import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vitest/config'
import { pack } from './scripts/pack.mjs'
import { preload } from './scripts/preload.mjs'
import { routes } from './scripts/routes.mjs'

// The server that `npm run dev` passes /api on to. The content security policy
// comes with the server's own pages; Vite's client in dev would breach it.
const upstream = process.env.CARDWALL_DEV_SERVER ?? 'http://127.0.0.1:8080'

export default defineConfig({
  plugins: [svelte(), preload(), routes(), pack()],
  resolve: { conditions: process.env.VITEST ? ['browser'] : undefined },
  server: { host: '127.0.0.1', proxy: { '/api': { target: upstream } } },
  build: {
    target: 'es2023',
    assetsInlineLimit: 0, // font-src takes no data:
    modulePreload: { polyfill: false },
    manifest: true,
    rolldownOptions: {
      output: {
        // Code that most pages share is one file, instead of many small ones. Code for
        // Markdown and for reading dates is large, and loads when it is needed.
        codeSplitting: {
          groups: [
            // Loaded late by the board and by the public page, which must not load the board for it.
            { name: 'markdown', test: /src\/lib\/markdown/ },
            // Every page needs the session. Without a group, its files would join those of the board.
            { name: 'session', test: /src\/state\/session/ },
            {
              name: 'base',
              test: /src\/(api|lib(?!\/(markdown|naturalDate|zoneNames))|state(?!\/(board|changes|fold|operation))|ui(?!\/(CardFace|CommentView|DateField|UsageBar)))\//,
              minShareCount: 4,
            },
            // The date form needs a button that the first page needs too, and
            // the usage bar is on pages that need nothing else of a board.
            {
              name: 'board',
              test: /src\/(routes\/board|lib(?!\/(markdown|naturalDate|zoneNames))|state|ui)\/(?!CardFace|CommentView|DueForm|DateField|UsageBar)/,
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
