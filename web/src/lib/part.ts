const pause = 500

/** Loads a part of the application; what broke off while it came, as when a server was killed, comes once more. */
export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch {
    // The loader asks for each style sheet once, whatever came of it.
    for (const link of document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')) {
      if (!link.sheet) link.replaceWith(link.cloneNode())
    }
    await new Promise((over) => setTimeout(over, pause))
    return load()
  }
}
