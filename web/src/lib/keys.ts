// How handlers read the keyboard.

/**
 * Hides the keys of input methods from all handlers of the page. Otherwise the Enter that accepts a conversion would
 * save a field, and Escape would close it. Their key code is 229 (UI Events, "Legacy Key Attributes"), also in Safari,
 * where the last one follows the end of the composition. Call it before handlers are added.
 */
export function hideCompositionKeys(): void {
  const hide = (event: KeyboardEvent) => {
    if (event.isComposing || event.keyCode === 229) event.stopImmediatePropagation()
  }
  addEventListener('keydown', hide, true)
}
