/** Lets the browser save what the server answers at an address as a file, under a name when one is given. */
export function download(href: string, name = ''): void {
  const link = document.createElement('a')
  link.href = href
  link.download = name
  document.body.append(link)
  link.click()
  link.remove()
}
