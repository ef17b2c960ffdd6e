// Svelte reads types itself; nothing is preprocessed. Styles become files:
// style-src is 'self'.
export default { compilerOptions: { runes: true, css: 'external' } }
