import svelte from 'eslint-plugin-svelte'
import ts from 'typescript-eslint'

// A test that judges by the clock fails on a slow machine. The few exceptions have a comment with the reason.
const clock = [
  {
    selector:
      ':matches(BinaryExpression[operator=/^([<>]=?|-)$/], CallExpression) > CallExpression[callee.property.name="now"]',
    message: 'Do not compare times. `make bench-web` measures speed.',
  },
  {
    selector: 'MemberExpression[object.name="performance"][property.name=/^(now|mark|measure)$/]',
    message: 'Do not measure time. `make bench-web` measures speed.',
  },
]
const waits = [
  {
    selector: 'CallExpression[callee.property.name="waitForTimeout"]',
    message:
      'Wait for an event. To show that nothing happens, cause something that would happen later, and wait for it.',
  },
  {
    selector: 'CallExpression[callee.name="setTimeout"], ImportDeclaration[source.value="node:timers/promises"]',
    message: 'Wait for an event.',
  },
  {
    selector: 'CallExpression[callee.property.name="waitForLoadState"] > Literal[value="networkidle"]',
    message: 'This waits for 500 ms without a request. Use waitUntilLoaded.',
  },
]
// Shortcuts work on every keyboard layout, and input methods keep their keys.
const keys = [
  {
    selector: 'BinaryExpression[right.value=/^[^ ]$/] MemberExpression[property.name="key"]',
    message: 'Use keyOf(event) or isCommand.',
  },
  {
    selector: 'MemberExpression[property.name=/^(isComposing|keyCode)$/]',
    message: 'hideCompositionKeys hides these events from all handlers.',
  },
]

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
  {
    files: ['src/**'],
    ignores: ['src/lib/keys.ts'],
    rules: { 'no-restricted-syntax': ['error', ...keys] },
  },
  { files: ['src/**/*.test.ts'], rules: { 'no-restricted-syntax': ['error', ...clock] } },
  { files: ['e2e/**/*.ts'], rules: { 'no-restricted-syntax': ['error', ...clock, ...waits] } },
)
