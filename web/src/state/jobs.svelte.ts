// Jobs: imports, copies of large boards and lists, and moves of large lists to another board.
// A job goes on without its page.
import { api, ApiError, data, reason } from '../api/client'
import type { Job } from '../api/types'

const minDelay = 1000
const maxDelay = 3000

/** Reports whether a response is a job, instead of what the job makes. */
export const isJob = (result: object): result is Job => 'id' in result && String(result.id).startsWith('job_')

/** Reports whether the state of a job is final. */
export const hasEnded = (job: Job): boolean => ['done', 'failed', 'cancelled'].includes(job.state)

/** "Creating “Launch”". */
export function jobText({ kind, name }: Pick<Job, 'kind' | 'name'>): string {
  const verbs: Record<string, string> = {
    import_board: 'Importing',
    copy_board: 'Copying',
    copy_list: 'Copying',
    move_list_to_board: 'Moving',
  }
  return `${verbs[kind] ?? 'Creating'} “${name}”`
}

/** A sentence about a job that has ended. */
export function endText(job: Job): string {
  if (job.state === 'failed') return job.error?.message ?? 'Something went wrong. Try again.'
  if (job.kind === 'move_list_to_board') {
    return job.state === 'done' ? `“${job.name}” has moved.` : `“${job.name}” was not moved.`
  }
  if (job.state === 'done') return job.kind === 'import_board' ? 'The import is complete.' : `“${job.name}” is ready.`
  return job.kind === 'import_board'
    ? 'The import was cancelled. Nothing was imported.'
    : `“${job.name}” was cancelled. No ${job.kind === 'copy_list' ? 'list' : 'board'} was created.`
}

/** Requests the state of a job until the job has ended, while the tab is visible. */
export class JobFollower {
  job: Job
  cancelling = $state(false)
  /** Why the job could not be cancelled, or its state is unknown. */
  problem = $state<string | null>(null)
  private timer: ReturnType<typeof setTimeout> | undefined
  private pause = minDelay
  private following = false

  constructor(
    job: Job,
    private readonly onend: (job: Job) => void = () => undefined,
  ) {
    this.job = $state.raw(job)
  }

  /** The progress in percent, or null while it is unknown. */
  get percent(): number | null {
    const { done, total } = this.job
    return total > 0 ? Math.min(100, Math.floor((100 * done) / total)) : null
  }

  /** Starts to follow the job. The returned function stops it. */
  follow(): () => void {
    if (hasEnded(this.job)) {
      this.onend(this.job)
      return () => undefined
    }
    this.following = true
    document.addEventListener('visibilitychange', this.schedule)
    this.schedule()
    return this.stop
  }

  /** Cancels the job. A job that has ended meanwhile stays as it is. */
  async cancel(): Promise<void> {
    this.cancelling = true
    this.problem = null
    try {
      const job = await data(api.POST('/jobs/{jobId}/cancel', { params: { path: { jobId: this.job.id } } }))
      this.update(job)
      if (!hasEnded(job)) this.problem = 'It is too late to cancel this.'
    } catch (thrown) {
      this.problem = reason(thrown)
    }
    this.cancelling = false
  }

  private readonly stop = (): void => {
    this.following = false
    clearTimeout(this.timer)
    document.removeEventListener('visibilitychange', this.schedule)
  }

  private readonly schedule = (): void => {
    clearTimeout(this.timer)
    if (this.following && !document.hidden) this.timer = setTimeout(() => void this.request(), this.pause)
  }

  private async request(): Promise<void> {
    this.pause = Math.min(this.pause * 1.25, maxDelay)
    try {
      const job = await data(api.GET('/jobs/{jobId}', { params: { path: { jobId: this.job.id } } }))
      if (!this.following) return
      this.problem = null
      this.update(job)
    } catch (thrown) {
      if (!this.following) return
      this.problem = reason(thrown)
      // The person can no longer see the job. Other errors are temporary.
      if (thrown instanceof ApiError && [401, 403, 404].includes(thrown.status)) this.stop()
    }
    this.schedule()
  }

  private update(job: Job): void {
    if (hasEnded(this.job)) return // a late response
    this.job = job
    if (!hasEnded(job)) return
    this.stop()
    this.onend(job)
  }
}
