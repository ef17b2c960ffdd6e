// The options that a text field offers. The focus stays in the field, and one option is active:
// the combobox pattern of WAI-ARIA.

/** The options of the field with `id`. `open` reports whether they are shown. */
export class Options<T> {
  #index = $state(0)

  /** @param first The index of the option that is active at first, or -1 for none. */
  constructor(
    private readonly id: string,
    private readonly all: () => readonly T[],
    private readonly open: () => boolean = () => true,
    private readonly first = 0,
  ) {
    this.#index = first
  }

  get #last(): number {
    return this.all().length - 1
  }

  get #current(): number {
    return Math.min(this.#index, this.#last)
  }

  /** The active option, or undefined if no option is active. */
  get active(): T | undefined {
    return this.all()[this.#current]
  }

  /** Makes the first option active again, because the options have changed. */
  reset(): void {
    this.#index = this.first
  }

  /** Moves to the next or previous option if an arrow key was pressed. Returns whether it moved. */
  move(event: KeyboardEvent): boolean {
    const down = event.key === 'ArrowDown'
    if (this.#last < 0 || (!down && event.key !== 'ArrowUp')) return false
    const next = this.#current + (down ? 1 : -1)
    this.#index = next < 0 ? this.#last : next > this.#last ? 0 : next
    document.getElementById(`${this.id}-${this.#index}`)?.scrollIntoView({ block: 'nearest' })
    event.preventDefault()
    return true
  }

  /** The attributes of the field. */
  get field() {
    const open = this.open()
    return {
      role: 'combobox',
      autocomplete: 'off',
      'aria-autocomplete': 'list',
      'aria-expanded': open,
      'aria-controls': `${this.id}-list`,
      'aria-activedescendant': open && this.active !== undefined ? `${this.id}-${this.#current}` : undefined,
    } as const
  }

  /** The attributes of the list. */
  get list() {
    return { id: `${this.id}-list`, role: 'listbox' } as const
  }

  /** The attributes of an option. */
  option(index: number) {
    const active = index === this.#current
    return {
      id: `${this.id}-${index}`,
      role: 'option',
      'aria-selected': active,
      'data-active': active || undefined,
      onpointermove: () => (this.#index = index),
    } as const
  }
}
