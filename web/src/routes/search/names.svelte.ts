// The names that a search can mention: those of boards are known; labels, lists
// and people are asked for once, when somebody first needs them.
import { api, data } from '../../api/client'
import { session } from '../../state/session.svelte'
import { everything } from '../profile/remote.svelte'
import { counted, countedLabels, type Names } from './query'

const boardsAsked = 24

export class KnownNames {
  #lists = $state.raw<string[]>([])
  #labels = $state.raw<{ name: string; color: string }[]>([])
  #members = $state.raw<string[]>([])
  #askedIn: string | null = null
  #askedPeople = false

  get all(): Names {
    return {
      boards: session.workspaces.flatMap((w) => w.boards.map((b) => b.name)),
      lists: this.#lists,
      labels: this.#labels,
      members: this.#members,
    }
  }

  /** Asks for what a word being typed needs. */
  need(word: string, workspaceId: string): void {
    if (/^-?(#|label:|list:)/i.test(word)) void this.#inside(workspaceId)
    if (/^-?(@|member:|creator:|commenter:)/i.test(word)) void this.#people()
  }

  async #inside(workspaceId: string): Promise<void> {
    if (this.#askedIn === workspaceId) return
    this.#askedIn = workspaceId
    const boards = session.workspaces
      .filter((w) => workspaceId === '' || w.id === workspaceId)
      .flatMap((w) => w.boards.filter((b) => !b.archivedAt))
      .sort((a, b) => ((a.lastSeenAt ?? '') < (b.lastSeenAt ?? '') ? 1 : -1))
      .slice(0, boardsAsked)
    const found = await Promise.allSettled(
      boards.map((b) => data(api.GET('/boards/{boardId}', { params: { path: { boardId: b.id } } }))),
    )
    const details = found.flatMap((f) => (f.status === 'fulfilled' ? [f.value] : []))
    this.#lists = counted(details.flatMap((d) => d.lists.map((l) => l.name)))
    this.#labels = countedLabels(details.flatMap((d) => d.labels))
  }

  async #people(): Promise<void> {
    if (this.#askedPeople) return
    this.#askedPeople = true
    const found = await Promise.allSettled(
      session.workspaces
        .filter((w) => w.role !== 'guest')
        .map((w) =>
          everything((query) =>
            api.GET('/workspaces/{workspaceId}/members', { params: { path: { workspaceId: w.id }, query } }),
          ),
        ),
    )
    const people = found.flatMap((f) => (f.status === 'fulfilled' ? f.value : []))
    this.#members = counted(people.map((p) => p.name))
  }
}
