import svelte from 'eslint-plugin-svelte'
import ts from 'typescript-eslint'

export default ts.config(
  { ignores: ['dist', 'node_modules', 'src/api/schema*.d.ts', 'test-results', 'playwright-report'] },
  ...ts.configs.strict,
  ...svelte.configs.recommended,
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser } },
  },
  {
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      // The router is our own: every inside address is a plain href.
      'svelte/no-navigation-without-resolve': 'off',
      // The compiler's checks of types do this better.
      'no-undef': 'off',
      // An index that was checked is one; the compiler makes us say where we know.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // State that is replaced, never changed, needs no reactive Map, Set or Date.
      'svelte/prefer-svelte-reactivity': 'off',
      // No string becomes markup: Markdown goes through dompurify as nodes.
      'svelte/no-at-html-tags': 'error',
      'svelte/no-inline-styles': ['error', { allowTransitions: false }],
    },
  },
)
