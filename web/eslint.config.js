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
      // The application has its own router, so internal links are plain hrefs.
      'svelte/no-navigation-without-resolve': 'off',
      // The TypeScript compiler finds undefined names.
      'no-undef': 'off',
      // With noUncheckedIndexedAccess, an index that is known to exist needs an assertion.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // State is replaced and never mutated, so it needs no reactive Map, Set or Date.
      'svelte/prefer-svelte-reactivity': 'off',
      // Strings must not become markup. Markdown is sanitized by DOMPurify and inserted as nodes.
      'svelte/no-at-html-tags': 'error',
      'svelte/no-inline-styles': ['error', { allowTransitions: false }],
    },
  },
)
