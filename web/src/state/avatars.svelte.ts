// The versions of people's pictures.
import { app, data } from '../api/client'

type Pictured = { id: string; avatar: string | null }

/** The versions by user ID: null for a person without a picture. null while no one is signed in. */
let versions = $state.raw<Record<string, string | null> | null>(null)
/** The last request for the people with pictures. */
let listing: object | null = null

const byId = (people: readonly Pictured[]) => Object.fromEntries(people.map((p) => [p.id, p.avatar]))

/** Returns the version of a person's picture, if there is one. The first unknown person makes it load all versions. */
export function avatarOf(id: string): string | null {
  const version = versions?.[id]
  if (version === undefined && versions && !listing) void list((listing = {}))
  return version ?? null
}

export function addAvatars(people: readonly Pictured[]): void {
  versions = { ...versions, ...byId(people) }
}

export function clearAvatars(): void {
  versions = listing = null
}

async function list(request: object): Promise<void> {
  const { people } = await data(app.GET('/avatars')).catch(() => ({ people: [] }))
  if (listing === request) versions = { ...byId(people), ...versions }
}
