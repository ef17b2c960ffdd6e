import { describe, expect, it, vi } from 'vitest'
import { ApiError } from '../../api/client'
import { browserText } from './userAgent'
import { passkeyProblem } from './passkey'
import { confirmation, NotConfirmed, withRecentSignIn } from '../../page/recentSignIn.svelte'
import { curlLine, scopesText } from './scopes'
import { agoText, daysLeft } from '../../lib/relativeTime'
import { byBoard, requestParts, type OwnCall } from './undoChanges'
import { allZones, findZones, zoneOf } from './timeZones'

const now = new Date('2026-11-21T09:00:00Z')

describe('time zones', () => {
  const zones = allZones(now, ['Europe/Zurich', 'America/New_York', 'Asia/Kolkata', 'America/Argentina/Salta'])
  it('are sorted from west to east, with UTC offsets', () => {
    expect(zones.map((z) => z.offset)).toEqual(['UTC-05:00', 'UTC-03:00', 'UTC+00:00', 'UTC+01:00', 'UTC+05:30'])
    expect(zoneOf('America/Argentina/Salta', now)).toMatchObject({ place: 'Argentina, Salta', region: 'America' })
    expect(zoneOf('UTC', now)).toMatchObject({ place: 'UTC', region: '', minutes: 0 })
  })
  it('are found by city, region and offset', () => {
    const ids = (text: string) => findZones(zones, text).map((z) => z.id)
    expect(ids('new york')).toEqual(['America/New_York'])
    expect(ids('zür')).toEqual(['Europe/Zurich'])
    expect(ids('+05:30')).toEqual(['Asia/Kolkata'])
    expect(ids('america')).toHaveLength(2)
    expect(ids('nowhere')).toEqual([])
    expect(ids('')).toHaveLength(5)
  })
})

describe('calls to undo', () => {
  const call = (id: number, changes: number, boardId = 'a', operation = 'update_card'): OwnCall => ({
    id: `aud_${id}`,
    at: now.toISOString(),
    operation,
    boardId,
    boardName: boardId.toUpperCase(),
    subject: null,
    subjectName: null,
    changes,
    boardVersion: id,
  })
  it('are grouped by board, without undos', () => {
    const boards = byBoard([call(5, 1, 'b'), call(4, 9, 'c', 'undo_changes'), call(3, 2), call(2, 3, 'b'), call(1, 4)])
    expect(boards.map((b) => [b.name, b.changes, b.calls.map((c) => c.id)])).toEqual([
      ['B', 4, ['aud_5', 'aud_2']],
      ['A', 6, ['aud_3', 'aud_1']],
    ])
  })
  it('are split into requests of at most 100 calls and 500 changes', () => {
    const sizes = (calls: OwnCall[]) => requestParts(calls).map((ids) => ids.length)
    expect(sizes([])).toEqual([])
    expect(sizes(Array.from({ length: 250 }, (_, i) => call(i, 1)))).toEqual([100, 100, 50])
    expect(sizes([call(4, 300), call(3, 200), call(2, 1), call(1, 600), call(0, 1)])).toEqual([2, 1, 1, 1])
  })
})

describe('relative times', () => {
  it('are formatted by agoText', () => {
    expect(agoText('2026-11-21T08:59:40Z', now)).toBe('just now')
    expect(agoText('2026-11-21T08:00:00Z', now)).toBe('1 hour ago')
    expect(agoText('2026-11-24T09:00:00Z', now)).toBe('in 3 days')
    expect(agoText('2024-01-01T00:00:00Z', now)).toBe('2 years ago')
  })
  it('are rounded up to whole days by daysLeft', () => {
    expect(daysLeft('2026-11-22T08:00:00Z', now)).toBe(1)
    expect(daysLeft('2026-11-21T09:20:00Z', now)).toBe(1)
    expect(daysLeft('2026-12-05T09:00:30Z', now)).toBe(14)
    expect(daysLeft('2026-11-20T08:00:00Z', now)).toBe(0)
  })
})

it('scopesText and curlLine describe a token', () => {
  expect(scopesText(['read'])).toBe('Read')
  expect(scopesText(['admin', 'read', 'write'])).toBe('Read, write and administer')
  expect(curlLine('https://c.example', 'cwl_x')).toBe(
    'curl -H "Authorization: Bearer cwl_x" \\\n  https://c.example/api/public/v1/me',
  )
})

it('browserText names the browser and system', () => {
  const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
  const safari = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Safari/604.1'
  expect([firefox, safari, 'curl/8.0', ''].map(browserText)).toEqual([
    'Firefox on Linux',
    'Safari on iPhone',
    'curl/8.0',
    'Unknown browser',
  ])
})

it('passkeyProblem returns null for a canceled request', () => {
  expect(passkeyProblem(new DOMException('', 'NotAllowedError'))).toBeNull()
  expect(passkeyProblem(new DOMException('', 'InvalidStateError'))).toContain('already')
})

describe('withRecentSignIn', () => {
  const signInRequired = () => new ApiError(403, 'forbidden', 'Sign in again.', 'recent_sign_in_required')
  it('asks for confirmation and repeats the operation', async () => {
    const operation = vi.fn().mockRejectedValueOnce(signInRequired()).mockResolvedValue('done')
    const result = withRecentSignIn(operation)
    await vi.waitFor(() => expect(confirmation.pending).toBe(true))
    confirmation.finish(true)
    await expect(result).resolves.toBe('done')
    expect(operation).toHaveBeenCalledTimes(2)
    expect(confirmation.pending).toBe(false)
  })
  it('throws NotConfirmed if the user cancels', async () => {
    const operation = vi.fn().mockRejectedValue(signInRequired())
    const result = withRecentSignIn(operation)
    await vi.waitFor(() => expect(confirmation.pending).toBe(true))
    confirmation.finish(false)
    await expect(result).rejects.toBeInstanceOf(NotConfirmed)
    expect(operation).toHaveBeenCalledTimes(1)
  })
  it('does not ask for confirmation after other errors', async () => {
    await expect(withRecentSignIn(() => Promise.reject(new ApiError(403, 'forbidden', 'No.')))).rejects.toThrow('No.')
    expect(confirmation.pending).toBe(false)
  })
})
