/** Lets the browser save what the server returns at an address, under the name that the server gives it. */
export function download(href: string): void {
  const link = document.createElement('a')
  link.href = href
  link.download = ''
  document.body.append(link)
  link.click()
  link.remove()
}
