/** The window title: the page, then the product. */
export const title = {
  set(text: string): void {
    document.title = text ? `${text} · Cardwall` : 'Cardwall'
  },
}
