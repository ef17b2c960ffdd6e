import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Job } from '../api/types'
import { endText, hasEnded, isJob, JobFollower, jobText } from './jobs.svelte'

const job = (more: Partial<Job> = {}): Job => ({
  id: 'job_1',
  kind: 'copy_board',
  state: 'running',
  workspaceId: 'wsp_1',
  name: 'Launch',
  done: 0,
  total: 0,
  boardIds: [],
  listId: null,
  report: null,
  droppedLabels: [],
  droppedAssignees: [],
  error: null,
  createdAt: '2026-03-02T09:00:00.000Z',
  startedAt: null,
  endedAt: null,
  ...more,
})

let requests: string[] = []
let answer: () => Response | Promise<Response>
const json = (data: object, status = 200) =>
  new Response(JSON.stringify(status < 400 ? { data } : { error: data }), {
    status,
    headers: { 'Content-Type': 'application/json' },
  })

function hide(hidden: boolean): void {
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(hidden)
  document.dispatchEvent(new Event('visibilitychange'))
}

beforeEach(() => {
  vi.useFakeTimers()
  requests = []
  vi.stubGlobal('fetch', (request: Request) => {
    requests.push(`${request.method} ${new URL(request.url).pathname.replace('/api/public/v1', '')}`)
    return Promise.resolve(answer())
  })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

test('a job is told from a board by its ID', () => {
  expect(isJob(job())).toBe(true)
  expect(isJob({ id: 'brd_1', name: 'Launch' })).toBe(false)
  expect(isJob({ boards: [], notes: [], savedFilters: 0 })).toBe(false)
})

test('states and texts', () => {
  expect(hasEnded(job({ state: 'queued' }))).toBe(false)
  expect(hasEnded(job({ state: 'cancelled' }))).toBe(true)
  expect(jobText(job())).toBe('Copying “Launch”')
  expect(jobText(job({ kind: 'copy_list' }))).toBe('Copying “Launch”')
  expect(jobText(job({ kind: 'move_list_to_board' }))).toBe('Moving “Launch”')
  expect(jobText(job({ kind: 'of a newer server' }))).toBe('Creating “Launch”')
  expect(endText(job({ kind: 'move_list_to_board', state: 'done' }))).toBe('“Launch” has moved.')
  expect(endText(job({ kind: 'move_list_to_board', state: 'cancelled' }))).toBe('“Launch” was not moved.')
  expect(endText(job({ kind: 'copy_list', state: 'cancelled' }))).toBe('“Launch” was cancelled. No list was created.')
})

test('the state is requested until the job has ended, at first every second and later every three', async () => {
  const ended = vi.fn()
  const follower = new JobFollower(job(), ended)
  follower.follow()
  expect(follower.percent).toBeNull()
  answer = () => json(job({ done: 1, total: 3 }))
  await vi.advanceTimersByTimeAsync(1000)
  expect(requests).toEqual(['GET /jobs/job_1'])
  expect(follower.percent).toBe(33)
  await vi.advanceTimersByTimeAsync(20_000)
  const before = requests.length
  await vi.advanceTimersByTimeAsync(9000)
  expect(requests.length - before).toBe(3)
  answer = () => json(job({ state: 'done', done: 3, total: 3, boardIds: ['brd_2'] }))
  await vi.advanceTimersByTimeAsync(3000)
  expect(ended).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ boardIds: ['brd_2'] }))
  const all = requests.length
  await vi.advanceTimersByTimeAsync(10_000)
  expect(requests.length).toBe(all)
})

test('a job that has ended already is not requested', () => {
  const ended = vi.fn()
  new JobFollower(job({ state: 'cancelled' }), ended).follow()
  expect(ended).toHaveBeenCalledOnce()
  expect(vi.getTimerCount()).toBe(0)
})

test('nothing is requested while the tab is hidden, or after the follower is stopped', async () => {
  answer = () => json(job())
  const follower = new JobFollower(job())
  const stop = follower.follow()
  hide(true)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(requests).toEqual([])
  hide(false)
  await vi.advanceTimersByTimeAsync(1000)
  expect(requests.length).toBe(1)
  stop()
  hide(false)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(requests.length).toBe(1)
})

test('a failed request is shown and repeated, and a job out of reach is given up', async () => {
  const follower = new JobFollower(job())
  follower.follow()
  answer = () => json({ code: 'internal', message: 'Something broke.' }, 500)
  await vi.advanceTimersByTimeAsync(1000)
  expect(follower.problem).toBe('Something broke.')
  answer = () => json(job({ done: 1, total: 2 }))
  await vi.advanceTimersByTimeAsync(3000)
  expect(follower.problem).toBeNull()
  expect(follower.percent).toBe(50)
  answer = () => json({ code: 'not_found', message: 'Not found.' }, 404)
  await vi.advanceTimersByTimeAsync(3000)
  const all = requests.length
  await vi.advanceTimersByTimeAsync(20_000)
  expect(requests.length).toBe(all)
  expect(follower.problem).toBe('Not found.')
})

test('a lost connection is survived', async () => {
  const follower = new JobFollower(job())
  follower.follow()
  answer = () => Promise.reject(new TypeError('Failed to fetch'))
  await vi.advanceTimersByTimeAsync(8000)
  answer = () => json(job({ done: 2, total: 2 }))
  await vi.advanceTimersByTimeAsync(30_000)
  expect(follower.percent).toBe(100)
})

test('cancelling ends the job, and a response that was on its way does not revive it', async () => {
  const ended = vi.fn()
  const follower = new JobFollower(job(), ended)
  follower.follow()
  let late: (response: Response) => void = () => undefined
  answer = () => new Promise<Response>((resolve) => (late = resolve))
  await vi.advanceTimersByTimeAsync(1000)
  answer = () => json(job({ state: 'cancelled' }))
  await follower.cancel()
  late(json(job({ done: 1, total: 2 })))
  await vi.advanceTimersByTimeAsync(10_000)
  expect(requests).toEqual(['GET /jobs/job_1', 'POST /jobs/job_1/cancel'])
  expect(follower.job.state).toBe('cancelled')
  expect(ended).toHaveBeenCalledOnce()
})

test('a job that can no longer be cancelled says so', async () => {
  const follower = new JobFollower(job({ kind: 'move_list_to_board', state: 'running' }))
  answer = () => json(job({ kind: 'move_list_to_board', state: 'running' }))
  await follower.cancel()
  expect(follower.problem).toBe('It is too late to cancel this.')
})

test('a cancel that fails says why, and the job goes on', async () => {
  const follower = new JobFollower(job())
  const stop = follower.follow()
  answer = () => json({ code: 'rate_limited', message: 'Too many requests.' }, 429)
  await follower.cancel()
  expect(follower.cancelling).toBe(false)
  expect(follower.problem).toBe('Too many requests.')
  stop()
})
