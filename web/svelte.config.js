// Svelte parses TypeScript itself, so no preprocessor is needed. Styles are written to
// files, because the content security policy allows only style-src 'self'.
export default { compilerOptions: { runes: true, css: 'external' } }
