/** Lets the browser save what the server answers at an address as a file. */
export function download(href: string): void {
  const link = document.createElement('a')
  link.href = href
  link.download = ''
  document.body.append(link)
  link.click()
  link.remove()
}
