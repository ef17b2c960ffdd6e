/** Describes the browser and system of a User-Agent: "Firefox on Linux". */
export function browserText(userAgent: string): string {
  const has = (pattern: RegExp) => pattern.test(userAgent)
  const browser = has(/Edg(e|A|iOS)?\//)
    ? 'Edge'
    : has(/OPR\/|Opera/)
      ? 'Opera'
      : has(/SamsungBrowser\//)
        ? 'Samsung Internet'
        : has(/Firefox\/|FxiOS\//)
          ? 'Firefox'
          : has(/HeadlessChrome\/|Chrome\/|CriOS\/|Chromium/)
            ? 'Chrome'
            : has(/Safari\//)
              ? 'Safari'
              : ''
  const system = has(/iPhone/)
    ? 'iPhone'
    : has(/iPad/)
      ? 'iPad'
      : has(/Android/)
        ? 'Android'
        : has(/CrOS/)
          ? 'ChromeOS'
          : has(/Windows/)
            ? 'Windows'
            : has(/Mac OS X|Macintosh/)
              ? 'macOS'
              : has(/Linux|X11/)
                ? 'Linux'
                : ''
  if (browser && system) return `${browser} on ${system}`
  return browser || system || userAgent.slice(0, 60) || 'Unknown browser'
}
