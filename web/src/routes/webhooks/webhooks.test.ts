import { describe, expect, it } from 'vitest'
import type { Delivery, Webhook } from '../../api/contract'
import { eventGroups, eventKinds, eventsText, eventText } from './events'
import { tokenize } from './json'
import { durationText, momentText, soonText } from '../../lib/exactTime'
import { parseFilter, canRedeliver, matchesFilter, pollDelay, stateOf, webhookName } from './labels'

const hook = (more: Partial<Webhook>) =>
  ({
    name: '',
    host: 'hooks.example.com',
    offReason: null,
    heldSince: null,
    heldUntil: null,
    failures: 0,
    ...more,
  }) as Webhook
const delivery = (more: Partial<Delivery>) => ({ status: 'delivered', nextAttemptAt: null, ...more }) as Delivery

describe('events', () => {
  it('have unique texts', () => {
    expect(new Set(eventKinds).size).toBe(15)
    for (const kind of [...eventKinds, 'webhook.test']) expect(eventText(kind)).not.toContain('.')
    expect(eventGroups.every((g) => g.events.length > 0)).toBe(true)
  })
  it('are summarized', () => {
    expect(eventsText(eventKinds)).toBe('All events')
    expect(eventsText(['webhook.test'])).toBe('Test events only')
    expect(eventsText(['card.created'])).toBe('Card created')
    expect(eventsText(['card.created', 'card.moved'])).toBe('Card created and card moved')
    expect(eventsText(eventKinds.slice(0, 5))).toBe('Card created, card changed and 3 more')
  })
})

describe('a webhook', () => {
  it('describes its state, the worst first', () => {
    expect(stateOf(hook({})).label).toBe('On')
    expect(stateOf(hook({ failures: 1 })).label).toBe('Failed once in a row')
    expect(stateOf(hook({ failures: 3, heldSince: '2026-11-21T09:00:00Z' })).label).toBe('Held')
    expect(stateOf(hook({ failures: 10, offReason: 'failures' })).tone).toBe('danger')
    expect(stateOf(hook({ offReason: 'paused' })).label).toBe('Paused')
    expect(stateOf(hook({ offReason: 'trash' })).reason).toContain('in the trash')
    expect(stateOf(hook({ offReason: 'plan' })).reason).toContain('The plan’s limit was reached')
    const held = { heldSince: '2026-11-21T09:00:00Z', heldUntil: '2026-11-21T09:01:00Z' }
    expect(stateOf(hook(held)).reason).toContain('asked for a pause')
  })
  it('is named by its host if it has no name', () => {
    expect(webhookName(hook({}))).toBe('hooks.example.com')
    expect(webhookName(hook({ name: 'Bot' }))).toBe('Bot')
  })
})

describe('the log', () => {
  it('is filtered by the URL', () => {
    expect(parseFilter('gave up')).toBe('gave up')
    expect(parseFilter('nonsense')).toBe('')
    expect(matchesFilter('open', delivery({ status: 'pending retry' }))).toBe(true)
    expect(matchesFilter('failed', delivery({}))).toBe(false)
    expect(canRedeliver(delivery({ status: 'skipped' }))).toBe(true)
    expect(canRedeliver(delivery({ status: 'delivering' }))).toBe(false)
  })
  it('is polled sooner while a change is expected', () => {
    const now = Date.parse('2026-11-21T09:00:00Z')
    expect(pollDelay([delivery({})], now)).toBe(4000)
    expect(pollDelay([delivery({ status: 'pending' })], now)).toBe(1000)
    expect(pollDelay([delivery({ status: 'pending retry', nextAttemptAt: '2026-11-21T12:00:00Z' })], now)).toBe(4000)
  })
})

it('formats times briefly', () => {
  const now = Date.parse('2026-11-21T09:00:00Z')
  expect(soonText('2026-11-21T09:00:28Z', now)).toBe('in 28 s')
  expect(soonText('2026-11-21T09:10:00Z', now)).toBe('in 10 min')
  expect(soonText('2026-11-21T15:00:00Z', now)).toBe('in 6 h')
  expect(soonText('2026-11-21T08:59:00Z', now)).toBe('now')
  expect(durationText(84)).toBe('84 ms')
  expect(durationText(1234)).toBe('1.2 s')
  expect(momentText('2026-11-21T14:02:10Z', 'Europe/Zurich', new Date(now))).toBe('21 Nov, 15:02:10')
  expect(momentText('2025-01-02T14:02:10Z', 'UTC', new Date(now))).toBe('2 Jan 2025, 14:02:10')
})

it('indents a body in pieces that join to the same text', () => {
  const body = '{"id":"itg_1:v4","n":-1.5e3,"no":null,"s":"a \\"b\\": 1","l":[true,[]]}'
  const shown = tokenize(body)
  expect(shown.map((p) => p.text).join('')).toBe(JSON.stringify(JSON.parse(body), null, 2))
  expect(shown.filter((p) => p.as === 'name').map((p) => p.text)).toEqual(['"id"', '"n"', '"no"', '"s"', '"l"'])
  expect(shown.find((p) => p.as === 'number')?.text).toBe('-1500')
  expect(shown.filter((p) => p.as === 'keyword').map((p) => p.text)).toEqual(['null', 'true'])
  expect(tokenize('not json')).toEqual([{ text: 'not json', as: 'punctuation' }])
})
