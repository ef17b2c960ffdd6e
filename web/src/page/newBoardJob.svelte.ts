// The job of a dialog that creates a board. If the dialog is closed first, a toast
// reports the end of the job.
import { onDestroy } from 'svelte'
import type { Job } from '../api/types'
import { go } from '../lib/router.svelte'
import { endText, isJob, JobFollower } from '../state/jobs.svelte'
import { loadHome } from '../state/session.svelte'
import { toast } from '../state/toasts.svelte'

/** Calls `created` when the board exists. */
export function newBoardJob(created: (boardId: string) => void) {
  let follower = $state.raw<JobFollower | null>(null)
  let closed = false
  onDestroy(() => (closed = true))

  function ended(job: Job): void {
    const boardId = job.boardIds[0]
    if (boardId) void loadHome()
    if (!closed) {
      if (boardId) created(boardId)
    } else if (boardId) {
      toast(endText(job), { action: { label: 'Open board', run: () => go(`/boards/${boardId}`) } })
    } else if (job.state === 'failed') {
      toast(`“${job.name}” was not created. ${endText(job)}`, { tone: 'bad' })
    }
  }

  return {
    /** Null until a job is started. */
    get follower() {
      return follower
    },
    /** Handles the response of the operation: the board, or the job that creates it. */
    take(result: { id: string } | Job): void {
      if (isJob(result)) {
        follower = new JobFollower(result, ended)
        follower.follow()
      } else {
        void loadHome()
        created(result.id)
      }
    },
  }
}
