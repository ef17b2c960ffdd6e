// Labels for token scopes.
export type Scope = 'read' | 'write' | 'admin'

export const scopeLabels: readonly { value: Scope; label: string; text: string }[] = [
  { value: 'read', label: 'Read', text: 'View boards, cards, comments and members. Always included.' },
  { value: 'write', label: 'Write', text: 'Create and edit boards, lists, cards and comments.' },
  {
    value: 'admin',
    label: 'Administer',
    text: 'Share boards, invite people, set up webhooks and move boards to the trash.',
  },
]

/** Describes scopes: "Read and write", "Read, write and administer". */
export function scopesText(scopes: readonly string[]): string {
  const labels = scopeLabels.filter((s) => scopes.includes(s.value)).map((s) => s.label.toLowerCase())
  const text = new Intl.ListFormat('en', { type: 'conjunction' }).format(labels).replace(', and', ' and')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Returns a curl command for trying a token, with a line break before the URL. */
export function curlLine(origin: string, secret: string): string {
  return `curl -H "Authorization: Bearer ${secret}" \\\n  ${origin}/api/public/v1/me`
}

/** Returns the expiry time of a token that is valid for a number of days. */
export function expiryIn(days: number, now: Date): string {
  return new Date(now.getTime() + days * 86_400_000).toISOString()
}
