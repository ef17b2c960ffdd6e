import { app, data, reason } from '../../api/client'
import { loadHome } from '../../state/session.svelte'
import { toast } from '../../state/toasts.svelte'

/** Restores a workspace from the trash. The user must be one of its owners. */
export async function restoreWorkspace({ id, name }: { id: string; name: string }): Promise<void> {
  try {
    await data(app.POST('/workspaces/{workspaceId}/restore', { params: { path: { workspaceId: id } } }))
    await loadHome()
    toast(`${name} was restored with its people and boards`)
  } catch (thrown) {
    toast(reason(thrown), { tone: 'bad' })
  }
}
