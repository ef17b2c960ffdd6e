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

/** The characters of some keys of a US keyboard, without and with Shift. */
const characters: Record<string, [string, string]> = {
  Comma: [',', '<'],
  Period: ['.', '>'],
  Slash: ['/', '?'],
  Minus: ['-', '_'],
  Equal: ['=', '+'],
}

/**
 * Returns the key of an event, to compare with the keys of shortcuts. Letters are in lower case. On a layout without
 * Latin letters, such as a Greek one, it is the key of a US keyboard in the same place.
 */
export function keyOf({ key, code, shiftKey }: KeyboardEvent): string {
  if (/^[^\p{ASCII}\p{Script=Latin}]$/u.test(key)) {
    const name = /^(?:Key|Digit)(.)$/.exec(code)?.[1] ?? characters[code]?.[shiftKey ? 1 : 0]
    if (name) return name.toLowerCase()
  }
  return key.length === 1 ? key.toLowerCase() : key
}

/** Reports whether a key is pressed with Ctrl or Cmd, and without Alt and Shift. */
export function isCommand(event: KeyboardEvent, key: string): boolean {
  return (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && keyOf(event) === key
}
