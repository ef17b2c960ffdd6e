/** The title of the window: what is open, then the product. */
export const title = {
  set(text: string): void {
    document.title = text ? `${text} · Cardwall` : 'Cardwall'
  },
}
